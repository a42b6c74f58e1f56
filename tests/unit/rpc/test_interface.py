"""Requests to the engine are declared once; client, service and version follow from the declaration.

``requests.txt`` has a line for each change of a request: the version that introduced it, and its signature. The first
version has many lines; each later line is a version of its own. Removing a request needs a new major version.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lease_scheduler.model.documents import Document
from lease_scheduler.rpc.client import RpcEngineClient
from lease_scheduler.rpc.interface import METHODS, VERSION, EngineRequests, answers, methods_of
from lease_scheduler.service.requests.approvals import Approvals
from lease_scheduler.service.requests.budgets import BudgetReport
from lease_scheduler.service.requests.feeds import FeedKeeper
from lease_scheduler.service.requests.fewer_hosts import FewerHostsReport
from lease_scheduler.service.requests.flows import FlowKeeper
from lease_scheduler.service.requests.forecasts import ForecastReport
from lease_scheduler.service.requests.inspection import Inspection
from lease_scheduler.service.requests.leases import Leases
from lease_scheduler.service.requests.negotiations import Negotiations
from lease_scheduler.service.requests.offers import Offers
from lease_scheduler.service.requests.peers import PeerKeeper
from lease_scheduler.service.requests.pool import PoolKeeper
from lease_scheduler.service.requests.quotes import Quotes
from lease_scheduler.service.requests.series import SeriesKeeper
from lease_scheduler.service.requests.subscriptions import SubscriptionKeeper
from lease_scheduler.service.requests.uninstall import Uninstall

#: Number of requests in the first version.
_FIRST = 25

_PARTS = (
    BudgetReport,
    Leases,
    Quotes,
    Offers,
    Approvals,
    Negotiations,
    SeriesKeeper,
    SubscriptionKeeper,
    FeedKeeper,
    FlowKeeper,
    PeerKeeper,
    FewerHostsReport,
    ForecastReport,
    PoolKeeper,
    Uninstall,
    Inspection,
)


def _changes() -> Iterator[tuple[str, str, str]]:
    """Yield version, name and signature of each line of the file."""
    for line in (Path(__file__).parent / "requests.txt").read_text().splitlines():
        version, _, declared = line.partition(" ")
        yield version, declared.partition("(")[0], declared


def _declared(name: str) -> str:
    signature = inspect.signature(getattr(EngineRequests, name))
    kept = [parameter for key, parameter in signature.parameters.items() if key not in ("self", "context")]
    shown = signature.replace(parameters=kept, return_annotation=inspect.Signature.empty)
    return f"{name}{shown}".replace("'", "")


def test_the_version_grows_with_every_added_or_changed_request() -> None:
    known = {name: declared for _, name, declared in _changes()}
    now = {name: _declared(name) for name in METHODS}
    news = "\n".join(now[name] for name in METHODS if known.get(name) != now[name])
    assert not news, f"increase VERSION in rpc/interface.py, and add to requests.txt, after that version:\n{news}"
    assert now.keys() == known.keys(), "a request is gone: begin requests.txt anew, with a new first number of VERSION"
    versions = [version for version, _, _ in _changes()]
    major = VERSION.partition(".")[0]
    later = [f"{major}.{number}" for number in range(1, len(versions) - _FIRST + 1)]
    assert versions == [f"{major}.0"] * _FIRST + later, "each line after the first version's has a version of its own"
    assert versions[-1] == VERSION


def _service(*parts: type) -> list[object]:
    return [object.__new__(part) for part in parts]


def test_the_service_answers_every_request() -> None:
    assert methods_of(*_service(*_PARTS)).keys() == set(METHODS)
    with pytest.raises(TypeError, match="^nothing answers create_series, delete_series$"):
        methods_of(*_service(*(part for part in _PARTS if part is not SeriesKeeper)))
    with pytest.raises(TypeError, match="^two methods answer "):
        methods_of(*_service(*_PARTS, Inspection))


@pytest.mark.parametrize("name", METHODS)
def test_a_method_takes_the_arguments_of_its_request(name: str) -> None:
    def arguments(function: Any) -> list[tuple[str, Any, Any]]:
        parameters = list(inspect.signature(function).parameters.values())
        return [(each.name, each.kind, each.default) for each in parameters if each.name != "self"]

    method = methods_of(*_service(*_PARTS))[name]
    assert arguments(method) == arguments(getattr(EngineRequests, name))


def test_a_method_is_marked_with_the_request_that_it_answers() -> None:
    class Part:
        @answers(EngineRequests.end_lease)
        def finish(self, context: Document, lease_id: str) -> Document:
            return {"ended": lease_id}

    with pytest.raises(TypeError, match="nothing answers"):
        methods_of(Part())
    assert Part().finish({}, "1") == {"ended": "1"}


class _Asked(RpcEngineClient):
    """Records what would be sent."""

    def __init__(self) -> None:
        self.sent: list[tuple[str, Document]] = []

    def _ask(self, context: Document, method: str, arguments: Document) -> Document:
        self.sent.append((method, arguments))
        return {"context": context}


def test_the_client_sends_what_it_is_given() -> None:
    client = _Asked()
    assert client.accept_lease({"user_id": "u"}, "1", trust_id="2") == {"context": {"user_id": "u"}}
    client.move_lease({}, lease_id="1", hosts_away=["a"])
    client.update_property({}, "physical:host", "gpu", False)
    assert client.sent == [
        ("accept_lease", {"lease_id": "1", "trust_id": "2"}),
        ("move_lease", {"lease_id": "1", "hosts_away": ["a"]}),
        ("update_property", {"resource_type": "physical:host", "name": "gpu", "private": False}),
    ]
    with pytest.raises(TypeError, match="unexpected keyword argument 'reason'"):
        client.end_lease({}, "1", reason="none")  # type: ignore[call-arg]


def test_arguments_that_have_their_default_need_not_be_known_to_an_older_engine() -> None:
    client = _Asked()
    client.reconcile({})
    client.reconcile({}, dry_run=False)
    client.accept_lease({}, "1", None)
    client.uninstall({}, end_leases=True, keep_providers=False)
    assert client.sent == [
        ("reconcile", {}),
        ("reconcile", {}),
        ("accept_lease", {"lease_id": "1"}),
        ("uninstall", {"end_leases": True}),
    ]


def test_every_request_has_a_method_of_the_client() -> None:
    for name in METHODS:
        assert getattr(RpcEngineClient, name) is not getattr(EngineRequests, name)
        assert getattr(RpcEngineClient, name).__doc__
