"""Programs of extras: where the extra is not installed, one line names it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from configparser import ConfigParser
from pathlib import Path

import pytest

from lease_scheduler.cmd.optional import needs_extra

_SETUP = ConfigParser(delimiters="=")
_SETUP.read(Path(__file__).parents[3] / "setup.cfg")

#: Packages that only extras bring. None in sys.modules makes Python say that there is no such module.
_PROGRAM = """
import sys
sys.modules.update(dict.fromkeys(["cliff", "lxml", "matplotlib", "openstack", "osc_lib"]))
from lease_scheduler.cmd import optional
sys.argv[0] = sys.argv[2]
sys.exit(getattr(optional, sys.argv[1])())
"""


def _programs() -> Mapping[str, str]:
    """Return the programs of extras: name -> function."""
    lines = _SETUP["entry_points"]["console_scripts"].split("\n")
    pairs = [line.split(" = lease_scheduler.cmd.optional:") for line in lines]
    return {pair[0].strip(): pair[1] for pair in pairs if len(pair) == 2}


@pytest.mark.parametrize(
    ("program", "extra"),
    [
        ("lease-sim", "simulator"),
        ("haizea", "haizea"),
        ("haizea-list-leases", "haizea"),
        ("haizea-lwf-stats", "haizea"),
        ("haizea-request-lease", "haizea"),
        ("lease-scheduler-haizea-front", "haizea"),
    ],
)
def test_a_program_whose_extra_is_missing_names_it_in_one_line(program: str, extra: str) -> None:
    command = [sys.executable, "-W", "ignore", "-c", _PROGRAM, _programs()[program], program]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert ended.returncode == 2, ended
    (line,) = ended.stderr.splitlines()
    assert line.startswith(f"{program}: ")
    assert line.endswith(f"pip install 'lease-scheduler[{extra}]'")
    assert extra in _SETUP["extras"]


def test_a_missing_module_of_ours_is_an_error() -> None:
    with pytest.raises(ModuleNotFoundError), needs_extra("simulator"):
        raise ModuleNotFoundError("No module named 'lease_scheduler.gone'", name="lease_scheduler.gone")
