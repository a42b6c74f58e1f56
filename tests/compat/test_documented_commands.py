"""What the README and the pages print works as printed, whenever it is read, or a list says why it cannot run here."""

from __future__ import annotations

import gzip
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Container, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import requests

from lease_scheduler.api.microversions import MAXIMUM
from lease_scheduler.api.routes import ROUTES
from lease_scheduler.api.schemas.leases import action
from lease_scheduler.api.validation import find_problems
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.nodes import DiskImage
from lease_scheduler.simulation.formats.lwf_terms import SoftwareTerm
from lease_scheduler.simulation.formats.lwfa import Annotations, LeaseAnnotation, write_annotations
from tests.compat.inside import InsideShell
from tests.compat.printed import PAGES, Block, blocks, http_requests, inline_bodies
from tests.compat.shell import TOKEN
from tests.functional.embedded.rest import until
from tests.servers.preloaded import run_preloaded
from tests.servers.reservation import ReservationService as Server

_LATEST = {"X-Auth-Token": TOKEN, "OpenStack-API-Version": "reservation latest"}
_BIN = Path(sys.executable).parent

_NOVA = "needs a real Nova; tests/functional/lab/test_calibration.py runs it on one"
_KEYSTONE = "needs a real Keystone and an administrator of it"
_ROOT = "needs root on a machine of the service"
_SITES = "needs a gateway with sites"
_CHANGES = "changes the machine or the repository on which the tests run"

