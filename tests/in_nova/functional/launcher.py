"""Run tests, each in a process forked from one in which the Nova of its class has started already.

Loading Nova and starting one takes most of the time of a short test. So this process loads it, forks a process that
starts the Nova of a class, and that process forks one for each test of the class. There, the test goes on as if it had
started Nova itself. Before the first fork, a lease lives on a Nova that is thrown away: what it leaves are statements
that are compiled and modules that are loaded, which each test would otherwise do for itself.

Reads lines of JSON (name of the test, file for its output, seconds that it may take). When a test is over, writes a
line with its exit status; a negative one is the number of a signal.
"""

from __future__ import annotations

import ctypes
import faulthandler
import gc
import json
import os
import signal
import sys
import unittest
from dataclasses import dataclass
from typing import Any, TextIO

from tests.in_nova.functional.site import NovaSite, let_nova_work
from tests.in_nova.functional.warming import WarmUp

# isort: split
# Nova replaces threads by green ones first.
from eventlet.patcher import original
from oslo_db.sqlalchemy import engines

# The databases are in the memory of the process, and thus in that of its forks; oslo.db would open new ones there.
engines._add_process_guards = lambda engine: None

_PR_SET_PDEATHSIG = 1

#: Exit status of a test that was skipped.
SKIPPED = 3


def _answer(status: int) -> None:
    os.write(1, f"{status}\n".encode())


def _fork() -> int:
    """Fork a process that ends with this one."""
    process = os.fork()
    if process == 0:
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    return process


def _wait_for(process: int) -> int:
    # The one of green threads would let the services of Nova work meanwhile.
    _, status = original("os").waitpid(process, 0)
    return os.waitstatus_to_exitcode(status)


@dataclass
class _Tests:
    """The tests of a class.

    :ivar requests: lines that ask for them
    :ivar waiting: whether a request has not been answered
    :ivar is_test: whether this is the process of a test
    """

    requests: TextIO
    kind: type[unittest.TestCase]
    waiting: bool = False
    is_test: bool = False

    def run(self) -> None:
        """Run all tests in processes forked from this one."""
        while line := self.requests.readline():
            self._run(json.loads(line))

    def _run(self, first: dict[str, Any]) -> None:
        self.waiting = True
        case = self.kind(first["name"].rpartition(".")[2])
        result = unittest.TestResult()
        if isinstance(case, NovaSite):
            case.when_nova_has_started = lambda: self._goes_on(case, first)
            case.run(result)
        elif self._goes_on(case, first):
            case.run(result)
        if self.is_test:
            _end(result)
        if self.waiting:
            # Nova did not start.
            with open(first["output"], "a") as output:
                print(_problems(result), file=output)
            _answer(1)

    def _goes_on(self, case: unittest.TestCase, request: dict[str, Any]) -> bool:
        """Fork a process for each test; return True in each of them, and False in this one when there are no more."""
        gc.collect()
        gc.freeze()
        # They are for the end of this process.
        cleanups = len(case._cleanups)  # type: ignore[attr-defined]
        while True:
            process = _fork()
            if process == 0:
                self.is_test = True
                _direct(request["output"])
                faulthandler.dump_traceback_later(request["limit"], exit=True)
                case._testMethodName = request["name"].rpartition(".")[2]
                del case._cleanups[:cleanups]  # type: ignore[attr-defined]
                # Time has passed, so that services may count as dead until they report.
                let_nova_work()
                return True
            _answer(_wait_for(process))
            self.waiting = False
            line = self.requests.readline()
            if not line:
                return False
            self.waiting = True
            request = json.loads(line)


def _direct(output: str) -> None:
    """Write to a file from now on."""
    file = os.open(output, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    os.dup2(file, 1)
    os.dup2(file, 2)
    os.close(file)


def _problems(result: unittest.TestResult) -> str:
    return "\n".join(text for _, text in [*result.errors, *result.failures, *result.skipped])


def _end(result: unittest.TestResult) -> None:
    """End the process of a test."""
    print(_problems(result))
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(SKIPPED if result.skipped else 0 if result.wasSuccessful() and result.testsRun == 1 else 1)


def _warm_up() -> None:
    """Let Nova do its usual work once; a Nova that cannot is for the tests to report."""
    WarmUp().run(unittest.TestResult())
    gc.collect()
    gc.freeze()


def _serve() -> None:
    is_warm = False
    kind: type[unittest.TestCase] | None = None
    process = 0
    requests: TextIO | None = None

    def close() -> None:
        if requests is not None:
            requests.close()
            _wait_for(process)

    for line in sys.stdin:
        module, name, _ = json.loads(line)["name"].rsplit(".", 2)
        (wanted,) = {type(case) for case in unittest.defaultTestLoader.loadTestsFromName(f"{module}.{name}")}
        assert issubclass(wanted, unittest.TestCase)
        if issubclass(wanted, NovaSite) and not is_warm:
            is_warm = True
            _warm_up()
        if wanted is not kind:
            close()
            kind = wanted
            reading, writing = os.pipe()
            process = _fork()
            if process == 0:
                os.close(writing)
                _Tests(open(reading), wanted).run()  # noqa: SIM115
                os._exit(0)
            os.close(reading)
            requests = open(writing, "w", buffering=1)  # noqa: SIM115
        assert requests is not None
        requests.write(line)
    close()


if __name__ == "__main__":
    _serve()
