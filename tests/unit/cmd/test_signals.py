"""A signal ends a program, whichever of its threads it interrupts."""

from __future__ import annotations

import subprocess
import sys

# A signal does not interrupt the main thread's wait if the kernel delivers it to another thread, or just before the
# wait.
_PROGRAM = """
import signal, threading, time
from lease_scheduler.cmd.signals import EndingSignals

def send(number, delay):
    time.sleep(delay)
    signal.pthread_kill(threading.get_ident(), number)

for number in (signal.SIGTERM, signal.SIGINT) * 3:
    signals = EndingSignals()
    assert not signals.wait(0)
    threading.Thread(target=send, args=(number, 0.1)).start()
    assert signals.wait()
    assert signals.wait(0), "it is kept"
signals = EndingSignals()
signal.signal(signal.SIGUSR1, lambda *_: None)
send(signal.SIGUSR1, 0)
assert not signals.wait(0.1), "another signal ends nothing"
"""


def test_no_signal_is_slept_through() -> None:
    """The wait ends; a signal with another meaning does not end it."""
    ended = subprocess.run([sys.executable, "-c", _PROGRAM], capture_output=True, text=True, timeout=30)
    assert ended.returncode == 0, ended.stderr
