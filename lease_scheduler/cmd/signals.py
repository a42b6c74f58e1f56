"""Wait for the signal that ends a program, and act on the one that has it read its options again."""

from __future__ import annotations

import select
import signal
import socket
from collections.abc import Callable

_NUMBERS = (signal.SIGINT, signal.SIGTERM)


class EndingSignals:
    """Takes the signals that end a program, from now on and for as long as the program runs.

    Python runs a handler only between two of its own instructions. A lock, an event or a queue that is waited for
    without a time limit may therefore sleep through a signal that came while the interpreter was on its way into the
    wait. What wakes up here is a socket, which the signal itself writes to (``signal.set_wakeup_fd``).

    :param on_hangup: called at SIGHUP, from within ``wait``; without it that signal does what it does by default
    """

    def __init__(self, on_hangup: Callable[[], None] | None = None) -> None:
        self._on_hangup = on_hangup
        self._received, self._sent = socket.socketpair()
        self._sent.setblocking(False)
        self._has_come = False
        signal.set_wakeup_fd(self._sent.fileno(), warn_on_full_buffer=False)
        for number in _NUMBERS:
            signal.signal(number, lambda *_: None)
        if on_hangup is not None:
            signal.signal(signal.SIGHUP, lambda *_: None)

    def wait(self, seconds: float | None = None) -> bool:
        """Whether one has come, at the latest after some seconds, or without them: when it has."""
        while not self._has_come and select.select([self._received], [], [], seconds)[0]:
            # Other parts of the program may have handlers too, and every signal with one is written here.
            received = self._received.recv(4096)
            self._has_come = any(number in _NUMBERS for number in received)
            if self._on_hangup is not None and not self._has_come and signal.SIGHUP in received:
                self._on_hangup()
        return self._has_come
