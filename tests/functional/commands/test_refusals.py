"""What cannot be done is reported in one line with status 2, and has no partial effect."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from sqlalchemy import inspect

from lease_scheduler.store.sql.database import open_database
from tests.functional.commands.programs import Ended, run, write_configuration
from tests.servers.base import free_port


def _line(ended: Ended, name: str) -> str:
    """Return the only line of a program's refusal."""
    assert ended.status == 2, ended
    (line,) = ended.errors.strip().splitlines()
    start = f"lease-scheduler-{name}: "
    assert line.startswith(start)
    return line.removeprefix(start)


@pytest.mark.parametrize(
    "words",
    [("db", "purge", "--older-than", "1"), ("db", "purge", "--older-than", "1", "--dry-run"), ("pool", "fill")],
)
def test_tables_are_needed(words: tuple[str, ...], tmp_path: Path) -> None:
    """A command that needs tables says how to create them, and does not create them itself."""
    url = f"sqlite:///{tmp_path}/test.sqlite"
    path = write_configuration(tmp_path, url)
    assert "db sync" in _line(run("manage", *words, "--config-file", str(path), folder=tmp_path), "manage")
    database = open_database(url)
    assert inspect(database).get_table_names() == []
    database.dispose()


def test_database_is_away(tmp_path: Path) -> None:
    """A database that does not answer is named as the reason."""
    url = f"mysql+pymysql://nobody:none@127.0.0.1:{free_port()}/none"
    path = write_configuration(tmp_path, url, lines="[database]\nretry_interval = 1\n")
    ended = run("manage", "db", "sync", "--config-file", str(path), folder=tmp_path)
    assert ended.status == 2
    assert "Traceback" not in ended.errors
    # Retries are logged as well.
    assert ended.errors.strip().splitlines()[-1].startswith("lease-scheduler-manage: the database does not answer")
    assert "none@" not in ended.errors, "no password in a message"


@pytest.mark.parametrize("content", ["[database\n", None])
def test_upgrade_check_without_options(content: str | None, tmp_path: Path) -> None:
    """A broken or missing configuration file is not a failed check, but is reported as clearly."""
    path = tmp_path / "service.conf"
    if content is not None:
        path.write_text(content)
    line = _line(run("status", "--config-file", str(path), "upgrade", "check", folder=tmp_path), "status")
    assert str(path) in line


def test_upgrade_check_names_the_option(tmp_path: Path) -> None:
    """A bad value is a failed check of its own."""
    url = f"sqlite:///{tmp_path}/test.sqlite"
    path = write_configuration(tmp_path, url, lines="[scheduling]\ndeadline_placement = nobody-knows\n")
    ended = run("status", "--config-file", str(path), "upgrade", "check", folder=tmp_path)
    assert ended.status == 2
    assert "nobody-knows" in ended.output
    assert ended.errors == ""


@pytest.mark.parametrize(
    ("lines", "named"), [("[api]\nauth_strategy = noauth\n", "api.auth_strategy"), ("[api]\nport = x\n", "port")]
)
def test_wsgi_module_refuses(lines: str, named: str, tmp_path: Path) -> None:
    """Under another server too, requests without authentication are refused, and a bad value is reported."""
    path = write_configuration(tmp_path, f"sqlite:///{tmp_path}/test.sqlite", lines=lines)
    ended = subprocess.run(
        [sys.executable, "-c", "import lease_scheduler.cmd.wsgi"],
        env=os.environ | {"LEASE_SCHEDULER_CONFIG": str(path)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        cwd=tmp_path,
    )
    assert ended.returncode != 0
    # Before the program has read where the log goes, and after that.
    assert named in ended.stderr + ended.stdout
