"""What a site over REST does beyond the contract in ``tests/functional/federation``: approval, rights, and calls."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import openstack
import pytest
import requests
from requests.adapters import BaseAdapter

from lease_scheduler.cloud.peers.rest import RestMember
from lease_scheduler.cloud.peers.timeouts import Timeouts
from lease_scheduler.federation.answers import Bid, FederationReason, Refusal, Released, Unanswered
from lease_scheduler.federation.asks import Ask, OnBehalfOf
from lease_scheduler.federation.members import Events, MemberDescription, Verb
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import UNLIMITED, LeaseRequest
from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.model.refusals import RefusalReason
from lease_scheduler.model.resources import VCPU, Resources

# The SDK warns about its own parts, which have nothing to do with us.
pytestmark = pytest.mark.filterwarnings("ignore::PendingDeprecationWarning", "ignore::DeprecationWarning")

_URL = "http://site.example/v1"
_NOW = 1_800_000_000
_ID = "6d2d9b1a-6c9d-4d1e-9d5b-0e7f3a5c8e42"
_LEASE: dict[str, Any] = {"id": _ID, "state": "pending", "reason": "", "holdings": [], "price": None, "approval": None}


@dataclass
class Site(BaseAdapter):
    """The REST interface of a site, without sockets.

    :ivar answers: (method, path after /v1) -> status and body
    :ivar newest: its newest microversion
    :ivar calls: method, path, body and time-out of each request but those for versions
    """

    answers: dict[tuple[str, str], tuple[int, Any]] = field(default_factory=dict)
    newest: str = "1.48"
    calls: list[tuple[str, str, Any, Any]] = field(default_factory=list)

    def send(self, request: Any, timeout: Any = None, **_: Any) -> requests.Response:  # type: ignore[override]
        """Answer a request."""
        status: int
        body: Any
        path = request.url.removeprefix(_URL).partition("?")[0]
        if path in ("", "/"):
            version = {"id": "v1", "status": "CURRENT", "min_version": "1.0", "max_version": self.newest}
            status, body = 200, {"version": {**version, "links": [{"rel": "self", "href": _URL}]}}
        else:
            self.calls.append((request.method, path, json.loads(request.body or "null"), timeout))
            status, body = self.answers.get((request.method, path), (404, "<html>nothing here</html>"))
        response = requests.Response()
        response.status_code, response.request, response.url = status, request, request.url
        response._content = body.encode() if isinstance(body, str) else json.dumps(body).encode()
        response.headers["Content-Type"] = "application/json"
        return response

    def close(self) -> None:
        """Do nothing."""


@pytest.fixture
def site() -> Site:
    return Site()


@pytest.fixture
def member(site: Site) -> Iterator[RestMember]:
    login: dict[str, Any] = {"auth_type": "admin_token", "auth": {"endpoint": _URL, "token": "anything"}}
    timeouts = Timeouts(1.0, {verb: 2.0 + number for number, verb in enumerate(Verb)})
    with openstack.connect(
        load_yaml_config=False, load_envvars=False, reservation_endpoint_override=_URL, **login
    ) as connection:
        found = RestMember("north", connection, timeouts)
        connection.session.session.mount("http://", site)
        yield found


def _ask(kind: LeaseKind = LeaseKind.BEST_EFFORT, duration: int = 60, **terms: Any) -> Ask:
    return Ask(LeaseRequest(_ID, kind, (NodeSet(1, Resources({VCPU: 1})),), _NOW, duration, **terms), _NOW + 60)


def test_a_lease_that_needs_approval_is_given_back_and_refused(site: Site, member: RestMember) -> None:
    site.answers = {
        ("POST", "/leases"): (201, {"lease": {**_LEASE, "state": "awaiting-approval", "approval": "awaiting"}}),
        ("POST", f"/leases/{_ID}/action"): (200, {"lease": {**_LEASE, "state": "rejected-by-user"}}),
    }
    answer = member.submit(_ask())
    assert isinstance(answer, Refusal)
    assert answer.reason is RefusalReason.APPROVAL
    assert [each[2] for each in site.calls[1:]] == [{"end": {}}]


def test_it_is_unanswered_as_long_as_it_is_not_given_back(site: Site, member: RestMember) -> None:
    site.answers = {("POST", "/leases"): (201, {"lease": {**_LEASE, "approval": "awaiting"}})}
    assert member.submit(_ask()) == Unanswered()


_SHOWN = {"name": "here", "origin": None, "verbs": list(Verb), "speed": 1.0, "capacity": None, "load": None}
_MEMBER = ("GET", "/member")


def test_a_site_that_does_not_show_its_capacity_describes_the_rest(site: Site, member: RestMember) -> None:
    site.answers = {_MEMBER: (200, {"member": _SHOWN})}
    assert member.describe() == MemberDescription(Resources({}))
    assert [each[1] for each in site.calls] == ["/member"]
    site.answers = {_MEMBER: (200, {"member": {**_SHOWN, "speed": -1.0}})}
    assert member.describe() == Unanswered()


def test_an_older_site_that_does_not_show_its_hosts_describes_the_rest(site: Site, member: RestMember) -> None:
    site.newest = "1.47"
    site.answers = {("GET", "/os-hosts"): (403, {"error_code": 403, "error_message": "Policy doesn't allow it"})}
    assert member.describe() == MemberDescription(Resources({}))


def test_a_lease_that_waits_has_no_start_and_one_without_end_a_last_instant(site: Site, member: RestMember) -> None:
    site.answers = {("POST", "/leases"): (201, {"lease": _LEASE})}
    assert member.submit(_ask()) == Bid("north", _ID, None, None)
    holding = {"run_start": "2027-01-15T08:00:00Z", "run_end": None}
    site.answers = {("POST", "/leases"): (201, {"lease": {**_LEASE, "holdings": [holding], "price": 2.5}})}
    assert member.submit(_ask(duration=UNLIMITED)) == Bid("north", _ID, _NOW, _NOW + UNLIMITED, 2.5)


def test_terms_that_mean_nothing_there_are_refused_before_anything_is_asked(site: Site, member: RestMember) -> None:
    ask = _ask(pool=None)
    nodes = (NodeSet(1, Resources({VCPU: 1}), hosts=frozenset({"compute-1"})),)
    local = Ask(LeaseRequest(_ID, LeaseKind.BEST_EFFORT, nodes, _NOW, 60), ask.answer_by)
    for answer in (member.hold(local, _NOW + 60), member.submit(local), member.quote(local)):
        assert isinstance(answer, Refusal)
        assert (answer.reason, "compute" in answer.message) == (FederationReason.UNMAPPED, False)
    assert site.calls == []


def test_a_bid_that_ends_before_it_starts_is_no_answer(site: Site, member: RestMember) -> None:
    quote = {"granted": True, "reason": "", "start": "2027-01-15T08:00:00Z", "end": "2027-01-15T07:00:00Z"}
    site.answers = {("POST", "/quotes"): (200, {"quote": quote})}
    assert member.quote(_ask()) == Unanswered()


def test_each_verb_waits_for_its_own_time(site: Site, member: RestMember) -> None:
    ask = _ask()
    member.describe()
    member.quote(ask)
    member.hold(ask, _NOW + 60)
    member.accept(_ID)
    member.reject(_ID)
    member.submit(ask)
    member.change(_ID, ask.terms)
    member.end(_ID)
    member.show(_ID)
    member.events(0)
    assert [each[3] for each in site.calls] == [1.0, *(2.0 + number for number in range(len(Verb)))]


@pytest.mark.parametrize("state", ["done", "cancelled", "rejected-by-user"])
def test_what_cannot_be_ended_because_it_is_over_is_released(site: Site, member: RestMember, state: str) -> None:
    entry = {"time": "2027-01-15T08:00:00Z", "from": "active", "to": state, "reason": "", "sequence": 7}
    site.answers = {
        ("POST", f"/leases/{_ID}/action"): (409, {"error_code": 409, "error_message": "it is over"}),
        ("GET", f"/leases/{_ID}/history"): (200, {"history": [entry]}),
    }
    assert member.end(_ID) == Released()
    assert member.reject(_ID) == Released()


def test_what_cannot_be_ended_yet_is_refused(site: Site, member: RestMember) -> None:
    entry = {"time": "2027-01-15T08:00:00Z", "from": "ready", "to": "active", "reason": "", "sequence": 7}
    error = {"error_code": 409, "error_message": "it is being moved", "reason_code": "busy"}
    site.answers = {
        ("POST", f"/leases/{_ID}/action"): (409, error),
        ("GET", f"/leases/{_ID}/history"): (200, {"history": [entry]}),
    }
    assert member.end(_ID) == Refusal("north", RefusalReason.BUSY, "it is being moved")


@pytest.mark.parametrize(
    ("started", "sent"), [(None, {"start_date", "end_date"}), ("2027-01-15T08:00:09Z", {"end_date"})]
)
def test_a_change_of_a_lease_that_has_started_leaves_its_start(
    site: Site, member: RestMember, started: str | None, sent: set[str]
) -> None:
    reservation = {"id": "r", "amount": 1, "resources": {VCPU: 1}}
    holding = {"run_start": "2027-01-15T08:00:00Z", "run_end": "2027-01-15T09:00:00Z"}
    lease = {**_LEASE, "state": "active", "reservations": [reservation], "holdings": [holding], "started_at": started}
    site.answers = dict.fromkeys([("GET", f"/leases/{_ID}"), ("PUT", f"/leases/{_ID}")], (200, {"lease": lease}))
    terms = _ask(LeaseKind.RESERVATION, 3_600, start=_NOW).terms
    found = member.change(_ID, terms)
    assert isinstance(found, Bid)
    assert found.end == _NOW + 3_600
    assert set(site.calls[-1][2]) == sent


_UNKNOWN = (404, {"error_code": 404, "error_message": "not found", "field": "lease_id"})


def test_events_go_on_behind_those_of_others(site: Site, member: RestMember) -> None:
    entry = {
        "sequence": 4,
        "lease_id": _ID,
        "time": "2027-01-15T08:00:00Z",
        "from": "new",
        "to": "active",
        "reason": "",
    }
    site.answers = {("GET", "/events"): (200, {"events": [entry], "next": 9, "more": False})}
    found = member.events(3)
    assert isinstance(found, Events)
    assert ([each.sequence for each in found.transitions], found.latest) == ([4], 9)
    site.answers = {("GET", "/events"): (200, {"events": [], "next": 9, "more": False})}
    assert member.events(5) == Events(5, (), 9)
    assert member.events(10) == Events(9)


@pytest.mark.parametrize("give_up", ["end", "reject"])
def test_a_lease_that_the_site_does_not_know_is_withdrawn(site: Site, member: RestMember, give_up: str) -> None:
    site.answers = {("POST", f"/leases/{_ID}/action"): _UNKNOWN, ("PUT", f"/withdrawals/{_ID}"): (204, "")}
    assert getattr(member, give_up)(_ID) == Released()
    assert [each[:2] for each in site.calls] == [("POST", f"/leases/{_ID}/action"), ("PUT", f"/withdrawals/{_ID}")]


def test_an_older_site_cannot_withdraw(site: Site, member: RestMember) -> None:
    site.newest = "1.47"
    site.answers = {("POST", f"/leases/{_ID}/action"): _UNKNOWN}
    assert member.end(_ID) == Released()
    assert len(site.calls) == 1


def test_without_an_answer_to_the_withdrawal_nothing_is_released(site: Site, member: RestMember) -> None:
    site.answers = {("POST", f"/leases/{_ID}/action"): _UNKNOWN}
    assert member.end(_ID) == Unanswered()


def test_a_lease_that_arrived_before_its_withdrawal_is_ended(site: Site, member: RestMember) -> None:
    taken = (409, {"error_code": 409, "error_message": "id: is that of a lease; end the lease instead"})

    class Late(dict[tuple[str, str], tuple[int, Any]]):
        """The lease is there from the withdrawal on."""

        def get(self, key: Any, default: Any = None) -> Any:
            if key[0] == "PUT":
                self[("POST", f"/leases/{_ID}/action")] = (200, {"lease": {**_LEASE, "state": "cancelled"}})
                return taken
            return super().get(key, default)

    site.answers = Late({("POST", f"/leases/{_ID}/action"): _UNKNOWN})
    assert member.end(_ID) == Released()
    assert [each[0] for each in site.calls] == ["POST", "PUT", "POST"]


_PASSED_ON = {"path": ["east"], "on_behalf_of": {"project": "physics"}}


@pytest.mark.parametrize(("origin", "said"), [("east", _PASSED_ON), (None, {})])
def test_only_a_peer_says_where_its_asks_come_from(
    site: Site, member: RestMember, origin: str | None, said: dict[str, Any]
) -> None:
    site.answers = {
        _MEMBER: (200, {"member": {**_SHOWN, "origin": origin}}),
        ("POST", "/leases"): (201, {"lease": _LEASE}),
    }
    ask = replace(_ask(), path=("east",), on_behalf_of=OnBehalfOf("physics"))
    for _ in range(2):
        assert isinstance(member.submit(ask), Bid)
        member.hold(ask, _NOW + 60)
        member.quote(ask)
    assert [each[1] for each in site.calls].count("/member") == 1
    for method, _, body, _ in site.calls:
        if method == "POST":
            assert {key: body[key] for key in _PASSED_ON if key in body} == said


@pytest.mark.parametrize(
    ("newest", "origin", "is_asked"),
    [("1.50", "east", True), ("1.49", "east", False), ("1.50", None, False), ("1.47", None, False)],
)
def test_a_lease_for_a_project_is_asked_only_of_a_site_that_understands_it(
    site: Site, member: RestMember, newest: str, origin: str | None, is_asked: bool
) -> None:
    """Any other would make it a lease of the caller's own project."""
    site.newest = newest
    site.answers = {
        _MEMBER: (200, {"member": {**_SHOWN, "origin": origin}}),
        ("POST", "/leases"): (201, {"lease": _LEASE}),
    }
    ask = replace(_ask(), on_behalf_of=OnBehalfOf("physics", "ada", "p"))
    answer = member.submit(ask)
    sent = [body for method, _, body, _ in site.calls if method == "POST"]
    if is_asked:
        assert isinstance(answer, Bid)
        assert [each["on_behalf_of"] for each in sent] == [{"project": "physics", "user": "ada", "project_id": "p"}]
        return
    assert sent == []
    for refused in (answer, member.hold(ask, _NOW + 60), member.quote(ask)):
        assert isinstance(refused, Refusal)
        assert refused.reason is RefusalReason.PROJECT
    assert [method for method, *_ in site.calls if method == "POST"] == []


