from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tests.servers.base import ServerError
from tests.servers.reservation import ReservationService

from .conftest import Client, Start
from .outside import Keystone

_CONFIGURATION = """[simulated_cloud]
hosts = 40
[enforcement]
enabled_filters = MaxLeaseDurationFilter, QuotaFilter
max_lease_duration = 864000
max_lease_duration_exempt_project_ids = archive
limit_leases = 3
project_limits = many leases=-1 node_hours=10
project_limits = short leases=-1 duration_hours=2
project_limits = near leases=-1 horizon_hours=24
project_limits = planned leases=-1 lead_time_minutes=60
project_limits = archive leases=-1
"""
_INSTANCE = [{"count": 1, "resources": {"VCPU": 1}}]


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    """A service for all tests; each test has a project of its own."""
    service = ReservationService(tmp_path_factory.mktemp("service"), configuration=_CONFIGURATION)
    service.start()
    found = Client(service)
    found.fill_pool()
    yield found
    service.kill()


def _date(later: int) -> str:
    return datetime.fromtimestamp(time.time() + later, UTC).isoformat()


def test_of_leases_asked_for_at_the_same_time_as_many_are_made_as_the_limit_says(client: Client) -> None:
    with ThreadPoolExecutor(12) as pool:
        answers = list(pool.map(lambda _: client.create("racing", nodes=_INSTANCE), range(12)))
    codes = sorted(answer.status_code for answer in answers)
    assert codes == [201] * 3 + [403] * 9
    messages = {answer.json()["error_message"] for answer in answers if answer.status_code == 403}
    assert messages == {"Quota exceeded for leases: limit 3, used 3, requested 1"}
    assert client.lease_count("racing") == 3


def test_what_is_over_is_not_counted_any_more(client: Client) -> None:
    made = [client.create("ending", nodes=_INSTANCE).json()["lease"]["id"] for _ in range(3)]
    assert client.create("ending", nodes=_INSTANCE).status_code == 403
    assert client.ask("DELETE", f"leases/{made[0]}", "ending").status_code == 204
    assert client.create("ending", nodes=_INSTANCE).status_code == 201
    # Other projects have limits of their own.
    assert client.create("other", nodes=_INSTANCE).status_code == 201


def test_node_hours_are_those_of_all_live_leases(client: Client) -> None:
    two = [{"count": 2, "resources": {"VCPU": 1}}]
    made = client.create("many", nodes=two, duration="3h").json()["lease"]["id"]
    refused = client.create("many", nodes=two, duration="2h1m")
    assert refused.status_code == 403
    assert refused.json()["error_message"] == "Quota exceeded for node_hours: limit 10, used 6, requested 5"
    assert client.create("many", nodes=two, duration="2h").status_code == 201
    longer = client.ask("PUT", f"leases/{made}", "many", json={"duration": "3h1m"})
    assert longer.status_code == 403, longer.text
    assert client.ask("PUT", f"leases/{made}", "many", json={"duration": "1h"}).status_code == 200
    again = client.ask("PUT", f"leases/{made}", "many", json={"duration": "2h"})
    assert again.status_code == 200, again.text


def test_a_lease_may_not_last_too_long(client: Client) -> None:
    assert client.create("short", nodes=_INSTANCE, duration="2h").status_code == 201
    refused = client.create("short", nodes=_INSTANCE, duration=7_201)
    assert refused.status_code == 403
    assert refused.json()["error_message"] == "Quota exceeded for duration_hours: limit 2, used 0, requested 3"
    assert refused.json()["field"] == "end_date"


def test_a_lease_may_not_end_too_far_ahead(client: Client) -> None:
    near: dict[str, Any] = {"kind": "reservation", "nodes": _INSTANCE, "duration": "1h"}
    made = client.create("near", start_date=_date(20 * 3_600), **near)
    assert made.status_code == 201, made.text
    assert client.create("near", start_date=_date(24 * 3_600), **near).status_code == 403
    assert client.create("near", nodes=_INSTANCE, duration="25h").status_code == 403
    later = client.ask("PUT", f"leases/{made.json()['lease']['id']}", "near", json={"duration": "6h"})
    assert later.status_code == 403
    # A best-effort lease has no fixed end that could be too far away.
    assert client.create("near", kind="best-effort", nodes=_INSTANCE, duration="30h").status_code == 201


def test_a_reservation_must_be_asked_for_in_time(client: Client) -> None:
    terms: dict[str, Any] = {"kind": "reservation", "nodes": _INSTANCE, "duration": "1h"}
    refused = client.create("planned", start_date=_date(3_000), **terms)
    assert refused.status_code == 403
    assert "lead_time_minutes" in refused.json()["error_message"]
    made = client.create("planned", start_date=_date(4_200), **terms)
    assert made.status_code == 201
    path = f"leases/{made.json()['lease']['id']}"
    assert client.ask("PUT", path, "planned", json={"duration": "2h"}).status_code == 200
    sooner = client.ask("PUT", path, "planned", json={"start_date": _date(1_800), "end_date": _date(9_000)})
    assert sooner.status_code == 403, sooner.text


def test_the_longest_duration_is_that_of_blazar_s_filter(client: Client) -> None:
    refused = client.create("lasting", nodes=_INSTANCE, duration="11d")
    assert refused.status_code == 403
    assert "at most 10 d" in refused.json()["error_message"]
    endless = client.ask(
        "POST", "leases", "lasting", json={"name": "endless", "kind": "best-effort", "nodes": _INSTANCE}
    )
    assert endless.status_code == 403
    assert client.create("archive", nodes=_INSTANCE, duration="11d").status_code == 201


def test_who_has_no_place_is_told_so_and_not_asked_for_a_quota(client: Client) -> None:
    refused = client.create("crowd", count=5)
    assert refused.status_code == 409
    assert refused.json()["error_message"].startswith("Not enough hosts available")


def test_limits_are_those_of_keystone(start: Start, keystone: Keystone) -> None:
    for name in ("leases", "node_hours", "duration_hours", "horizon_hours", "lead_time_minutes"):
        keystone.limits[None, f"reservation:{name}"] = -1
    keystone.limits[None, "reservation:leases"] = 1
    keystone.limits["rich", "reservation:leases"] = 2
    client = start(
        "[enforcement]\nenabled_filters = QuotaFilter\nlimits_source = keystone\nlimits_lifetime = 0\n"
        f"[oslo_limit]\nendpoint_id = reservation-endpoint\n{keystone.credentials()}"
    )
    for project, number in (("poor", 1), ("rich", 2)):
        codes = [client.create(project, nodes=_INSTANCE).status_code for _ in range(number + 1)]
        assert codes == [201] * number + [403], project
    keystone.limits["poor", "reservation:leases"] = 2
    assert client.create("poor", nodes=_INSTANCE).status_code == 201
    # An unregistered limit is 0, as in oslo.limit.
    del keystone.limits[None, "reservation:node_hours"]
    refused = client.create("third", nodes=_INSTANCE)
    assert (refused.status_code, "node_hours" in refused.json()["error_message"]) == (403, True)
    keystone.stop()
    away = client.create("third", nodes=_INSTANCE)
    assert away.status_code == 503
    assert "Keystone" in away.json()["error_message"]


def test_a_mistake_in_the_configuration_ends_the_program_with_its_name(tmp_path: Path) -> None:
    lines = "[enforcement]\nenabled_filters = QuotaFilter\nproject_limits = someone leases=few\n"
    with pytest.raises(ServerError, match="enforcement.project_limits: 'someone leases=few': leases must be"):
        ReservationService(tmp_path, configuration=lines).start()
