"""How quickly leases take effect on OpenStack: ``python -m benchmarks.nova_leases [--output DIR] [--quick]``.

It runs on the lab of the functional tests: real Keystone, Placement, Glance and Nova with fake hypervisors. A real
hypervisor takes longer to shelve and to boot; this measures the overhead of the services, including ours.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median

from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table

from benchmarks.machine import console
from lease_scheduler.cloud.nova.api import names
from tests.functional.lab.service import LIMIT, PREPARATION, QUARTER, Document, Service, in_seconds, running_service
from tests.servers.base import MissingServerError
from tests.servers.fixtures import LAB_HOSTS, running
from tests.servers.openstack.lab import Lab
from tests.servers.openstack.notifications import NotificationRecorder

#: Seconds between two checks whether something has happened.
_LOOK = 0.02

#: Seconds from the request for a reservation to its start. The preemption has to start ``preparation_time`` before
#: that.
_NOTICE = PREPARATION + 12

#: Nodes that fill all hosts.
_NODES = 4 * len(LAB_HOSTS)

Figures = dict[str, list[float]]


def main() -> None:
    given = _arguments()
    out = console()
    given.output.mkdir(parents=True, exist_ok=True)
    given.environment.mkdir(parents=True, exist_ok=True)
    cache = given.environment.resolve()
    try:
        with (
            running(lambda folder: Lab(folder, cache, LAB_HOSTS, report=out.print)) as lab,
            running_service(lab) as service,
            NotificationRecorder(lab.rabbitmq) as recorder,
        ):
            beginnings = _beginnings(service, recorder, 3 if given.quick else 20)
            preemptions = _preemptions(service, recorder, 1 if given.quick else 10)
    except MissingServerError as error:
        raise SystemExit(str(error)) from error
    tables = [
        _table("an immediate lease: seconds from POST", beginnings),
        _table(f"a reservation that preempts {_NODES} servers on {len(LAB_HOSTS)} hosts: seconds", preemptions),
    ]
    with (given.output / "nova-leases.txt").open("w") as file:
        for table in tables:
            out.print(table)
            Console(file=file, width=118).print(table)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.nova_leases", description="Times leases on a real OpenStack with fake hypervisors."
    )
    parser.add_argument("--output", type=Path, default=Path("output/benchmarks"), help="where tables go")
    parser.add_argument(
        "--environment",
        type=Path,
        default=Path(".pytest_cache/d/openstack"),
        help="folder of the OpenStack services, which the tests use too; they are installed unless they are there",
    )
    parser.add_argument("--quick", action="store_true", help="few leases: to see whether it works")
    return parser.parse_args()


def _beginnings(service: Service, recorder: NotificationRecorder, count: int) -> Figures:
    """Measure immediate leases of two nodes on free hosts."""
    figures: Figures = {}
    for number in range(count + 1):
        begun = time.time()
        lease = service.lease(service.ada, kind="immediate", duration=600, nodes=[{"count": 2, "resources": QUARTER}])
        found = {"answer": time.time() - begun}
        found["capacity held"] = _when(lambda lease=lease: _is_held(service, lease, 2)) - begun  # type: ignore[misc]
        found["aggregate has its host"] = recorder.wait_for("aggregate.add_host.end", since=begun).at - begun
        found["active"] = _when(lambda lease=lease: service.state(lease) == "active") - begun  # type: ignore[misc]
        service.is_cancelled(lease)
        service.nothing_left()
        # The first one is slower, because all caches are cold.
        if number:
            for name, seconds in found.items():
                figures.setdefault(name, []).append(seconds)
    return figures


def _preemptions(service: Service, recorder: NotificationRecorder, count: int) -> Figures:
    """Measure reservations of all hosts for which best-effort leases on all hosts have to make room."""
    figures: Figures = {}
    for _ in range(count):
        victim = service.lease(
            service.ada,
            kind="best-effort",
            duration=3_600,
            nodes=[{"count": _NODES, "resources": QUARTER}],
            servers=[service.template()],
        )
        service.becomes(victim, "active")
        (start_date, start), (end_date, _) = in_seconds(_NOTICE), in_seconds(_NOTICE + 30)
        preemptor = service.lease(
            service.bob,
            kind="reservation",
            start_date=start_date,
            end_date=end_date,
            nodes=[{"count": len(LAB_HOSTS), "exclusive": True, "resources": QUARTER}],
            servers=[service.template()],
        )
        servers = [each["id"] for each in service.servers(service.ada)]
        service.becomes(preemptor, "active")
        shelved = [recorder.wait_for("instance.shelve.start", each).at for each in servers]
        offloaded = [recorder.wait_for("instance.shelve_offload.end", each).at for each in servers]
        booted = [recorder.wait_for("instance.create.end", each["id"]).at for each in service.servers(service.bob)]
        found = {
            "first shelved to last offloaded": max(offloaded) - min(shelved),
            "last offloaded to start": start - max(offloaded),
            "last of its servers booted to start": start - max(booted),
            "active after start": service.became(preemptor, "active") - start,
        }
        for name, seconds in found.items():
            figures.setdefault(name, []).append(seconds)
        for lease in (preemptor, victim):
            service.is_cancelled(lease)
        service.nothing_left()
    return figures


def _is_held(service: Service, lease: Document, count: int) -> bool:
    consumers = [names.consumer(lease["id"], number) for number in range(count)]
    return all(service.admin.placement("GET", f"/allocations/{each}")["allocations"] for each in consumers)


def _when(is_so: Callable[[], bool]) -> float:
    """Wait until a condition is true and return the instant."""
    end = time.time() + LIMIT
    while not is_so():
        if time.time() > end:
            raise SystemExit("what is waited for does not happen")
        time.sleep(_LOOK)
    return time.time()


def _table(title: str, figures: Figures) -> Table:
    table = Table(title=title, box=SIMPLE, pad_edge=False, padding=(0, 0, 0, 1))
    table.add_column("")
    for heading in ("times", "median", "smallest", "largest"):
        table.add_column(heading, justify="right")
    for name, values in figures.items():
        table.add_row(name, str(len(values)), *(f"{value:.2f}" for value in _summary(values)))
    return table


def _summary(values: Sequence[float]) -> tuple[float, float, float]:
    return median(values), min(values), max(values)


if __name__ == "__main__":
    main()
