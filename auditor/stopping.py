"""Stops from outside: SIGINT, SIGTERM and SIGHUP end a run in order, with what was known by then."""

from __future__ import annotations

import atexit
import os
import signal
import sys
import threading
from types import FrameType
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from sys import UnraisableHookArgs

STOPS: Final = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))
GRACE_SECONDS: Final = 10.0
"""How long a report that is being told may still take its reader's time."""
SECONDS_TILL_AGAIN: Final = 0.01
"""How long until a stop comes again that came where Python lets no interrupt out."""


class Stopped(KeyboardInterrupt):
    """A stop from outside; of a class of its own, for Python kills itself by SIGINT where it saw the plain one."""


class _StopState:
    """What this process knows of being stopped."""

    listening = False
    telling = False
    stopped = False


def listen() -> None:
    """Turn the signals that stop a process into an interrupt; what is ignored stays ignored, as under nohup."""
    if threading.current_thread() is threading.main_thread():
        if not _StopState.listening:
            # Registered first, called last: while Python takes itself apart it handles no signal any more.
            atexit.register(_heed_no_more)
            sys.unraisablehook = _stop_again
        _StopState.listening, _StopState.telling, _StopState.stopped = True, False, False
        _handle_stops()


def _heed_no_more() -> None:
    for number in STOPS:
        signal.signal(number, signal.SIG_IGN)


def _handle_stops() -> None:
    for number in STOPS:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _on_stop)


def _on_stop(_number: int, _frame: FrameType | None) -> None:
    if not _StopState.telling or _StopState.stopped:
        raise Stopped
    _StopState.stopped = True
    _stop_after(GRACE_SECONDS)


def _stop_after(seconds: float) -> None:
    if hasattr(signal, "setitimer"):
        signal.signal(signal.SIGALRM, _on_stop)
        signal.setitimer(signal.ITIMER_REAL, seconds)


def _stop_again(lost: UnraisableHookArgs) -> None:
    """A finalizer and a weak reference's callback let nothing out: without this the stop would be lost there."""
    if issubclass(lost.exc_type, Stopped):
        _stop_after(SECONDS_TILL_AGAIN)
    else:
        sys.__unraisablehook__(lost)


def now_telling() -> None:
    """All is known: a stop waits until it is told, a second one or a reader who takes nothing does not."""
    _StopState.telling = True
    if _StopState.listening:
        _handle_stops()  # Spark has put a handler of its own in the place of ours.


def was_stopped() -> bool:
    """Whether a stop came while the result was told."""
    return _StopState.stopped


def is_telling() -> bool:
    """Whether all is known that this run will know."""
    return _StopState.telling


def end_at_once_with(code: int) -> None:
    """All is told: a stop from here on ends the process by the code that it has earned."""

    def end(_number: int, _frame: FrameType | None) -> None:
        os._exit(code)

    if not _StopState.listening:
        return
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, 0)
    for number in STOPS:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, end)
