"""Run the tests inside Nova on the model, all of them in this process, in virtual time and without servers.

Reads lines of JSON (name of the test, file for its output, real seconds that it may take). When a test is over, writes
a line with its exit status, as ``tests.in_nova.functional.launcher`` does.
"""

from __future__ import annotations

import faulthandler
import json
import logging
import os
import sys
import unittest
from contextlib import redirect_stderr, redirect_stdout

from tests.functional.rehearsal import virtual_time

#: Exit status of a test that was skipped.
_SKIPPED = 3


def _prepare() -> None:
    """Have everything that is imported from here on see the virtual time and the stand-ins for Nova."""
    virtual_time.install()
    from lease_scheduler import worker
    from lease_scheduler.cloud.nova.watch import inspector, watcher
    from tests.functional.rehearsal.stand_ins import modules, services

    modules.install()
    from tests.in_nova.functional import site, test_resistance

    vars(site)["ImageService"] = services.Images
    for module in (worker, inspector, watcher, test_resistance):
        for name in ("Thread", "Event", "Condition"):
            if hasattr(module, name):
                setattr(module, name, getattr(virtual_time, name))


def _run(name: str, output: str, limit: float) -> int:
    result = unittest.TestResult()
    with open(output, "a") as file, redirect_stdout(file), redirect_stderr(file):
        handler = logging.StreamHandler(file)
        logging.getLogger().addHandler(handler)
        faulthandler.dump_traceback_later(limit, exit=True, file=file)
        unittest.defaultTestLoader.loadTestsFromName(name).run(result)
        faulthandler.cancel_dump_traceback_later()
        logging.getLogger().removeHandler(handler)
        print(*(text for _, text in [*result.errors, *result.failures, *result.skipped]), sep="\n")
    return _SKIPPED if result.skipped else 0 if result.wasSuccessful() and result.testsRun == 1 else 1


def _serve() -> None:
    _prepare()
    for line in sys.stdin:
        asked = json.loads(line)
        status = _run(asked["name"], asked["output"], asked["limit"])
        os.write(1, f"{status}\n".encode())


if __name__ == "__main__":
    _serve()