#: Blocks that cannot run here, by page and beginning, with the reason.
NOT_RUN: Mapping[tuple[str, str], str] = {
    ("user/command-line.rst", "pip install"): (
        f"{_CHANGES}; tests/functional/commands/test_packages.py installs a wheel"
    ),
    ("user/command-line.rst", "openstack complete"): (
        f"{_CHANGES}; tests/compat/test_openstack_lease.py completes by it"
    ),
    ("user/quickstart.rst", "LEASE="): f"{_NOVA}; tests/in_nova boots servers with this hint",
    ("user/quickstart.rst", "openstack lease extend"): "needs the lease of the steps before it",
    ("user/troubleshooting.rst", "openstack lease show"): "needs the lease of the quick start; shows only",
    ("admin/quickstart.rst", "make run"): "does not end; tests/functional/embedded starts what it starts",
    ("admin/quickstart.rst", "lease-scheduler-status"): "the same command as in admin/operation.rst, which runs",
    ("admin/quickstart.rst", "lease-scheduler-manage host add"): f"{_NOVA}; tests/functional/lab adds such hosts",
    ("admin/gateway.rst", "make run-sites"): (
        "does not end; tests/functional/gateway/test_run_sites.py starts what it starts"
    ),
    ("admin/gateway.rst", "lease-scheduler-manage --config-file gateway.conf db sync"): (
        f"{_SITES}; tests/functional/gateway/test_program.py starts the program"
    ),
    ("admin/gateway.rst", "openstack lease create seminar"): (
        f"{_SITES}; tests/functional/gateway/test_program.py asks one for leases"
    ),
    ("admin/gateway.rst", "lease-scheduler-manage --config-file gateway.conf gateway reconcile"): (
        f"{_SITES}; tests/functional/gateway/test_reconcile.py compares records with sites"
    ),
    **{
        ("user/sites.rst", beginning): f"{_SITES}; tests/functional/gateway/test_commands.py has one, and runs them all"
        for beginning in (
            "openstack lease site list",
            "openstack lease create render",
            "openstack lease list --site",
        )
    },
    ("user/notifications.rst", '{\n"message_id"'): (
        "a notification that the service sends; tests/functional/embedded/test_subscriptions.py receives such ones"
    ),
    ("user/notifications.rst", "openstack lease ready"): (
        "needs a lease that is about to be preempted; tests/functional/embedded/test_ready.py has one"
    ),
    ("user/lifetimes.rst", "openstack lease create work"): (
        "needs a site that promises lifetimes; tests/functional/embedded/test_attributes.py has one"
    ),
    ("user/leases.rst", "openstack lease show work --expectation"): (
        "needs a lease that waits on a site where 59 others have; tests/unit/client/test_commands.py shows one"
    ),
    ("user/fluid.rst", "openstack lease create batch"): (
        "needs a site with fluid leases; tests/functional/embedded/test_fluid.py has one"
    ),
    ("README.md", "make run"): "make run does not end, and make test would run itself; CI runs make test",
    ("admin/approval.rst", "openstack lease list"): (
        "needs a lease that awaits approval; tests/functional/embedded/test_approval.py decides on such ones"
    ),
    ("admin/agent.rst", "lease-scheduler-manage agent list"): (
        "needs agents; tests/functional/agent/test_rabbitmq.py has some"
    ),
    ("admin/agent.rst", "lease-scheduler-manage agent key"): (
        "needs the secret of a site; tests/functional/agent/test_rabbitmq.py has one"
    ),
    ("admin/agent.rst", '{"cpus"'): "a file of the agent; tests/unit/agent/test_fake.py reads such ones",
    ("admin/calibration.rst", "lease-scheduler-manage --config-file"): _NOVA,
    ("admin/calibration.rst", "lease-scheduler-manage --config-dir"): _NOVA,
    ("admin/calibration.rst", "lease-scheduler-manage register"): (
        "needs a site that has run leases; tests/functional/commands/test_register.py has one"
    ),
    ("admin/devstack.rst", "export PATH"): "needs DevStack",
    ("admin/devstack.rst", "lease-scheduler-manage"): "needs DevStack",
    ("admin/from_blazar.rst", "lease-scheduler-manage import-blazar"): (
        "needs the database of a Blazar; tests/functional/commands/test_blazar_import.py makes one"
    ),
    ("admin/containers.rst", "podman"): "needs Podman as root; tests/functional/container runs it",
    ("admin/containers.rst", ".venv/bin/pytest"): "a slow test",
    ("admin/from_blazar.rst", "openstack resource provider"): "needs a real Placement that Blazar has used",
    ("admin/horizon.rst", "pip install --no-deps"): (
        f"{_CHANGES}; tests/functional/horizon/test_calendar_panel.py installs it for a Horizon"
    ),
    ("admin/horizon.rst", "python3 manage.py"): (
        "needs a Horizon; tests/functional/horizon/test_calendar_panel.py does it in one"
    ),
    ("admin/installation.rst", "make run"): "does not end; tests/functional/embedded starts what it starts",
    ("admin/installation.rst", "python3 -m pip wheel"): (
        "takes all packages from PyPI; tests/functional/commands/test_packages.py installs the wheel"
    ),
    ("admin/installation.rst", "openstack user create"): _KEYSTONE,
    ("admin/installation.rst", "lease-scheduler-manage db sync"): f"{_KEYSTONE}, RabbitMQ and a database server",
    ("admin/installation.rst", "lease-scheduler-manage host add"): f"{_NOVA}; tests/functional/lab adds such hosts",
    ("admin/leaving.rst", "lease-scheduler-manage uninstall"): (
        "needs RabbitMQ for its notifications; tests/functional/reconcile/test_uninstall.py runs both"
    ),
    ("admin/leaving.rst", "systemctl"): _ROOT,
    ("admin/limits.rst", "openstack registered limit"): _KEYSTONE,
    ("admin/nova.rst", "make lab"): "needs a lab of real servers; tests/functional/lab makes one",
    ("admin/nova.rst", "python3 -m lease_scheduler.nova.check"): (
        f"{_NOVA}; tests/in_nova/test_check.py runs the check"
    ),
    ("admin/nova.rst", "rabbitmqctl"): _ROOT,
    ("admin/policies/lifetimes.rst", "openstack flavor"): f"{_NOVA}; tests/in_nova has flavors with these extra specs",
    ("contributor/policy-package.rst", "lease-sim run"): (
        "needs a policy of a third party; tests/unit/policy/test_third_party.py installs one"
    ),
    ("admin/pools.rst", "lease-scheduler-manage"): (
        "needs RabbitMQ and a site with pools; tests/functional/commands/test_pools.py runs them"
    ),
    ("admin/pools.rst", "lease-scheduler-manage pool dissolve"): (
        "needs a site with pools; tests/functional/commands/test_pools.py runs it"
    ),
    ("admin/privacy.rst", "openstack role create"): _KEYSTONE,
    ("admin/production.rst", "rabbitmqctl"): _ROOT,
    ("admin/production.rst", "openstack user create"): _KEYSTONE,
    ("admin/production.rst", "install -m"): _ROOT,
    ("admin/production.rst", '{"status": "degraded"'): "is what a service with faults answers",
    ("contributor/releasing.rst", "PBR_VERSION"): _CHANGES,
    ("contributor/releasing.rst", ".venv/bin/reno"): _CHANGES,
    ("contributor/testing.rst", "make mutate"): "takes minutes, and installs a tool",
    ("contributor/testing.rst", "HYPOTHESIS_PROFILE"): "looks for new examples without end",
    ("contributor/testing.rst", ".venv/bin/pytest -s -m slow tests/functional/nova"): (
        "takes half an hour; it runs the tests that it names"
    ),
    ("contributor/testing.rst", ".venv/bin/pytest -s -m slow tests/functional/rehearsal"): (
        "takes minutes; it runs the tests that it names"
    ),
    ("user/devices.rst", "openstack lease create training"): (
        "needs hosts with GPUs; tests/functional/embedded/test_devices.py leases such ones by the same command"
    ),
    ("user/slurm.rst", "openstack application credential create"): _KEYSTONE,
    ("user/slurm.rst", "systemctl"): _ROOT,
    ("user/slurm.rst", "sbatch"): "needs a Slurm; tests/functional/guest/test_page.py runs it on one",
    ("user/haizea.rst", "haizea -c"): "occupies Haizea's port and runs in real time; tests/functional/frontend does so",
    ("user/simulator.rst", "lease-sim run WORKLOAD"): "is a synopsis",
    ("user/simulator.rst", "#!/bin/sh"): "is a template",
}

