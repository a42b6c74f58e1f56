"""The interactive simulation, driven by Haizea's commands and by XML-RPC as its scripts do (haizea F19, F21-F24)."""

from __future__ import annotations

import re
import xmlrpc.client
from datetime import UTC, datetime, timedelta
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.functional.embedded.rest import until
from tests.functional.frontend.conftest import Make
from tests.functional.frontend.haizea import Haizea, run

READY, QUEUED, CANCELLED, ACTIVE, DONE = "7", "4", "5", "8", "16"


def _xml(
    start: str,
    nodes: int = 1,
    duration: str = "01:00:00.00",
    deadline: str = "",
    preemptible: bool = False,
    more: str = "",
) -> str:
    return (
        f'<lease preemptible="{preemptible}"><nodes><node-set numnodes="{nodes}"><res type="CPU" amount="100"/>'
        f'<res type="Memory" amount="512"/></node-set></nodes><start>{start}</start><duration time="{duration}"/>'
        f'{deadline}<software><disk-image id="foobar.img" size="600"/></software>{more}</lease>'
    )


def _state(haizea: Haizea, lease_id: int) -> str | None:
    return ElementTree.fromstring(haizea.call("get_lease", lease_id)).get("state")


def _rows(text: str) -> list[list[str]]:
    return [re.split(r" {2,}", line) for line in text.splitlines()]


def _id(text: str) -> int:
    said, number = text.splitlines()
    assert said == "Lease submitted correctly."
    return int(number.removeprefix("Lease ID: "))


def _date(seconds: int) -> str:
    return (datetime.now(UTC) + timedelta(seconds=seconds)).strftime("%Y-%m-%d %H:%M:%S")


def test_the_four_kinds_by_commands(make: Make) -> None:
    """haizea 1.4, F23: request, list, queue, hosts and cancel; ids count from 1 in the order of the requests."""
    haizea = make()
    haizea.start()
    hosts = haizea.command("haizea-list-hosts")
    assert _rows(hosts.stdout) == [
        ["ID", "Hostname", "CPUs", "Mem"],
        *([str(number), f"host-{number}", "100", "1024"] for number in range(1, 5)),
    ]
    node = ["-c", "1", "-m", "512"]
    image = ["-i", "foobar.img", "-z", "600"]
    immediate = haizea.command("haizea-request-lease", "-t", "now", "-d", "01:00:00", "-n", "2", *node, *image)
    assert _id(immediate.stdout) == 1, immediate.stderr
    reserved = ["-t", "+02:00:00", "-d", "00:30:00", "-n", "4", "--non-preemptible", *node]
    assert _id(haizea.command("haizea-request-lease", *reserved).stdout) == 2
    waiting = ["-t", "best_effort", "-d", "10:00:00", "-n", "4", "--preemptible", *node]
    assert _id(haizea.command("haizea-request-lease", *waiting).stdout) == 3
    assert _id(haizea.command("haizea-request-lease", *waiting).stdout) == 4
    file = haizea.folder / "deadline.xml"
    start, deadline = _date(10), _date(7_000)
    file.write_text(_xml(f'<exact time="{start}"/>', duration="00:30:00", deadline=f'<deadline time="{deadline}"/>'))
    by_file = haizea.command("haizea-request-lease", "-f", str(file))
    assert by_file.returncode == 0, by_file.stderr
    assert _id(by_file.stdout) == 5
    until(lambda: _state(haizea, 1) == ACTIVE)
    rows = _rows(haizea.command("haizea-list-leases").stdout)
    assert rows[0] == ["ID", "Type", "State", "Starting time", "Duration", "Nodes"]
    assert [[row[0], row[1], row[4], row[5]] for row in rows[1:]] == [
        ["1", "Immediate", "01:00:00", "2"],
        ["2", "AR", "00:30:00", "4"],
        ["3", "Best-effort", "10:00:00", "4"],
        ["4", "Best-effort", "10:00:00", "4"],
        ["5", "Deadline", "00:30:00", "1"],
    ]
    assert rows[1][2] == "Active"
    queue = _rows(haizea.command("haizea-show-queue").stdout)
    assert [row[:3] for row in queue[1:]] == [["4", "Best-effort", "Queued"]]
    cancelled = haizea.command("haizea-cancel-lease", "-l", "4")
    assert (cancelled.returncode, cancelled.stdout, cancelled.stderr) == (0, "", "")
    assert haizea.command("haizea-show-queue").stdout == "Queue is empty.\n"
    assert _state(haizea, 4) == CANCELLED
    assert [row[0] for row in _rows(haizea.command("haizea-list-leases").stdout)[1:]] == ["1", "2", "3", "5"]
    assert haizea.interrupt() == 0


