"""The embedded service as a process: it starts, answers, ends, resumes, and says in one line why it does not start."""

from __future__ import annotations

import os
import signal
import socket
import time
from pathlib import Path

import pytest
import requests

from tests.functional.embedded.conftest import Make
from tests.functional.embedded.rest import Rest, date, until
from tests.servers.base import OwnProcess, free_port, wait_until
from tests.servers.preloaded import run_preloaded

_ROOT = Path(__file__).parents[3]


def _refused(*options: str) -> str:
    """Return the only line with which the program refuses to start."""
    ended = run_preloaded("lease-scheduler-embedded", *options, folder=Path.cwd(), limit=60)
    assert ended.returncode == 2, ended.stderr
    errors = [line for line in ended.stderr.splitlines() if " INFO " not in line]
    assert len(errors) == 1, ended.stderr
    return errors[0]


def test_answers(make: Make) -> None:
    """Health check, page and API work; a request without headers comes from an administrator, and roles take effect."""
    service = make()
    service.start()
    assert requests.get(f"{service.url}/healthcheck", timeout=10).status_code == 200
    page = requests.get(f"{service.url}/", headers={"Accept": "text/html"}, timeout=10)
    assert "<h1>Lease calendar</h1>" in page.text
    assert requests.get(f"{service.url}/main.js", timeout=10).status_code == 200
    rest = Rest(service)
    rest.register(4)
    member = Rest(service, X_Project_Id="physics", X_User_Id="ada", X_Roles="member")
    lease = member.lease("mine", "immediate", duration=3600)
    assert (lease["project_id"], lease["user_id"]) == ("physics", "ada")
    until(lambda: rest.state(lease) == "active")
    assert member.ask("POST", "os-hosts", {"name": "compute-4"}).status_code == 403
    other = Rest(service, X_Project_Id="biology", X_User_Id="bob", X_Roles="member")
    assert other.ask("GET", f"leases/{lease['id']}").status_code in (403, 404)


def test_a_pool_without_hosts_is_filled_by_the_option(make: Make, tmp_path: Path) -> None:
    """Without it, a refusal names the commands that fill the pool; from outside, pool fill says what to do."""
    service = make(configuration="[simulated_cloud]\nhosts = 3\n")
    service.start()
    rest = Rest(service)
    nodes = [{"count": 1, "resources": {"VCPU": 1}}]
    refused = rest.ask("POST", "leases", {"name": "a", "kind": "immediate", "duration": 60, "nodes": nodes})
    assert refused.status_code == 409
    assert "the pool has no hosts" in refused.json()["error_message"]
    assert "--fill-pool" in refused.json()["error_message"]
    (state,) = tmp_path.rglob("lease-scheduler.sqlite")
    (tmp_path / "manage.conf").write_text(f"[service]\ncloud = simulated\n[database]\nconnection = sqlite:///{state}\n")
    for more, said in (
        (["--config-file", str(tmp_path / "manage.conf")], "an embedded engine takes no commands from other processes"),
        (["--config-dir", str(tmp_path / "none")], "with --config-file"),
    ):
        (tmp_path / "none").mkdir(exist_ok=True)
        ended = run_preloaded("lease-scheduler-manage", "pool", "fill", *more, folder=tmp_path, limit=60)
        assert (ended.returncode, said in ended.stderr) == (2, True), ended.stderr
        assert "--fill-pool" in ended.stderr
    assert service.interrupt() == 0
    filled = make(options=["--fill-pool"], configuration="[simulated_cloud]\nhosts = 3\n")
    filled.start()
    assert len(Rest(filled).ask("GET", "os-hosts").json()["hosts"]) == 3


def test_pages_of_other_sites_are_kept_away(make: Make) -> None:
    """Requests for a foreign host name, and forms of other sites, are refused; our own page is not."""
    service = make()
    service.start()
    url = f"{service.url}/v1/os-hosts"
    rebound = requests.get(url, headers={"Host": f"evil.example:{service.port}"}, timeout=10)
    assert (rebound.status_code, rebound.headers["Content-Type"]) == (403, "application/json")
    assert "Host: 'evil.example" in rebound.json()["error_message"]
    fooled = {"Host": f"evil.example:{service.port}", "X-Forwarded-Host": f"127.0.0.1:{service.port}"}
    assert requests.get(url, headers=fooled, timeout=10).status_code == 403
    body = {"name": "compute-1"}
    assert requests.post(url, json=body, headers={"Origin": "http://evil.example"}, timeout=10).status_code == 403
    assert requests.post(url, json=body, headers={"Origin": service.url}, timeout=10).status_code == 201
    assert "callers are not authenticated" in service.log.read_text()


def test_behind_a_balancer(make: Make, tmp_path: Path) -> None:
    """Addresses are as the load balancer reports them, if it is trusted; a file takes the process out of service."""
    out = tmp_path / "out"
    lines = f"[healthcheck]\nbackends = disable_by_file\ndisable_by_file_path = {out}\n"
    said = {"X-Forwarded-Proto": "https", "X-Forwarded-Host": "leases.example.org"}

    def link(configuration: str) -> str:
        service = make(configuration=configuration)
        service.start()
        assert requests.get(f"{service.url}/healthcheck", timeout=10).status_code == 200
        out.touch()
        assert requests.get(f"{service.url}/healthcheck", timeout=10).status_code == 503
        out.unlink()
        found = requests.get(f"{service.url}/", headers={**said, "Accept": "application/json"}, timeout=10).json()
        assert service.interrupt() == 0
        return str(found["versions"][0]["links"][0]["href"])

    assert link(lines).startswith("http://127.0.0.1:")
    trusting = f"{lines}[oslo_middleware]\nenable_proxy_headers_parsing = true\n"
    assert link(trusting) == "https://leases.example.org/v1"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ends_in_order(make: Make, number: signal.Signals) -> None:
    """A signal ends it with status 0 within ten seconds, also while a page keeps its connection open."""
    service = make()
    service.start()
    with requests.Session() as session:
        session.get(f"{service.url}/", timeout=10)
        begun = time.monotonic()
        os.kill(service.pid, number)
        assert service.interrupt() == 0
        assert time.monotonic() - begun < 10
    assert "stopped" in service.log.read_text()
    assert "Traceback" not in service.log.read_text()