def test_nothing_is_asked_of_a_site_that_does_not_say_whether_the_caller_is_a_peer(
    site: Site, member: RestMember
) -> None:
    site.answers = {("POST", "/leases"): (201, {"lease": _LEASE})}
    assert member.submit(replace(_ask(), path=("east",))) == Unanswered()
    assert [each[1] for each in site.calls] == ["/member"]


def test_a_loop_that_the_site_finds_is_told(site: Site, member: RestMember) -> None:
    refused = {"error_code": 409, "error_message": "path: here has passed it on", "reason_code": "loop"}
    site.answers = {_MEMBER: (200, {"member": {**_SHOWN, "origin": "east"}}), ("POST", "/leases"): (409, refused)}
    answer = member.submit(replace(_ask(), path=("here", "east")))
    assert isinstance(answer, Refusal)
    assert answer.reason is RefusalReason.LOOP


_NOT_OFFERED = (404, {"error": 404, "error_message": "a gateway does not offer this"})


def test_a_gateway_neither_describes_itself_nor_withdraws(site: Site, member: RestMember) -> None:
    hosts = (200, {"hosts": [{"vcpus": 8, "memory_mb": 0, "local_gb": 0, "reservable": True}]})
    site.answers = {
        _MEMBER: _NOT_OFFERED,
        ("GET", "/os-hosts"): hosts,
        ("POST", "/leases"): (201, {"lease": _LEASE}),
        ("POST", f"/leases/{_ID}/action"): _UNKNOWN,
        ("PUT", f"/withdrawals/{_ID}"): _NOT_OFFERED,
    }
    found = member.describe()
    assert isinstance(found, MemberDescription)
    assert found.capacity[VCPU] == 8
    assert isinstance(member.submit(replace(_ask(), path=("east",))), Bid)
    assert "path" not in site.calls[-1][2]
    assert member.end(_ID) == Released()
    assert [each[0] for each in site.calls[-2:]] == ["POST", "PUT"]