def test_by_xml_rpc(make: Make) -> None:
    """haizea F23, F24: a script gets back what it requested, with an id, a state and a time of submission."""
    haizea = make(resources="4 CPU:200,Memory:1024,Disk:20480")
    haizea.start()
    assert haizea.call("get_hosts")[0] == {"id": 1, "hostname": "host-1", "cpu": 200, "mem": 1024}
    more = '<extra><attr name="real_duration" value="1"/><attr name="site" value="Köln"/></extra>'
    first = haizea.call("create_lease", _xml("<now/>", more=more))
    lease = ElementTree.fromstring(haizea.call("get_lease", first))
    assert (first, lease.get("id"), lease.get("preemptible")) == (1, "1", "False")
    submitted = datetime.strptime(str(lease.get("submit-time")), "%Y-%m-%d %H:%M:%S.00").replace(tzinfo=UTC)
    assert abs((datetime.now(UTC) - submitted).total_seconds()) < 60
    assert lease.find("start/now") is not None
    resources = {each.get("type"): each.get("amount") for each in lease.iterfind("nodes/node-set/res")}
    assert resources == {"CPU": "100", "Memory": "512"}
    image = lease.find("software/disk-image")
    assert image is not None and dict(image.attrib) == {"id": "foobar.img", "size": "600"}
    extras = {each.get("name"): each.get("value") for each in lease.iterfind("extra/attr")}
    assert extras["site"] == "Köln"
    until(lambda: _state(haizea, first) == DONE)
    assert haizea.call("get_leases") == []
    with pytest.raises(xmlrpc.client.Fault, match="lease 1 is over: it is done"):
        haizea.call("cancel_lease", first)
    second = haizea.call("create_lease", xmlrpc.client.Binary(_xml("<now/>", duration="unlimited").encode()))
    until(lambda: _state(haizea, second) == ACTIVE)
    assert haizea.call("notify_event", second, 17, 0) == 0
    until(lambda: _state(haizea, second) == DONE)
    third = haizea.call("create_lease", _xml("", preemptible=True))
    assert [ElementTree.fromstring(text).get("id") for text in haizea.call("get_leases")] == [str(third)] == ["3"]
    assert haizea.call("cancel_lease", third) == 0
    with pytest.raises(xmlrpc.client.Fault, match="there is no lease 3"):
        haizea.call("cancel_lease", third)


def test_preemption(make: Make) -> None:
    """haizea F51: a best-effort lease makes room for a reservation; a script sees it by the numbers of its states."""
    haizea = make(interval=1)
    haizea.start()
    running = haizea.call("create_lease", _xml("", nodes=4, duration="00:00:40", preemptible=True))
    until(lambda: _state(haizea, running) == ACTIVE)
    haizea.call("create_lease", _xml('<exact time="+00:00:10"/>', nodes=4, duration="00:00:04"))
    suspended = {"9", "10", "11", "12"}
    until(lambda: _state(haizea, running) in suspended)
    until(lambda: _state(haizea, running) == ACTIVE)


