"""What collectors of containers' and services' outputs set before every line."""

from __future__ import annotations

import re
from typing import Final

COLLECTED: Final = re.compile(
    rb"(?m)^(?:(?:[A-Z][a-z]{2}\ [ \d]\d\ \d\d:\d\d:\d\d(?:\.\d{1,9})?|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:[.,]\d{1,9})?[+\-]\d\d:?\d\d)"
    rb"\ (?P<host>[\w.\-]{1,253}+)\ [\w.\-@\\]{1,100}+(?:\[\d{1,10}\])?+:\ )?+"
    rb"(?:(?:\x1b\[[0-9;]{0,16}m)?(?P<service>[\w.\-]{1,64}+)\ *+\|(?:\x1b\[0?m)?\ ?"
    rb"|\[pod/(?P<pod>[\w.\-]{1,253}+)/[\w.\-]{1,253}+\]\ )?+"
    rb"(?P<time>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+\-]\d\d:\d\d)\ (?:std(?:out|err)\ (?P<part>[FP])\ )?)?+"
)
"""`docker compose logs`, `kubectl logs --prefix`, `docker logs -t`, a kubelet's files, `journalctl`; empty before other lines."""


def speaker_of(prefix: re.Match[bytes]) -> bytes | None:
    """The service, pod or host whose line it is; None where the prefix names nobody."""
    return prefix["service"] or prefix["pod"] or prefix["host"]
