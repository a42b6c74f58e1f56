"""``lease-scheduler-manage calibrate`` on a real Nova whose hypervisors have set delays; haizea E4."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest

from lease_scheduler.calibration.accuracy import BOUNDS
from lease_scheduler.calibration.samples import MeasuredOperation
from lease_scheduler.cmd import configuration
from lease_scheduler.conf.values import planning_options
from lease_scheduler.plan.options import Exclusion
from tests.servers.base import wait_until
from tests.servers.keystone import PASSWORD
from tests.servers.openstack.client import CloudClient
from tests.servers.openstack.identity import SERVICE_PROJECT
from tests.servers.openstack.lab import OUR_USER, Lab

pytestmark = [
    pytest.mark.slow,
    pytest.mark.usefixtures("whole_lab"),
]

Document = dict[str, Any]

#: In one process, so that their steps can be serialized.
_HOSTS = ("node1", "node2", "node3")

#: Seconds that steps take.
_DELAYS = {"suspend": 2.5, "resume": 2.0, "snapshot": 2.5, "spawn": 2.0, "power_off": 0.5, "power_on": 0.3}

_MEMORY_MB = 512
_LIMIT = 240.0
_MARK = "lease-scheduler-calibration"


@pytest.fixture(autouse=True)
def _quick_again(lab: Lab) -> Iterator[None]:
    """Hosts have no delays after the test, and nothing of it is left."""
    yield
    for host in _HOSTS:
        lab.set_delays(host, {})


@pytest.fixture
def conf(lab: Lab, tmp_path: Path) -> Path:
    """The configuration with which the service logs in."""
    path = tmp_path / "service.conf"
    path.write_text(
        f"[DEFAULT]\ntransport_url = {lab.transport_url}\n[nova]\nauth_type = password\n"
        f"auth_url = {lab.keystone.url}\nusername = {OUR_USER}\npassword = {PASSWORD}\n"
        f"project_name = {SERVICE_PROJECT}\nuser_domain_id = default\nproject_domain_id = default\n"
    )
    return path


def _command(files: Sequence[Path], *words: object) -> list[str]:
    program = str(Path(sys.executable).with_name("lease-scheduler-manage"))
    named = [word for path in files for word in ("--config-file", str(path))]
    return [program, *named, "calibrate", *map(str, words)]


def _calibrate(files: Sequence[Path], *words: object) -> subprocess.CompletedProcess[str]:
    command = _command(files, *words)
    return subprocess.run(command, capture_output=True, text=True, timeout=_LIMIT, check=False)


def _of_servers(hosts: Sequence[str] = _HOSTS) -> list[object]:
    return ["--flavor", "small", "--image", "tiny", "--hosts", *hosts]


def _left(lab: Lab) -> list[str]:
    """Return what calibration runs have left."""
    admin = lab.admin
    servers = admin.compute("GET", "/servers/detail?all_tenants=1")["servers"]
    flavors = admin.compute("GET", "/flavors?is_public=None")["flavors"]
    images = admin.image("GET", "/v2/images")["images"]
    return [each["name"] for each in (*servers, *flavors, *images) if _MARK in each["name"]]


@pytest.mark.parametrize(("turns", "exclusion"), [("host", Exclusion.LOCAL), ("all", Exclusion.GLOBAL)])
def test_options_are_measured(lab: Lab, conf: Path, tmp_path: Path, turns: str, exclusion: Exclusion) -> None:
    """The measured options are the hosts' delays, and the service can read them."""
    for host in _HOSTS:
        lab.set_delays(host, _DELAYS, turns)
    options, samples = tmp_path / "options.conf", tmp_path / "samples.json"
    words = ("--repetitions", 3, "--at-once", 3, "--group-repetitions", 1)
    done = _calibrate([conf], *_of_servers(), *words, "--output", options, "--json", samples)
    assert done.returncode == 0, (done.stdout, done.stderr)
    assert _left(lab) == []
    print(done.stdout, options.read_text())

    found = json.loads(samples.read_text())
    assert found["source"] == "Nova's notifications"
    # Single servers, three on one host, and three on three hosts.
    assert len(found["samples"]) == (3 + 3 + 3) * len(MeasuredOperation)
    in_force = configuration.load(["--config-file", str(conf), "--config-file", str(options)])
    planning = planning_options(in_force)
    rates = {
        "suspend": ("suspend", planning.suspend_rate),
        "resume": ("resume", planning.resume_rate),
        "shelve": ("snapshot", planning.shelve_rate),
        "unshelve": ("spawn", planning.unshelve_rate),
    }
    single = [each for each in found["samples"] if each["at_once"] == 1]
    for operation, (step, rate) in rates.items():
        times = [each["ended"] - each["begun"] for each in single if each["operation"] == operation]
        assert min(times) >= _DELAYS[step]
        assert rate is not None
        # The planned rate is one that most suspensions keep.
        assert _MEMORY_MB / rate >= fmean(times)
    assert (planning.exclusion, planning.shelve_exclusion) == (exclusion, exclusion)
    assert planning.enactment_overhead >= 1
    assert planning.stop_time >= _DELAYS["power_off"]
    assert planning.shutdown_time >= 1
    assert in_force.nova.preparation_time >= _DELAYS["spawn"]


