"""Run scenarios in child processes, each forked from this one, which has imported everything already.

Reads lines of JSON (number, scenario, folder, url, kill_at, speed, and what else the scenario takes). When a run is
over, writes a line with its number and its exit status; a negative status is the number of a signal. Any number of runs
may go on at the same time.
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

from tests.functional.crash import move_scenario, power_scenario, scenario  # noqa: E402

_SCENARIOS = {"day": scenario, "power": power_scenario, "move": move_scenario}

_LONGEST_RUN = scenario.LIMIT + 60.0


def _run(arguments: dict[str, Any]) -> None:
    status = 1
    # A day that hangs prints where it is and ends.
    faulthandler.dump_traceback_later(_LONGEST_RUN, exit=True)
    try:
        _SCENARIOS[arguments.pop("scenario")].main(**arguments)
        status = 0
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(status)


def _watch(number: int, arguments: dict[str, Any]) -> None:
    """Run one scenario in a child process and report how it ended, however that was."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    process = os.fork()
    if process == 0:
        _run(arguments)
    _, status = os.waitpid(process, 0)
    # One write for the whole line, so that concurrent answers do not mix.
    os.write(1, f"{number} {os.waitstatus_to_exitcode(status)}\n".encode())
    os._exit(0)


def _serve() -> None:
    # The watching processes are reaped by the kernel.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    for line in sys.stdin:
        arguments = json.loads(line)
        if arguments.get("fluid"):
            power_scenario.algorithm()
        if os.fork() == 0:
            _watch(arguments.pop("number"), arguments)


if __name__ == "__main__":
    _serve()