#: Blocks that the tests below run, by page and beginning.
README = ("README.md", "curl")
LEASES = [
    ("admin/peers.rst", "openstack lease peer set northern-site"),
    ("admin/peers.rst", "openstack lease peer set gateway"),
    ("admin/peers.rst", "openstack lease peer list"),
    ("user/quickstart.rst", "openstack lease availability"),
    ("user/quickstart.rst", "openstack lease create trial"),
    ("user/command-line.rst", "tomorrow="),
    ("user/command-line.rst", "openstack lease create job"),
    ("user/command-line.rst", "openstack lease create weekend"),
    ("user/approval.rst", "tomorrow="),
    ("admin/monitoring.rst", "openstack lease usage"),
]
FEEDS = [("user/feeds.rst", f"openstack lease feed {command}") for command in ("create", "delete")]
SUBSCRIPTIONS = ("user/notifications.rst", "openstack lease subscription create")
HOSTS = [("admin/power.rst", f"openstack {command}") for command in ("lease host sleep", "reservation host set")]
KINDS = [("user/leases.rst", f'{{"name": "{name}"') for name in ("class", "build", "report", "night")]
QUOTES = [("user/prices.rst", beginning) for beginning in ('{"quote"', '{"name": "course"')]
OPERATORS = [
    ("admin/operation.rst", "lease-scheduler-manage db sync"),
    ("admin/troubleshooting.rst", "lease-scheduler-status upgrade"),
    ("admin/operation.rst", "lease-scheduler-manage reconcile"),
]
#: In the order of the page, since some read what others write.
SIMULATIONS = [
    ("user/simulator.rst", "lease-sim run blue1 --inject t20 --output"),
    ("user/simulator.rst", "lease-sim run blue1 --inject t20 --set"),
    ("user/simulator.rst", "lease-sim convert-data"),
    ("user/simulator.rst", "lease-sim run blue1 --annotate"),
    ("user/simulator.rst", "lease-sim convert SDSC-BLUE"),
    ("user/simulator.rst", "lease-sim run v1.dev"),
    ("user/simulator.rst", "lease-sim convert v1.dev"),
    ("user/simulator.rst", "lease-sim world"),
    ("user/simulator.rst", "lease-sim rate-sweep"),
    ("user/simulator.rst", "lease-sim capacity"),
    ("user/simulator.rst", "lease-sim run blue1 --set simulation.suspend_factor"),
]
RUN = [README, *LEASES, *FEEDS, SUBSCRIPTIONS, *HOSTS, *KINDS, *QUOTES, *OPERATORS, *SIMULATIONS]

_BLOCKS = list(blocks())


def _fitting(block: Block) -> list[tuple[str, str]]:
    """Return the entries that name a block; the longest beginning counts."""
    known = [(page, first) for page, first in (*RUN, *NOT_RUN) if page == block.page and block.script.startswith(first)]
    longest = max((len(first) for _, first in known), default=0)
    return [each for each in known if len(each[1]) == longest]


