"""Signals that end a program, and SIGHUP, which reloads its options."""

from __future__ import annotations

import select
import signal
import socket
from collections.abc import Callable

_NUMBERS = (signal.SIGINT, signal.SIGTERM)


class EndingSignals:
    """Receiver of the signals that end a program, from its creation until the program ends.

    Python runs a signal handler only between two of its own instructions. So a wait for a lock, an event or a queue
    without a time limit may miss a signal that came just before it. ``wait`` avoids this: it waits for a socket to
    which the signal itself writes (``signal.set_wakeup_fd``).

    :param on_hangup: called at SIGHUP, from within ``wait``; None leaves SIGHUP its default effect
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
        """Wait for an ending signal, and return whether one has come.

        :param seconds: maximum time to wait; None for no limit. The time starts again after each other signal
        """
        while not self._has_come and select.select([self._received], [], [], seconds)[0]:
            # The socket also receives signals that other parts of the program handle.
            received = self._received.recv(4096)
            self._has_come = any(number in _NUMBERS for number in received)
            if self._on_hangup is not None and not self._has_come and signal.SIGHUP in received:
                self._on_hangup()
        return self._has_come
