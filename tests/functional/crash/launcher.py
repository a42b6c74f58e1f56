"""Runs the scenario in processes of their own, each a copy of this one, which has imported everything already.

Reads lines of JSON (number, folder, url, kill_at, speed), and answers each, when the run is over, with a line of its
number and the exit status; negative: the signal. Any number may run at the same time.
"""

from __future__ import annotations

import faulthandler
import json
import os
import signal
import sys
import traceback
import warnings
from typing import Any

warnings.filterwarnings("ignore", message=r"\s*Eventlet is deprecated")

from tests.functional.crash import scenario  # noqa: E402

_LONGEST_RUN = 110.0


def _run(arguments: dict[str, Any]) -> None:
    status = 1
    # A day that does not end says where it is, and keeps nobody waiting.
    faulthandler.dump_traceback_later(_LONGEST_RUN, exit=True)
    try:
        scenario.main(**arguments)
        status = 0
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(status)


def _watch(number: int, arguments: dict[str, Any]) -> None:
    """Run it and tell what became of it, whatever that is."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    process = os.fork()
    if process == 0:
        _run(arguments)
    _, status = os.waitpid(process, 0)
    # At once, so that the answers of several do not mix.
    os.write(1, f"{number} {os.waitstatus_to_exitcode(status)}\n".encode())
    os._exit(0)


def _serve() -> None:
    # Those who watch need not be waited for.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    for line in sys.stdin:
        arguments = json.loads(line)
        if os.fork() == 0:
            _watch(arguments.pop("number"), arguments)


if __name__ == "__main__":
    _serve()