def _block(entry: tuple[str, str]) -> Block:
    (found,) = [block for block in _BLOCKS if _fitting(block) == [entry]]
    return found


def test_every_block_is_run_or_has_a_reason_not_to_be() -> None:
    strays = [f"{block.page}: {block.script[:60]}" for block in _BLOCKS if len(_fitting(block)) != 1]
    assert not strays, "add them to RUN or, with the reason, to NOT_RUN"
    used = [_fitting(block)[0] for block in _BLOCKS]
    assert sorted(used) == sorted([*RUN, *NOT_RUN]), "an entry names no block, or several"


#: Four hosts, and everything switched on that pages describe.
_OPTIONS = """
[simulated_cloud]
hosts = 4
[tenant_notifications]
enabled_drivers = webhook, mail
mail_sender = leases@example.org
"""


@pytest.fixture(name="site", scope="module")
def _site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """The service with default options, such as the limit on how far ahead a lease may start, and hosts in its pool."""
    folder = tmp_path_factory.mktemp("service")
    running = Server(folder, ["--fill-pool"], configuration=_OPTIONS)
    running.start()
    yield running
    running.kill()


@pytest.fixture(name="service")
def _service(site: Server) -> Iterator[Server]:
    """The service without leases."""
    yield site
    for lease in requests.get(f"{site.url}/v1/leases", headers=_LATEST, timeout=60).json()["leases"]:
        requests.delete(f"{site.url}/v1/leases/{lease['id']}", headers=_LATEST, timeout=60)


def _words(command: str, variables: str = "") -> list[str]:
    """Return the arguments of a command as a shell splits them."""
    script = f"{variables}\nprintf '%s\\0' {command}"
    printed = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True, timeout=60).stdout
    return printed.split("\0")[:-1]


@pytest.mark.parametrize("entry", LEASES)
def test_commands_on_leases(service: Server, entry: tuple[str, str]) -> None:
    """Without new processes, since starting one takes longer than its command."""
    shell = InsideShell(service)
    variables = ""
    for command in _block(entry).commands:
        if not command.startswith("openstack "):
            variables = command
            continue
        outcome = shell.openstack(*_words(command.removeprefix("openstack "), variables))
        assert outcome.status == 0, f"{command}: {outcome.errors}"
        assert outcome.errors == "", command


def test_commands_on_feeds(service: Server) -> None:
    """The printed address works until its feed is deleted."""
    shell = InsideShell(service)
    make, withdraw = (_block(entry) for entry in FEEDS)
    created, listed = (shell.openstack(*_words(each.removeprefix("openstack "))) for each in make.commands)
    assert (created.status, listed.status) == (0, 0), created.errors + listed.errors
    (address,) = re.findall(r"http://\S+/leases\.ics", created.output)
    assert "phone" in listed.output
    assert address not in listed.output
    assert requests.get(address, timeout=60).status_code == 200
    (feed,) = requests.get(f"{service.url}/v1/feeds", headers=_LATEST, timeout=60).json()["feeds"]
    (command,) = withdraw.commands
    deleted = shell.openstack(*_words(command.removeprefix("openstack ").replace("FEED", feed["id"])))
    assert (deleted.status, deleted.output, deleted.errors) == (0, "", "")
    assert requests.get(address, timeout=60).status_code == 404


def test_commands_on_subscriptions(service: Server) -> None:
    """Nothing is sent: what the printed addresses subscribe to does not happen in this test."""
    shell = InsideShell(service)
    made = shell.openstack(
        "lease", "create", "render", "--nodes", "count=1,vcpus=1", "--kind", "best-effort", "--duration", "1h"
    )
    assert made.status == 0, made.errors
    subscription = ""
    for command in _block(SUBSCRIPTIONS).commands:
        words = _words(command.removeprefix("openstack ").replace("SUBSCRIPTION", subscription))
        outcome = shell.openstack(*words)
        assert (outcome.status, outcome.errors) == (0, ""), f"{command}: {outcome.errors}"
        if words[2] == "list":
            known = requests.get(f"{service.url}/v1/subscriptions", headers=_LATEST, timeout=60).json()["subscriptions"]
            assert len(known) == 3
            assert all(each["id"] in outcome.output for each in known)
            subscription = next(each["id"] for each in known if each["driver"] == "mail")
    left = requests.get(f"{service.url}/v1/subscriptions", headers=_LATEST, timeout=60).json()["subscriptions"]
    assert sorted(each["driver"] for each in left) == ["webhook", "webhook"]
    for each in left:
        requests.delete(f"{service.url}/v1/subscriptions/{each['id']}", headers=_LATEST, timeout=60)