def test_shares_of_a_cpu(make: Make) -> None:
    """Two requests for half a CPU fit on one node, and a third does not."""
    haizea = make(resources="1 CPU:100,Memory:1024")
    haizea.start()
    half = ["haizea-request-lease", "-t", "now", "-d", "unlimited", "-n", "1", "-c", "0.5", "-m", "256"]
    assert [haizea.command(*half).returncode for _ in range(3)] == [0, 0, 1]


def test_goes_on_after_a_restart(make: Make) -> None:
    """haizea F45: after a kill, leases keep their ids and terms, and new leases get ids that were never used."""
    haizea = make()
    haizea.start()
    kept = haizea.call("create_lease", _xml("<now/>"))
    later = haizea.call("create_lease", _xml('<exact time="+01:30:00"/>', nodes=4))
    gone = haizea.call("create_lease", _xml("", preemptible=True))
    haizea.call("cancel_lease", gone)
    until(lambda: _state(haizea, kept) == ACTIVE)
    before = haizea.call("get_leases")
    haizea.kill()
    haizea.start()
    assert haizea.call("get_leases") == before
    assert (_state(haizea, kept), _state(haizea, later), _state(haizea, gone)) == (ACTIVE, READY, CANCELLED)
    assert haizea.call("create_lease", _xml("", preemptible=True)) == gone + 1
    assert haizea.interrupt() == 0
    other = make(resources="2 CPU:100,Memory:1024")
    refused = run("haizea", "-f", *other.options, folder=haizea.folder)
    assert refused.returncode == 2
    assert "persistence-file: it knows hosts that [simulation] resources has not" in refused.stderr.splitlines()[-1]


def test_without_persistence(make: Make) -> None:
    haizea = make(persistence="none")
    haizea.start()
    assert haizea.call("create_lease", _xml("<now/>")) == 1
    assert haizea.interrupt() == 0
    assert sorted(path.name for path in haizea.folder.iterdir()) == ["haizea.conf", "haizea.log", "output"]
    haizea.start()
    assert haizea.call("get_leases") == []
    assert haizea.call("create_lease", _xml("<now/>")) == 1


def test_in_the_background(make: Make, tmp_path: Path) -> None:
    """It answers as soon as the command has returned, a second one is refused, and --stop waits until it has ended."""
    haizea = make(level="STATUS")
    started = run("haizea", *haizea.options, folder=tmp_path)
    assert (started.returncode, started.stderr) == (0, "")
    assert haizea.answers()
    assert haizea.call("create_lease", _xml("<now/>")) == 1
    second = run("haizea", *haizea.options, folder=tmp_path)
    assert second.returncode == 2
    assert second.stderr.splitlines() == [
        f"haizea: it does not start: --pid-file: {haizea.pid_file} is that of a process that runs; stop it first"
    ]
    assert haizea.answers()
    stop = ("haizea", "--stop", "--pid-file", str(haizea.pid_file))
    assert run(*stop, folder=tmp_path).returncode == 0
    assert not haizea.answers()
    assert not haizea.pid_file.exists()
    again = run(*stop, folder=tmp_path)
    assert (again.returncode, again.stderr) == (1, "haizea: it does not run\n")
    log = haizea.log.read_text()
    assert f" STATUS lease_scheduler.cmd.haizea.interactive [-] XML-RPC: {haizea.url}" in log
    assert " INFO " not in log