def test_goes_on(make: Make) -> None:
    """After a restart, leases, hosts, the simulated cloud and the clock are as they were."""
    clock = "[simulated_cloud]\nhosts = 4\nclock_speed = 60\nclock_start = 1800000000\n"
    service = make(configuration=clock)
    service.start()
    rest = Rest(service)
    rest.register(4)
    running = rest.lease("running", "immediate", duration=86_400, count=2)
    planned = rest.lease("planned", "reservation", start_date=date(1_800_200_000), duration=7200, count=3)
    until(lambda: rest.state(running) == "active")
    before = rest.calendar()
    held = [lease["holdings"] for lease in before["leases"]]
    assert before["now"] < 1_800_080_000
    assert service.interrupt() == 0
    service.start()
    after = rest.calendar()
    assert [host["name"] for host in after["hosts"]] == [host["name"] for host in before["hosts"]]
    assert [lease["holdings"] for lease in after["leases"]] == held
    # The clock stood still while the service was down, so only its running time has passed.
    assert before["now"] <= after["now"] < before["now"] + 60 * 60
    assert (rest.state(running), rest.state(planned)) == ("active", "ready")
    assert rest.ask("DELETE", f"leases/{running['id']}").status_code == 204
    whole = rest.lease("whole", "immediate", duration=600, count=4)
    until(lambda: rest.state(whole) == "active")


def test_port_in_use(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert f"127.0.0.1, port {port}" in _refused("--state-path", str(tmp_path / "state"), "--port", str(port))


def test_folder_in_use(make: Make, tmp_path: Path) -> None:
    """Two processes on one folder would plan without knowing of each other; the first one is not disturbed."""
    service = make()
    service.start()
    line = _refused("--state-path", str(tmp_path / "state"), "--port", str(free_port()))
    assert "another process uses" in line
    assert service.is_healthy()


def test_folder_that_cannot_be(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert "cannot be made" in _refused("--state-path", str(tmp_path / "file"))


_KEYSTONE = """
[api]
auth_strategy = keystone
[keystone_authtoken]
auth_type = password
auth_url = http://127.0.0.1:9/
www_authenticate_uri = http://127.0.0.1:9/
username = nobody
password = none
"""


def test_with_keystone_it_says_that_callers_are_authenticated(make: Make) -> None:
    """Nobody is refused for an untrue reason either."""
    service = make(configuration=_KEYSTONE)
    service.start()
    said = service.log.read_text()
    assert "callers are authenticated by Keystone" in said
    assert "not authenticated" not in said
    assert requests.get(f"{service.url}/v1/leases", timeout=10).status_code == 401


def test_with_keystone_it_is_not_for_others_either(tmp_path: Path) -> None:
    settings = tmp_path / "service.conf"
    settings.write_text(_KEYSTONE.replace("[api]\n", "[api]\nhost = 192.0.2.1\n"))
    line = _refused("--state-path", str(tmp_path / "state"), "--config-file", str(settings))
    assert "which lease-scheduler-api is for" in line
    assert "not authenticated" not in line


@pytest.mark.parametrize("host", ["0.0.0.0", "192.0.2.1", "example.org", "::"])
def test_not_for_others(tmp_path: Path, host: str) -> None:
    """The service does not authenticate clients, so it listens on loopback only."""
    settings = tmp_path / "service.conf"
    settings.write_text(f"[api]\nhost = {host}\n")
    line = _refused("--state-path", str(tmp_path / "state"), "--config-file", str(settings))
    assert "callers are not authenticated" in line


def test_make_run(tmp_path: Path) -> None:
    """``make run`` listens where the environment says, and Ctrl-C ends it cleanly.

    A terminal sends Ctrl-C to all processes; make does not report an error.
    """
    port = free_port()
    environment = {**os.environ, "LEASE_SCHEDULER_PORT": str(port)}
    command = ["make", "--directory", str(_ROOT), "--old-file=setup", "run", "DEMO=0", f"STATE={tmp_path / 'state'}"]
    run = OwnProcess("make", command, tmp_path / "make.log", environment)
    url = f"http://127.0.0.1:{port}/healthcheck"

    def answers() -> bool:
        try:
            return requests.get(url, timeout=5).status_code == 200
        except requests.ConnectionError:
            return False

    try:
        assert wait_until(answers, 30), (tmp_path / "make.log").read_text()
        os.killpg(run.pid, signal.SIGINT)
        assert wait_until(lambda: not run.is_running(), 10)
        said = (tmp_path / "make.log").read_text()
        assert "stopped" in said
        assert "***" not in said
        # GNU make waits for the service, and then ends by the signal even though the service ended with status 0.
        assert run.returncode in (0, -signal.SIGINT)
    finally:
        run.kill()
    assert (tmp_path / "state" / "plain" / "lease-scheduler.sqlite").exists()
    assert not (tmp_path / "state" / "demonstration").exists()
