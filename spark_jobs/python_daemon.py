"""The process from which Spark forks its Python workers on this machine: Spark's own, with less to do after each task.

A worker walks everything that it has loaded, once a task, in search of garbage. Modules are none: they are set aside.
"""

from __future__ import annotations

import gc
import socket
import sys
from collections.abc import Callable
from typing import Final

from pyspark import daemon

Worker = Callable[[socket.socket, bool], int]

_spark_worker: Final[Worker] = daemon.worker
_modules_set_aside = 0


def worker(sock: socket.socket, authenticated: bool) -> int:  # noqa: FBT001 - as Spark calls it
    """One task, as Spark has it done; what was loaded for it is no garbage of the next ones."""
    global _modules_set_aside  # noqa: PLW0603 - of this process, which does one task after the other
    code = _spark_worker(sock, authenticated)
    if len(sys.modules) > _modules_set_aside:
        _modules_set_aside = len(sys.modules)
        gc.collect()
        gc.freeze()
    return code


if __name__ == "__main__":
    daemon.worker = worker
    daemon.manager()
