"""A real browser without a screen, driven over two pipes by its own debugging protocol: nothing else is installed."""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
PATIENCE = 60.0


def found() -> str | None:
    """The browser of this machine, if it has one."""
    return next((path for path in map(shutil.which, NAMES) if path is not None), None)


@dataclass
class Browser:
    """One tab; whatever it complains of is kept."""

    into: int
    out: int
    session: str = ""
    complaints: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)
    _buffer: bytes = b""
    _last: int = 0
    _events: list[dict[str, Any]] = field(default_factory=list)

    def tell(self, method: str, **given: Any) -> dict[str, Any]:  # noqa: ANN401 - values of the protocol
        """A command and its result."""
        self._last += 1
        message: dict[str, Any] = {"id": self._last, "method": method, "params": given}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.into, json.dumps(message).encode() + b"\0")
        while True:
            said = self._next()
            if said.get("id") == self._last:
                assert "error" not in said, f"{method}: {said['error']}"
                result: dict[str, Any] = said["result"]
                return result
            self._noted(said)

    def _noted(self, said: dict[str, Any]) -> None:
        told = said.get("params", {})
        match said.get("method"):
            case "Runtime.exceptionThrown":
                self.complaints.append(json.dumps(told["exceptionDetails"]))
            case "Runtime.consoleAPICalled" if told["type"] in ("error", "warning", "assert"):
                self.complaints.append(json.dumps(told["args"]))
            case "Log.entryAdded" if told["entry"]["level"] in ("error", "warning"):
                self.complaints.append(told["entry"]["text"])
            case "Network.requestWillBeSent":
                self.requests.append(told["request"]["url"])
        self._events.append(said)

    def _next(self) -> dict[str, Any]:
        until = time.monotonic() + PATIENCE
        while b"\0" not in self._buffer:
            ready, _, _ = select.select([self.out], [], [], max(0.0, until - time.monotonic()))
            assert ready, "the browser does not answer"
            piece = os.read(self.out, 1 << 20)
            assert piece, "the browser is gone"
            self._buffer += piece
        message, _, self._buffer = self._buffer.partition(b"\0")
        said: dict[str, Any] = json.loads(message)
        return said

    def open(self, page: Path, fragment: str = "") -> float:
        """Open a page and wait until it is laid out; how many seconds that took."""
        self._events.clear()
        began = time.monotonic()
        self.tell("Page.navigate", url=page.as_uri() + fragment)
        while not any(event.get("method") == "Page.loadEventFired" for event in self._events):
            self._noted(self._next())
        self.tell("Runtime.evaluate", expression="document.body.offsetHeight")
        return time.monotonic() - began

    def ask(self, expression: str) -> Any:  # noqa: ANN401 - whatever the page says
        """What an expression comes to in the page."""
        told = self.tell("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in told, told["exceptionDetails"]
        return told["result"].get("value")

    def seen(self, *, width: int, height: int, dark: bool = False) -> None:
        """How large its window is, and which colours its reader prefers."""
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.tell("Emulation.setDeviceMetricsOverride", **size)
        preferred = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        self.tell("Emulation.setEmulatedMedia", features=preferred)

    def shot(self, box: dict[str, float] | None = None) -> bytes:
        """What is seen as a PNG; of a box of the page, if one is given."""
        clip = {} if box is None else {"clip": {**box, "scale": 1}, "captureBeyondViewport": True}
        return base64.b64decode(self.tell("Page.captureScreenshot", format="png", **clip)["data"])

    def printed(self) -> bytes:
        """The page on paper, as PDF."""
        return base64.b64decode(self.tell("Page.printToPDF", printBackground=True)["data"])


@contextmanager
def browser(program: str) -> Iterator[Browser]:
    """A browser that starts for this block and ends with it."""
    child_in, into = os.pipe()
    out, child_out = os.pipe()
    options = ("--headless", "--disable-gpu", "--no-sandbox", "--disable-dev-shm-usage", "--no-first-run")
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home:
        words = [program, *options, f"--user-data-dir={home}", "--remote-debugging-pipe", "about:blank"]
        # The protocol wants descriptors 3 and 4.
        shell = f'exec "$@" 3<&{child_in} 4>&{child_out}'
        process = subprocess.Popen(
            ["bash", "-c", shell, "bash", *words],
            pass_fds=(child_in, child_out),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(child_in)
        os.close(child_out)
        try:
            tab = Browser(into=into, out=out)
            target = tab.tell("Target.createTarget", url="about:blank")["targetId"]
            tab.session = tab.tell("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
            for domain in ("Page", "Runtime", "Log", "Network"):
                tab.tell(f"{domain}.enable")
            yield tab
        finally:
            process.terminate()
            process.wait(PATIENCE)
            os.close(into)
            os.close(out)