@pytest.mark.parametrize(("turns", "exclusion"), [("host", "local"), ("all", "global")])
def test_the_model_is_true(lab: Lab, conf: Path, tmp_path: Path, turns: str, exclusion: str) -> None:
    """With measured options, observed times are at most 1.4 and 1.7 times the predicted ones (E4)."""
    for host in _HOSTS:
        lab.set_delays(host, _DELAYS, turns)
    options, check = tmp_path / "options.conf", tmp_path / "check.json"
    single = ("--repetitions", 3, "--at-once")
    done = _calibrate([conf], *_of_servers(), *single, "--output", options)
    assert done.returncode == 0, (done.stdout, done.stderr)
    # Single servers show nothing about serialization.
    taken = tmp_path / "turns.conf"
    taken.write_text(f"[scheduling]\nsuspend_resume_exclusion = {exclusion}\nshelve_exclusion = {exclusion}\n")
    words = ("--repetitions", 2, "--at-once", 3, "--group-repetitions", 1, "--check", "--json", check)
    done = _calibrate([conf, options, taken], *_of_servers(), *words)
    print(done.stdout)
    assert done.returncode == 0, (done.stdout, done.stderr)
    told = json.loads(check.read_text())["accuracy"]
    # Each way to save and restore: alone, three on one host, and three on three hosts.
    assert len(told) == len(BOUNDS) * 3
    for each in told:
        assert 0 < each["observed"] / each["predicted"] <= each["bound"], each
    assert _left(lab) == []


def test_a_model_that_is_not_true(lab: Lab, conf: Path, tmp_path: Path) -> None:
    """Times longer than the options allow are reported, also by the exit status."""
    lab.set_delays("node1", {"suspend": 2.0})
    wrong = tmp_path / "wrong.conf"
    wrong.write_text("[scheduling]\nsuspend_rate = 5000\nresume_rate = 50\n")
    words = ("--repetitions", 2, "--at-once", "--ways", "suspend", "--check")
    done = _calibrate([conf, wrong], *_of_servers(["node1"]), *words)
    assert done.returncode == 1, (done.stdout, done.stderr)
    assert "exceeded" in done.stdout
    assert _left(lab) == []


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_run_that_is_ended(lab: Lab, conf: Path, how: signal.Signals) -> None:
    """Killed, it leaves what ``--clean`` finds, and no other run starts before; interrupted, it removes everything."""
    lab.set_delays("node1", {"suspend": 3.0})
    words = ("--repetitions", 5, "--at-once", "--ways", "suspend")
    command = _command([conf], *_of_servers(["node1"]), *words)
    # A shell without job control starts background processes, and so these tests, with SIGINT ignored.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    signal.signal(signal.SIGINT, before)
    try:
        assert wait_until(lambda: _has_suspending(lab), _LIMIT)
    finally:
        process.send_signal(how)
        status = process.wait(_LIMIT)
    if how is signal.SIGKILL:
        assert len(_left(lab)) == 2
        refused = _calibrate([conf], *_of_servers(["node2"]), *words)
        assert (refused.returncode, refused.stderr.count("\n")) == (2, 1), refused.stderr
        assert "--clean" in refused.stderr
        cleaned = _calibrate([conf], "--clean")
        assert cleaned.returncode == 0, cleaned.stderr
        assert "1 servers and 1 flavors" in cleaned.stdout
    else:
        assert status == 128 + how
    assert wait_until(lambda: _left(lab) == [], _LIMIT), _left(lab)


