"""What programs import before they serve: each module delays a takeover or the start of a service."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

#: What only simulations, reports, feeds, exports or the command line of users need.
_NOT_NEEDED = ("cliff", "highspy", "icalendar", "lxml", "matplotlib", "openstack", "osc_lib", "rich", "scipy")

#: Rooms that are no part of the service.
_OTHER_ROOMS = ("calibration", "client", "haizea", "horizon", "papers", "sdk", "simulation")

_PROGRAM = """
import importlib, json, sys
importlib.import_module(sys.argv[1])
print(json.dumps(sorted({".".join(name.split(".")[:2]) for name in sys.modules})))
"""


def _loaded(program: str) -> set[str]:
    command = [sys.executable, "-W", "ignore", "-c", _PROGRAM, f"lease_scheduler.cmd.{program}"]
    ended = subprocess.run(command, check=True, capture_output=True, text=True)
    return set(json.loads(ended.stdout.splitlines()[-1]))


@pytest.mark.parametrize("program", ["api", "embedded", "engine"])
def test_programs_load_what_they_need_to_serve(program: str) -> None:
    loaded = _loaded(program)
    assert "sqlalchemy" in loaded
    assert not set(_NOT_NEEDED) & loaded
    assert not {f"lease_scheduler.{room}" for room in _OTHER_ROOMS} & loaded


def test_the_simulator_starts_without_scipy() -> None:
    """Loading it takes almost as long as all the rest, and only some generators and experiments need it."""
    loaded = _loaded("lease_sim")
    assert "numpy" in loaded
    assert not {"highspy", "scipy"} & loaded
