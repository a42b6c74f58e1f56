"""How many requests wait for the engine under uWSGI, which has threads of its own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from lease_scheduler.store.sql import migrate
from lease_scheduler.store.sql.database import open_database

_CONFIGURATION = """
[DEFAULT]
transport_url = fake://
[database]
connection = {url}
[service]
cloud = simulated
[api]
auth_strategy = keystone
threads = 16
[keystone_authtoken]
auth_type = none
www_authenticate_uri = http://127.0.0.1:9/
auth_url = http://127.0.0.1:9/
"""

#: Stands in for uWSGI, whose module exists only in its own processes.
_PROGRAM = """
import sys, types
threads = {threads}
if threads is not None:
    sys.modules["uwsgi"] = types.SimpleNamespace(opt={{"threads": threads}})
from lease_scheduler.rpc import client
places = []
gate = client.Gate
client.Gate = lambda number: (places.append(number), gate(number))[1]
import lease_scheduler.cmd.wsgi
print(places)
"""


@pytest.mark.parametrize(("threads", "places"), [(None, 12), (b"8", 6), (b"2", 1), (b"1", 1)])
def test_some_threads_are_left(tmp_path: Path, threads: bytes | None, places: int) -> None:
    url = f"sqlite:///{tmp_path}/service.sqlite"
    database = open_database(url)
    migrate.upgrade(database)
    database.dispose()
    (tmp_path / "service.conf").write_text(_CONFIGURATION.format(url=url))
    program = _PROGRAM.format(threads=threads)
    environment = {"LEASE_SCHEDULER_CONFIG": str(tmp_path / "service.conf"), "PATH": "/usr/bin:/bin"}
    ended = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program],
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.strip().splitlines()[-1] == str([places])
