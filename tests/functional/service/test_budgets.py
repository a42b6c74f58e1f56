"""Budgets in the service: what was used, what is planned, and what a new or changed lease adds."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lease_scheduler.conf import enforcement
from lease_scheduler.model.errors import EngineUnavailableError, RefusedError
from lease_scheduler.plan.plan import NotPlannableError
from lease_scheduler.service.requests.budgets import BudgetReport
from lease_scheduler.service.requests.enforcement import Enforcement
from lease_scheduler.service.requests.enforcement.base import FilterOptions
from lease_scheduler.service.requests.enforcement.budget import BudgetFilter
from tests.functional.service.site import HOUR, Service
from tests.servers.base import wait_until


def _filter() -> BudgetFilter:
    values = {option.dest: option.default for option in enforcement.OPTIONS}
    values |= {"budget_node_hours": 10, "budget_period": "year"}
    return BudgetFilter(FilterOptions(values, lambda: None))


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    """A service that gives each project ten node-hours a year."""
    found = Service(tmp_path, "constant", {}, filters=[_filter()])
    yield found
    found.close()


def _left(lines: list[dict[str, Any]]) -> list[float]:
    return [line["left"] for line in lines]


def _budget(service: Service, project_id: str) -> dict[str, Any]:
    """Return the budget of the present year."""
    (line,) = BudgetReport(service.site, Enforcement([_filter()])).show({}, project_id)["budget"]
    return dict(line)


def test_the_life_of_a_budget(service: Service) -> None:
    document = service.document(2)
    project_id = document["project_id"]
    start = document["start"]
    long = {**document, "end": start + 4 * HOUR}
    assert _left(service.quotes.quote({}, long)["budget"]) == [2.0]
    lease_id = service.leases.create({}, long)["lease_id"]
    line = _budget(service, project_id)
    assert (line["used"], line["reserved"], line["left"]) == (0.0, 8.0, 2.0)

    other = {**service.document(1), "start": start + 5 * HOUR, "end": start + 8 * HOUR}
    assert _left(service.quotes.quote({}, other)["budget"]) == [-1.0]
    with pytest.raises(RefusedError, match="end_date: the project has 2 of 10 node_hours left") as refused:
        service.leases.create({}, other)
    assert refused.value.code == 403
    offer = service.leases.offer({}, {**other, "end": start + 6 * HOUR})
    assert _left(offer["budget"]) == [1.0]
    assert _budget(service, project_id)["left"] == 1.0
    service.offers.reject({}, offer["lease_id"])

    # The lease may get shorter, and longer by no more than what is left.
    quote = service.quotes.quote_change({}, lease_id, {"end": start + 3 * HOUR})
    assert _left(quote["budget"]) == [4.0]
    service.leases.update({}, lease_id, {"end": start + 3 * HOUR})
    with pytest.raises(RefusedError, match="the changed lease would still use 12 in this time"):
        service.leases.update({}, lease_id, {"end": start + 6 * HOUR})

    # What it has used stays used after an early end; the rest is free again.
    service.clock.jump(HOUR)
    assert wait_until(service.is_in(lease_id, "active"), 60)
    service.clock.jump(HOUR)
    line = _budget(service, project_id)
    assert line["used"] == pytest.approx(2.0, abs=0.1)
    assert line["reserved"] == pytest.approx(4.0, abs=0.1)
    service.leases.end({}, lease_id)
    assert wait_until(service.is_in(lease_id, "done"), 60)
    line, now = _budget(service, project_id), service.clock.now()
    rows = service.reader.usage(project_id, 0, now, now)
    assert line["reserved"] == 0.0
    assert line["used"] == pytest.approx(sum(row["node_seconds"] for row in rows) / HOUR)
    assert line["left"] == pytest.approx(10.0 - line["used"])


def test_a_change_that_no_filter_has_weighed_is_not_granted(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    """Hosts get free between the check, which finds no place, and the change."""
    document = service.document(2)
    lease_id = service.leases.create({}, document)["lease_id"]
    quote_change, asked = service.site.engine.quote_change, []

    def first_without_place(*arguments: Any, **named: Any) -> Any:
        asked.append(arguments)
        if len(asked) == 1:
            raise NotPlannableError("taken")
        return quote_change(*arguments, **named)

    monkeypatch.setattr(service.site.engine, "quote_change", first_without_place)
    with pytest.raises(EngineUnavailableError, match="the plan has changed"):
        service.leases.update({}, lease_id, {"end": document["start"] + 300 * HOUR})
    assert len(asked) == 2
    assert _budget(service, document["project_id"])["reserved"] == pytest.approx(
        2 * (document["end"] - document["start"]) / HOUR
    )