def _has_suspending(lab: Lab) -> bool:
    servers = lab.admin.compute("GET", "/servers/detail?all_tenants=1")["servers"]
    return any(each["OS-EXT-STS:task_state"] == "suspending" for each in servers if _MARK in each["name"])


def test_what_fails_is_left_out(lab: Lab, conf: Path, tmp_path: Path) -> None:
    """An operation that exceeds its limit is reported, and its server is removed."""
    lab.set_delays("node1", {"suspend": 30.0})
    samples = tmp_path / "samples.json"
    words = ("--repetitions", 2, "--at-once", "--ways", "suspend", "stop", "--limit", 8, "--json", samples)
    done = _calibrate([conf], *_of_servers(["node1", "node2"]), *words)
    assert done.returncode == 1, (done.stdout, done.stderr)
    assert "suspend: is not over after 8 s" in done.stderr
    failed = [each for each in json.loads(samples.read_text())["samples"] if each["problem"]]
    assert {each["host"] for each in failed} == {"node1"}
    assert wait_until(lambda: _left(lab) == [], _LIMIT)


def test_hosts_of_others(lab: Lab, admin: CloudClient, conf: Path, tmp_path: Path) -> None:
    """Other servers on a host exclude it unless an option allows them; neither they nor leases are touched."""
    words = ("--repetitions", 2, "--at-once", "--ways", "stop")
    server = lab.tenant().boot("precious", lab.flavors["small"])
    host = admin.wait_for(server, "ACTIVE")["OS-EXT-SRV-ATTR:host"]
    try:
        before = admin.server(server)
        refused = _calibrate([conf], *_of_servers([host]), *words)
        assert (refused.returncode, refused.stderr.count("\n")) == (2, 1), refused.stderr
        assert f"{host} has servers" in refused.stderr
        done = _calibrate([conf], *_of_servers([host]), *words, "--busy-hosts")
        assert done.returncode == 0, (done.stdout, done.stderr)
        assert admin.server(server) == before
    finally:
        admin.delete(server)
    aggregate = admin.compute("POST", "/os-aggregates", {"aggregate": {"name": "somebody's"}})["aggregate"]["id"]
    path = f"/os-aggregates/{aggregate}/action"
    admin.compute("POST", path, {"set_metadata": {"metadata": {"lease:id": "x"}}})
    admin.compute("POST", path, {"add_host": {"host": "node2"}})
    try:
        refused = _calibrate([conf], *_of_servers(["node2"]), *words)
        assert "node2 has a lease (somebody's)" in refused.stderr
        of_aggregate = ("--flavor", "small", "--image", "tiny", "--aggregate", "somebody's", "--busy-hosts")
        # Without a lease id the aggregate belongs to no lease, so a run may use it.
        admin.compute("POST", path, {"set_metadata": {"metadata": {"lease:id": None}}})
        done = _calibrate([conf], *of_aggregate, *words)
        assert done.returncode == 0, (done.stdout, done.stderr)
        assert "on node2" in _written(conf, tmp_path, of_aggregate, words)
    finally:
        admin.compute("POST", path, {"remove_host": {"host": "node2"}})
        admin.compute("DELETE", f"/os-aggregates/{aggregate}")


def _written(conf: Path, folder: Path, *words: Sequence[object]) -> str:
    path = folder / "options.conf"
    _calibrate([conf], *(word for part in words for word in part), "--output", path)
    return path.read_text()


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (("--flavor", "huge", "--image", "tiny", "--hosts", "node1"), "--flavor"),
        (("--flavor", "small", "--image", "none", "--hosts", "node1"), "--image"),
        (("--flavor", "small", "--image", "tiny", "--hosts", "node9"), "--hosts"),
        (("--flavor", "small", "--image", "tiny", "--aggregate", "none"), "--aggregate"),
    ],
)
def test_refusals(lab: Lab, conf: Path, words: Sequence[str], named: str) -> None:
    """One line that names the argument, and status 2; nothing is made."""
    begun = time.monotonic()
    refused = _calibrate([conf], *words)
    assert (refused.returncode, refused.stderr.count("\n")) == (2, 1), refused.stderr
    assert named in refused.stderr
    assert time.monotonic() - begun < 60
    assert _left(lab) == []