def test_opennebulas_templates(make: Make) -> None:
    """haizea F21, F22: a plain VM starts now and has no end; VMs of a group are one lease with the first VM's terms."""
    haizea = make()
    haizea.start()
    folder = haizea.folder
    vm = 'NAME = "vm"\nCPU = 0.5\nMEMORY = 256\nDISK = [ IMAGE = "ttylinux" ]\n'
    (folder / "plain").write_text(vm)
    section = 'HAIZEA = [ start = "+00:20:00", duration = "00:30:00", preemptible = "no", group = "cluster" ]\n'
    (folder / "head").write_text(f"{vm}VCPU = 2\n{section}")
    worker = section.replace("+00:20:00", "now").replace('"no"', '"yes"')
    (folder / "worker").write_text(vm + worker)
    (folder / "batch").write_text(vm + 'HAIZEA = [start=best_effort, duration=unlimited, preemptible="yes"]')
    names = ("plain", "head", "worker", "worker", "batch")
    asked = haizea.command("haizea-request-lease", "--template", *(str(folder / name) for name in names))
    assert asked.returncode == 0, asked.stderr
    assert re.findall(r"ID: (\d+)", asked.stdout) == ["1", "2", "3"]
    rows = _rows(haizea.command("haizea-list-leases").stdout)
    assert [[row[1], row[4], row[5]] for row in rows[1:]] == [
        ["Immediate", "unlimited", "1"],
        ["AR", "00:30:00", "3"],
        ["Best-effort", "unlimited", "1"],
    ]
    group = ElementTree.fromstring(haizea.call("get_lease", 2))
    assert group.get("preemptible") == "False"
    sizes = [(each.get("numnodes"), {r.get("type"): r.get("amount") for r in each}) for each in group[0]]
    assert sizes == [("1", {"CPU": "100", "Memory": "256"}), ("2", {"CPU": "50", "Memory": "256"})]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["haizea"], "-c: name a configuration file"),
        (["haizea", "-c", "/nowhere/haizea.conf"], "cannot be read"),
        (["haizea", "--port", "70000"], "argument --port: 70000 is no port"),
        (["haizea-list-leases", "-s", "http://127.0.0.1:9/"], "--server: http://127.0.0.1:9/ does not answer"),
        (["haizea-list-leases", "-s", "nowhere"], "--server: nowhere does not answer"),
        (["haizea-cancel-lease"], "the following arguments are required: -l/--lease"),
        (["haizea-request-lease", "-t", "now"], "--duration: is needed, or --file or --template"),
        (["haizea-request-lease", "-f", "a", "-t", "now"], "--file: goes without --start"),
        (["haizea-request-lease", "-f", "/nowhere/lease.xml"], "/nowhere/lease.xml: cannot be read"),
    ],
)
def test_refusals(words: list[str], message: str, tmp_path: Path) -> None:
    """One line that names what is wrong, and status 2."""
    ended = run(*words, folder=tmp_path)
    assert (ended.returncode, ended.stdout) == (2, "")
    (line,) = ended.stderr.splitlines()
    assert line.startswith(f"{words[0]}: ")
    assert message in line


def test_unattended(tmp_path: Path) -> None:
    """haizea F18: with a simulated clock the trace file runs through the simulator."""
    trace = Path(__file__).parents[3] / "doc" / "source" / "user" / "example.lwf"
    conf = tmp_path / "haizea.conf"
    conf.write_text(
        f"[general]\nmode: simulated\nlogfile: {tmp_path}/log\n[scheduling]\nsuspension: all\nsuspend-rate: 32\n"
        "resume-rate: 32\nbackfilling: aggressive\npolicy-preemption: ar-preempts-everything\n"
        "[simulation]\nclock: simulated\nstarttime: 2006-11-25 13:00:00\nresources: in-tracefile\n"
        f"imagetransfer-bandwidth: 100\n[tracefile]\ntracefile: {trace}\n"
    )
    ended = run("haizea", "-c", str(conf), folder=tmp_path)
    assert ended.returncode == 0, ended.stderr
    assert re.search(r"best-effort\D+1", ended.stdout)


def test_opennebula_mode(tmp_path: Path) -> None:
    """haizea F20: the error says what to run instead."""
    conf = tmp_path / "haizea.conf"
    conf.write_text("[general]\nmode: opennebula\n[scheduling]\nsuspension: none\n[opennebula]\nhost: localhost\n")
    ended = run("haizea", "-f", "-c", str(conf), folder=tmp_path)
    assert ended.returncode == 2
    (line,) = ended.stderr.splitlines()
    assert "lease-scheduler-haizea-front" in line
