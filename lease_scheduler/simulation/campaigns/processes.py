"""Runs on the cores of this machine, each in its own process.

A process per run costs little, because processes are forked from a server process. It gives the peak memory of each
run. A run that kills its process does not affect others, and can be identified.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Iterator, Sequence
from multiprocessing.connection import Connection, wait
from multiprocessing.context import ForkServerProcess

from lease_scheduler.simulation.campaigns.case import Case, Failure, Success, execute


def run_in_processes(cases: Sequence[Case], jobs: int) -> Iterator[tuple[Case, Success | Failure]]:
    """Run cases in the given order, and yield each with its result as soon as the result is known.

    When the caller stops iterating, running processes are killed.

    :param jobs: number of processes at a time, at least 1
    """
    # A plain fork would copy locks that other threads of this process hold at that time.
    context = multiprocessing.get_context("forkserver")
    waiting = deque(cases)
    running: dict[Connection, tuple[Case, ForkServerProcess]] = {}
    try:
        while waiting or running:
            while waiting and len(running) < jobs:
                case = waiting.popleft()
                receiver, sender = context.Pipe(duplex=False)
                process = context.Process(target=_work, args=(case, sender), daemon=True)
                process.start()
                sender.close()
                running[receiver] = (case, process)
            for ready in wait(list(running)):
                assert isinstance(ready, Connection)
                case, process = running.pop(ready)
                yield case, _result(ready, process)
    finally:
        for _, process in running.values():
            process.kill()
            process.join()


def _result(receiver: Connection, process: ForkServerProcess) -> Success | Failure:
    with receiver:
        try:
            result: Success | Failure = receiver.recv()
        except (EOFError, OSError):
            process.join()
            return Failure(f"its process {_end(process.exitcode)}", process.exitcode or 1)
    process.join()
    return result


def _end(exit_code: int | None) -> str:
    if exit_code is None or exit_code >= 0:
        return f"ended with exit code {exit_code}"
    try:
        name = signal.Signals(-exit_code).name
    except ValueError:
        name = f"signal {-exit_code}"
    return f"was killed by {name}" + (" (too little memory?)" if name == "SIGKILL" else "")


def _work(case: Case, sender: Connection) -> None:
    # The terminal sends SIGINT to all processes, but the campaign ends its processes itself.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_campaign, daemon=True).start()
    sender.send(execute(case))


def _end_with_campaign() -> None:
    """End this process when the campaign's process has ended, e.g. because it was killed."""
    campaign = multiprocessing.parent_process()
    if campaign is not None:
        campaign.join()
        os._exit(1)
