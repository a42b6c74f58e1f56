"""Our resources for openstacksdk, against a running service."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import openstack
import pytest
import requests
from openstack import exceptions

from lease_scheduler.api.microversions import MAXIMUM
from lease_scheduler.api.schemas import feeds, floatingips, hosts, leases, maintenances, quotes, series, subscriptions
from lease_scheduler.model.states import FINAL_STATES
from lease_scheduler.sdk import add_to, base, proxy, resources
from tests.compat.printed import ROOT
from tests.compat.shell import TOKEN, ReservationService

# The SDK warns about its own parts, which have nothing to do with us.
pytestmark = pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")

_NODES = [{"count": 1, "resources": {"VCPU": 1, "MEMORY_MB": 512}}]


def _connect(service: ReservationService) -> Any:
    endpoint = f"{service.url}/v1"
    login: dict[str, Any] = {"auth_type": "admin_token", "auth": {"endpoint": endpoint, "token": TOKEN}}
    return openstack.connect(
        load_yaml_config=False, load_envvars=False, reservation_endpoint_override=endpoint, **login
    )


@pytest.fixture
def reservation(reservation_service: ReservationService) -> Iterator[proxy.Proxy]:
    # openstacksdk puts services into the class: other tests need the one that it had.
    class_: Any = openstack.connection.Connection
    before = class_.reservation
    connection = _connect(reservation_service)
    add_to(connection)
    for number in (1, 2):
        connection.reservation.create_host(f"compute-{number}")
    yield connection.reservation
    class_.reservation = before


def _ask(reservation: proxy.Proxy, **terms: Any) -> resources.Lease:
    return reservation.create_lease(**{"name": "sdk", "kind": "reservation", "nodes": _NODES, **terms})


def test_a_lease_from_beginning_to_end(reservation: proxy.Proxy) -> None:
    chosen = str(uuid4())
    terms = {"id": chosen, "start_date": "2040-03-01 10:00", "duration": "4h", "extras": {"course": "7"}}
    lease = _ask(reservation, **terms)
    assert (lease.id, lease.kind, lease.status, lease.duration) == (chosen, "reservation", "PENDING", 4 * 3_600)
    assert (lease.extras, lease.is_preemptible) == ({"course": "7"}, False)
    assert _ask(reservation, **terms).id == chosen
    assert [each.id for each in reservation.leases()] == [chosen]
    found = reservation.find_lease("sdk")
    assert found is not None
    assert found.end_date == "2040-03-01T14:00:00.000000"
    assert reservation.find_lease("other") is None
    quote = reservation.quote_lease_change(lease, extend={"by": "1h"})
    assert (quote.is_granted, quote.end) == (True, "2040-03-01T15:00:00Z")
    assert reservation.get_lease(lease).end_date == "2040-03-01T14:00:00.000000"
    old = lease.version
    assert reservation.extend_lease(lease, by="1h").end_date == "2040-03-01T15:00:00.000000"
    assert reservation.shrink_lease(chosen, by="30m").end_date == "2040-03-01T14:30:00.000000"
    assert reservation.move_lease(chosen, start_date="2040-03-01 11:00").start_date == "2040-03-01T11:00:00.000000"
    with pytest.raises(exceptions.ConflictException, match="changed meanwhile"):
        reservation.update_lease(chosen, name="other", version=old)
    assert reservation.update_lease(chosen, name="other").name == "other"
    assert [each["hypervisor_hostname"] for each in reservation.lease_hosts(chosen)]
    assert reservation.cancel_lease(chosen, reason="the course is over").state == "cancelled"
    assert reservation.lease_history(chosen)[-1]["reason"] == "the course is over"
    reservation.delete_lease(chosen)
    reservation.delete_lease(chosen)
    with pytest.raises(exceptions.NotFoundException):
        reservation.get_lease(chosen)


def test_a_list_has_all_pages(reservation: proxy.Proxy) -> None:
    ids = {_ask(reservation, name=f"sdk-{n}", start_date="2040-03-01 10:00", duration="1h").id for n in range(5)}
    assert {each.id for each in reservation.leases(limit=2)} == ids
    assert [each.name for each in reservation.leases(sort_key="name", sort_dir="desc", name="sdk-3")] == ["sdk-3"]
    _ask(reservation, name="sdk-3", start_date="2040-03-02 10:00", duration="1h")
    with pytest.raises(exceptions.DuplicateResource):
        reservation.find_lease("sdk-3")


def test_a_lease_is_waited_for(reservation: proxy.Proxy) -> None:
    lease = _ask(reservation, kind="immediate", duration="1h")
    assert reservation.wait_for_lease(lease, interval=0.1, wait=60).state == "active"
    reservation.end_lease(lease)
    with pytest.raises(exceptions.ResourceFailure):
        reservation.wait_for_lease(reservation.get_lease(lease), "queued", interval=0.1, wait=60)
    assert set(proxy._OVER) == {state.value for state in FINAL_STATES}


def test_refusals_have_the_message_of_the_service(reservation: proxy.Proxy) -> None:
    with pytest.raises(exceptions.BadRequestException, match="duration"):
        _ask(reservation, kind="immediate", duration="some")


def test_quotes(reservation: proxy.Proxy) -> None:
    terms = {"name": "held", "kind": "reservation", "nodes": _NODES, "start_date": "2040-03-01 10:00", "duration": "1h"}
    quote = reservation.create_quote(**terms)
    assert (quote.is_granted, quote.start, quote.lease_id) == (True, "2040-03-01T10:00:00Z", None)
    held = reservation.create_quote(**terms, hold=True)
    lease = reservation.get_lease(held.lease_id)
    assert lease.expires_at == held.expires_at
    assert reservation.counter_lease(lease, duration="2h").end_date == "2040-03-01T12:00:00.000000"
    assert reservation.accept_lease(lease).expires_at is None
    other = reservation.create_quote(**terms, hold=True)
    assert reservation.reject_lease(other.lease_id).state == "rejected-by-user"


def test_what_is_free_and_what_was_used(reservation: proxy.Proxy) -> None:
    free = reservation.get_availability(start="2040-03-01", end="2040-03-02", duration="2h", count=2, vcpus=1)
    assert free.earliest == free.free["earliest"] == "2040-03-01T00:00:00Z"
    assert free.windows[0]["count"] >= 2
    (of_project,) = reservation.get_usage(interval="day").usage
    assert (of_project["node_hours"], of_project["history"]) == (0, [])
    known = reservation.get_events(limit=0)
    assert (known.events, known.more) == ([], False)
    assert all(event["sequence"] <= known.next for event in reservation.get_events().events)
    # The site has no budgets.
    assert reservation.get_budget().lines is None
    (need,) = reservation.get_capacity(promises="0.95").promises
    assert (need["hosts"], need["least_days"]) == (None, 59)
    rows = reservation.get_capacity(fewer_hosts="0,1,3").least_yields
    assert [(row["fewer"], row["hosts"], row["least_yield"]) for row in rows] == [
        (0, 2, 1.0),
        (1, 1, 1.0),
        (3, 0, None),
    ]
    assert [len(row["without"]) for row in rows] == [0, 1, 0]
    assert list(reservation.forecasts()) == []


def test_series(reservation: proxy.Proxy) -> None:
    first = {"name": "weekly", "nodes": _NODES, "start_date": "2040-03-01 10:00", "duration": "1h"}
    made = reservation.create_series(name="weekly", rule="FREQ=WEEKLY;COUNT=3", time_zone="Europe/Berlin", lease=first)
    assert (len(made.leases), made.refused) == (3, [])
    assert [each.id for each in reservation.series()] == [made.id]
    assert reservation.get_series(made).leases == made.leases
    assert reservation.get_series(made).time_zone == "Europe/Berlin"
    assert {each.id for each in reservation.leases(series_id=made.id)} == set(made.leases)
    reservation.delete_series(made)
    assert list(reservation.series()) == []


def test_pools(reservation: proxy.Proxy) -> None:
    """A site with one pool has none to choose from."""
    assert list(reservation.pools()) == []


def test_feeds(reservation: proxy.Proxy) -> None:
    made = reservation.create_feed("phone")
    assert requests.get(made.url, timeout=30).headers["Content-Type"].startswith("text/calendar")
    assert [each.id for each in reservation.feeds()] == [made.id]
    assert (reservation.get_feed(made.id).name, reservation.get_feed(made.id).url) == ("phone", None)
    reservation.delete_feed(made)
    assert requests.get(made.url, timeout=30).status_code == 404


def test_the_pool(reservation: proxy.Proxy) -> None:
    host = next(iter(reservation.hosts()))
    assert host.vcpus > 0
    changed = reservation.update_host(host.id, rack="7")
    assert (changed["rack"], reservation.get_host(host.id).to_dict()["rack"]) == ("7", "7")
    terms = {"name": "disks", "start_date": "2040-03-01 10:00", "duration": "1h", "hosts": [host.hypervisor_hostname]}
    made = reservation.create_maintenance(**terms)
    assert [each.id for each in reservation.maintenances()] == [made.id]
    assert made.is_maintenance
    reservation.delete_lease(made.id)
    address = reservation.create_floating_ip(floating_network_id=str(uuid4()), floating_ip_address="192.0.2.7")
    assert reservation.get_floating_ip(address.id).floating_ip_address == "192.0.2.7"
    reservation.delete_floating_ip(address)
    assert list(reservation.floating_ips()) == []
    reservation.delete_host(host)
    assert reservation.create_host(host.hypervisor_hostname, rack="8").is_reservable


def test_the_documented_program(
    reservation: proxy.Proxy, reservation_service: ReservationService, tmp_path: Path
) -> None:
    """It runs with a clouds.yaml, as the page says."""
    endpoint = f"{reservation_service.url}/v1"
    cloud = {
        "auth_type": "admin_token",
        "auth": {"endpoint": endpoint, "token": TOKEN},
        "reservation_endpoint_override": endpoint,
        "vendor_hook": "lease_scheduler.sdk:add_to",
    }
    # JSON is YAML.
    (tmp_path / "clouds.yaml").write_text(json.dumps({"clouds": {"example": cloud}}))
    ended = subprocess.run(
        [sys.executable, "-W", "ignore", str(ROOT / "doc" / "source" / "user" / "sdk_example.py")],
        env={**os.environ, "OS_CLIENT_CONFIG_FILE": str(tmp_path / "clouds.yaml")},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    (lease,) = reservation.leases()
    assert ended.stdout.splitlines()[-1] == f"{lease.id} runs until {lease.end_date}"


def test_the_page_lists_all_methods() -> None:
    page = (ROOT / "doc" / "source" / "user" / "sdk.rst").read_text()
    methods = {name for name in vars(proxy.Proxy) if not name.startswith("_")}
    assert {name for name in methods if f"``{name}``" not in page} == set()


def _properties(schema: dict[str, Any], key: str) -> set[str]:
    found = schema["properties"][key]
    return set(found.get("items", found)["properties"])


@pytest.mark.parametrize(
    ("kind", "answers", "only_asked"),
    [
        (resources.Lease, leases, {"before_end_date", "nodes"}),
        (resources.Maintenance, maintenances, {"before_end_date", "nodes", "hosts"}),
        (resources.Quote, quotes, set()),
        (resources.Series, series, {"lease", "refused"}),
        (resources.Subscription, subscriptions, {"secret"}),
        (resources.Feed, feeds, {"url"}),
        (resources.FloatingIP, floatingips, set()),
        (resources.Host, hosts, set()),
    ],
)
def test_resources_have_the_attributes_of_the_newest_microversion(
    kind: Any, answers: Any, only_asked: set[str]
) -> None:
    shown = _properties(answers.one(MAXIMUM), kind.resource_key)
    # Every resource of openstacksdk has these.
    everywhere = {"id", "name", "location", "created_at", "updated_at"}
    assert set(kind._body_mapping()) - only_asked - everywhere == shown - everywhere
    assert str(MAXIMUM) == base.MAXIMUM_MICROVERSION