def test_commands_on_hosts(service: Server) -> None:
    """The host that sleeps is awake again at the end."""
    shell = InsideShell(service)
    for command in [command for entry in HOSTS for command in _block(entry).commands]:
        outcome = shell.openstack(*_words(command.removeprefix("openstack ")))
        assert (outcome.status, outcome.errors) == (0, ""), f"{command}: {outcome.errors}"

    def are_awake() -> bool:
        hosts = requests.get(f"{service.url}/v1/os-hosts", headers=_LATEST, timeout=60).json()["hosts"]
        return all(host["power_state"] == "awake" for host in hosts)

    until(are_awake)


def test_the_commands_of_the_readme(service: Server) -> None:
    """On another port than that of ``make run``."""
    script = _block(README).text.replace("http://127.0.0.1:1234", service.url).replace(".venv/bin", str(_BIN))
    ended = subprocess.run(["bash", "-ec", script], capture_output=True, text=True, timeout=120, check=False)
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.count("night") == 2, ended.stdout
    assert ended.stderr == "", "the commands print only their answers"


def _body(entry: tuple[str, str]) -> Any:
    """Return a JSON body, with dates in place of its placeholders."""
    text = _block(entry).text
    names = sorted(set(re.findall(r"\$\{([a-z_]+)\}", text)))
    dates: Mapping[str, str] = {name: _words(f"$(date -u -d '{name.replace('_', ' ')}' +%F)")[0] for name in names}
    return json.loads(re.sub(r"\$\{([a-z_]+)\}", lambda match: dates[match[1]], text))


@pytest.mark.parametrize(
    ("entry", "duration"), [pytest.param(*pair, id=pair[0][1]) for pair in zip(KINDS, (4, 2, 3, 2), strict=True)]
)
def test_a_body_of_each_kind_makes_a_lease(service: Server, entry: tuple[str, str], duration: int) -> None:
    body = _body(entry)
    made = requests.post(f"{service.url}/v1/leases", json=body, headers=_LATEST, timeout=60)
    assert made.status_code == 201, made.text
    lease = made.json()["lease"]
    assert (lease["kind"], lease["duration"]) == (body["kind"], duration * 3_600)


def test_the_page_on_leases_has_a_body_of_each_kind() -> None:
    assert {_body(entry)["kind"] for entry in KINDS} == {kind.value for kind in LeaseKind}


def test_the_bodies_of_quotes_are_what_the_service_takes_and_answers(service: Server) -> None:
    held, negotiated = (_body(entry) for entry in QUOTES)
    answer = requests.post(f"{service.url}/v1/quotes", json=negotiated, headers=_LATEST, timeout=60)
    assert answer.status_code in (200, 201), answer.text
    quote = answer.json()["quote"]
    assert quote["granted"] is True, quote
    assert quote["start"] == negotiated["start_date"]
    # The answer has the fields that the page shows.
    assert held["quote"].keys() <= quote.keys()


def test_requests_in_sentences(service: Server) -> None:
    """Each names a route; those that name no lease or the like are sent."""
    routes = [(route.method, re.sub(r"\{\w+\}", r"[^/?]+", route.path)) for route in ROUTES]
    printed = http_requests()
    assert ("GET", "/v1/availability?vcpus=8&count=4&duration=2h") in printed
    for method, path in sorted(printed):
        bare = path.partition("?")[0]
        assert any(method == known and re.fullmatch(pattern, bare) for known, pattern in routes), f"{method} {path}"
        if method == "GET" and "{" not in path and (path != bare or not bare.endswith("availability")):
            answer = requests.get(f"{service.url}{path}", headers=_LATEST, timeout=60)
            assert answer.status_code == 200, f"{path}: {answer.text}"


def test_actions_in_sentences() -> None:
    bodies = [json.loads(text) for page in ("leases", "prices") for text in inline_bodies(f"user/{page}.rst")]
    assert len(bodies) >= 10
    for body in bodies:
        assert find_problems(action, MAXIMUM, body) == (), body


