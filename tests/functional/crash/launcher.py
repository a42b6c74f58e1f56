"""Runs the scenario in processes of their own, each a copy of this one, which has imported everything already.

Reads lines of JSON (folder, url, kill_at), answers each with the exit status of the run; negative: the signal.
"""

from __future__ import annotations

import json
import os
import sys
import traceback
import warnings

warnings.filterwarnings("ignore", message=r"\s*Eventlet is deprecated")

from tests.functional.crash import scenario  # noqa: E402


def _serve() -> None:
    for line in sys.stdin:
        arguments = json.loads(line)
        process = os.fork()
        if process == 0:
            status = 1
            try:
                scenario.main(**arguments)
                status = 0
            except BaseException:
                traceback.print_exc()
            finally:
                sys.stderr.flush()
                os._exit(status)
        _, status = os.waitpid(process, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)


if __name__ == "__main__":
    _serve()
