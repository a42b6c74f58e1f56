"""Help texts, and refusals: one line that names what is wrong, and status 2."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.functional.commands.programs import NAMES, run, run_afresh, write_configuration


@pytest.mark.parametrize("name", NAMES)
def test_help(name: str, tmp_path: Path) -> None:
    ended = run_afresh(name, "--help", folder=tmp_path)
    assert (ended.status, ended.errors) == (0, "")
    assert ended.output.startswith(f"usage: lease-scheduler-{name}")
    assert list(tmp_path.iterdir()) == [], "help leaves nothing behind"


@pytest.mark.parametrize(
    ("name", "lines", "named"),
    [
        ("api", "[api]\nport = 99999\n", "port"),
        ("api", "[oslo_policy]\n", "keystone_authtoken.auth_type"),
        ("embedded", "[scheduling]\npolicy_admission = nobody-knows\n", "nobody-knows"),
        ("embedded", "[service]\ncloud = nobody-knows\n", "nobody-knows"),
        ("engine", "[scheduling]\npolicy_preemption = nobody-knows\n", "nobody-knows"),
        ("engine", "[service]\ncloud = nobody-knows\n", "nobody-knows"),
        ("engine", "[scheduling]\npolicy_pricing = nobody-knows\n", "nobody-knows"),
        ("engine", "[scheduling]\npolicy_pricing = maximum\n", "scheduling.policy_pricing: maximum has to know"),
        ("embedded", "[policy]\npricing_rate = -1\n", "pricing_rate"),
    ],
)
def test_a_bad_option_is_refused(name: str, lines: str, named: str, tmp_path: Path) -> None:
    path = write_configuration(tmp_path, f"sqlite:///{tmp_path}/test.sqlite", lines=lines)
    ended = run(name, "--config-file", str(path), folder=tmp_path)
    last = ended.errors.strip().splitlines()[-1]
    assert ended.status == 2, ended.errors
    assert last.startswith(f"lease-scheduler-{name}: ")
    assert named in last
    assert "Traceback" not in ended.errors


@pytest.mark.parametrize("name", ["api", "engine"])
def test_a_service_without_a_cloud_does_not_start(name: str, tmp_path: Path) -> None:
    """Tenants must not be booked onto invented hosts because a line is missing."""
    lines = "[keystone_authtoken]\nauth_type = password\nauth_url = http://127.0.0.1:1/v3\n"
    path = write_configuration(tmp_path, f"sqlite:///{tmp_path}/test.sqlite", lines=lines)
    path.write_text(path.read_text().replace("cloud = simulated\n", ""))
    ended = run(name, "--config-file", str(path), folder=tmp_path)
    assert ended.status == 2, ended
    (line,) = ended.errors.strip().splitlines()
    assert line.startswith(f"lease-scheduler-{name}: service.cloud: is needed: nova, or simulated")


@pytest.mark.parametrize(
    ("name", "url"), [("api", ""), ("api", "nonsense"), ("engine", ""), ("engine", "unknown://host/name")]
)
def test_a_database_is_needed(name: str, url: str, tmp_path: Path) -> None:
    path = write_configuration(tmp_path, url)
    ended = run(name, "--config-file", str(path), folder=tmp_path)
    (line,) = ended.errors.strip().splitlines()
    assert ended.status == 2
    assert line.startswith(f"lease-scheduler-{name}: database.connection: ")


@pytest.mark.parametrize("name", ["embedded", "engine"])
def test_a_configuration_file_that_is_not_there(name: str, tmp_path: Path) -> None:
    ended = run(name, "--config-file", "absent.conf", folder=tmp_path)
    (line,) = ended.errors.strip().splitlines()
    assert ended.status == 2
    assert line.startswith(f"lease-scheduler-{name}: ")
    assert "absent.conf" in line


def test_nobody_is_let_in_unchecked(tmp_path: Path) -> None:
    path = write_configuration(tmp_path, f"sqlite:///{tmp_path}/test.sqlite", lines="[api]\nauth_strategy = noauth\n")
    ended = run("api", "--config-file", str(path), folder=tmp_path)
    (line,) = ended.errors.strip().splitlines()
    assert (ended.status, line.partition(": ")[2].partition(":")[0]) == (2, "api.auth_strategy")
    path.write_text("[api]\nhost = 0.0.0.0\n")
    ended = run("embedded", "--config-file", str(path), "--port", "0", folder=tmp_path)
    (line,) = ended.errors.strip().splitlines()
    assert (ended.status, line.partition(": ")[2].partition(":")[0]) == (2, "api.host")
