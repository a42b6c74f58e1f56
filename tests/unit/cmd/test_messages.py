"""How programs end."""

from __future__ import annotations

import subprocess
import sys

_PROGRAM = """
from lease_scheduler.cmd.messages import one_line_errors

@one_line_errors
def main():
    for number in range(100_000):
        print("host", number)
    return 0

raise SystemExit(main())
"""


def test_a_reader_that_has_seen_enough() -> None:
    """``haizea-list-hosts | head -4`` prints four lines and nothing else."""
    command = f"{sys.executable} -c '{_PROGRAM}' | head -n 4"
    ended = subprocess.run(["sh", "-c", command], capture_output=True, text=True, timeout=60, check=False)
    assert ended.stdout.splitlines() == [f"host {number}" for number in range(4)]
    assert ended.stderr == ""