#: What makes a command need a shell for more than its words.
_REDIRECTED = re.compile(r"[<>|&;]")


def _run(command: str, folder: Path, *, allowed: Container[int] = (0,)) -> None:
    """Run a command in a folder that is the user's home as well.

    Loading its modules takes longer than most commands, so programs start from the fork server. Those whose output the
    shell redirects start afresh.
    """
    environment = {**os.environ, "PATH": f"{_BIN}:{os.environ['PATH']}", "HOME": str(folder)}
    if _REDIRECTED.search(command):
        shell = ["bash", "-ec", command]
        ended = subprocess.run(
            shell, cwd=folder, env=environment, capture_output=True, text=True, timeout=300, check=False
        )
    else:
        ended = run_preloaded(*_words(command), folder=folder, limit=300, environment=environment)
    assert ended.returncode in allowed, f"{command}: {ended.stdout}{ended.stderr}"


def test_commands_of_operators(tmp_path: Path) -> None:
    """With a database of their own, which the configuration file of the user names."""
    folder = tmp_path / ".lease-scheduler"
    folder.mkdir()
    lines = f"[database]\nconnection = sqlite:///{tmp_path}/test.sqlite\n[service]\nstate_path = {tmp_path}/state\n"
    lines += "cloud = simulated\n"
    (folder / "lease-scheduler.conf").write_text(lines)
    _run("lease-scheduler-manage db sync", tmp_path)
    for entry in OPERATORS:
        for command in _block(entry).commands:
            # The check warns that the cloud is simulated.
            _run(command, tmp_path, allowed=(0, 1) if "upgrade check" in command else (0,))


def _prepare(folder: Path) -> None:
    """Write what the commands of the page on the simulator read; the workload is short."""
    jobs = [f"{number} {440_070 + 60 * number} 5 900 8 -1 -1 8 3600 -1 1 7 1 1 1 -1 -1 -1" for number in range(1, 7)]
    log = "\n".join(jobs) + "\n"
    (folder / "short.swf").write_text(log)
    (folder / "SDSC-BLUE.swf.gz").write_bytes(gzip.compress(log.encode()))
    (folder / "v1.dev.txt.gz").write_bytes(gzip.compress(b"300 b,b,|,\n"))
    (folder / "v1.dev.c900.txt.gz").write_bytes(gzip.compress(b"300 U0,C2,|,\n"))
    (folder / "flav_map.txt").write_text("1,1.75 b\n")
    (folder / "v1.interval_map.txt").write_text("0 0\n300 1\n600 2\n")
    image = SoftwareTerm(DiskImage("a.img", 10))
    write_annotations(Annotations((LeaseAnnotation(software=image),)), folder / "images.lwfa")
    rates = [LeaseAnnotation(extras={"simul_userrate": rate}) for rate in ("2.00", "1.00") * 3]
    write_annotations(Annotations(tuple(rates)), folder / "rates.lwfa")
    use = "2026-11-01T09:00:00Z,2026-11-01T10:00:00Z,4,16,640"
    for name in ("world.conf", "example.lwf"):
        shutil.copy(PAGES / "user" / name, folder / name)
    (folder / "usage.csv").write_text(f"start,end,node_hours,VCPU_hours,VCPU_capacity_hours\n{use}\n")


def test_simulations(tmp_path: Path) -> None:
    """With a short workload instead of the shipped one, and without its month of reservations."""
    _prepare(tmp_path)
    for entry in SIMULATIONS:
        for command in _block(entry).commands:
            _run(command.replace(" blue1 ", " short.swf ").replace(" --inject t20", ""), tmp_path)
        if (tmp_path / "run.json").exists():
            # The page puts the runs of several files together.
            shutil.copy(tmp_path / "run.json", tmp_path / "run-1.json")
    tables = ("perrun.csv", "perlease.csv", "utilization.csv", "sweep.csv", "output/world/requests.csv")
    for name in (*tables, "month.lwf", "capacity.png"):
        assert (tmp_path / name).stat().st_size > 0, name


@pytest.mark.slow
def test_the_recorded_month(tmp_path: Path) -> None:
    """The first simulation of the page, without any change."""
    (command,) = _block(SIMULATIONS[0]).commands
    _run(command, tmp_path)
    assert (tmp_path / "output" / "blue1-t20" / "summary.json").exists()
