"""Best-effort leases that home would have wait, through the REST interface of a gateway with home-first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lease_scheduler.federation.answers import Refusal
from lease_scheduler.federation.members import Verb
from lease_scheduler.federation.negotiation.record import Mode
from lease_scheduler.federation.routing.allocation.home_first import OVERFLOW_WAIT
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.refusals import RefusalReason
from tests.functional.gateway.test_requests import Front
from tests.functional.gateway.world import HOSTS, World

Document = dict[str, Any]


@pytest.fixture(params=[Mode.IN_TURN, Mode.BEST])
def front(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Front]:
    """A gateway whose home is north."""
    world = World(tmp_path / "world", request.param)
    yield Front(world)
    world.close()


def _fill(front: Front, name: str, seconds: int) -> None:
    """Let the users of a site occupy all of it for some time from now on."""
    terms = front.world.ask(len(front.world.living()) + 100, HOSTS, LeaseKind.IMMEDIATE).terms
    front.world.sites[name].decide(replace(terms, duration=seconds))


_WORK: Document = {
    "name": "work",
    "kind": "best-effort",
    "duration": "1h",
    "nodes": [{"count": 1, "resources": {"VCPU": 8}}],
}


def _best_effort(front: Front) -> Document:
    found: Document = front.good("POST", "/v1/leases", _WORK)["lease"]
    return found


def test_home_gets_what_it_starts_in_time(front: Front) -> None:
    assert _best_effort(front)["site"] == "north"
    _fill(front, "north", OVERFLOW_WAIT - 60)
    assert _best_effort(front)["site"] == "north"


def test_what_home_would_have_wait_goes_to_the_earliest_site(front: Front) -> None:
    _fill(front, "north", OVERFLOW_WAIT + 60)
    _fill(front, "south", 60)
    lease = _best_effort(front)
    assert lease["site"] == "west"
    assert len(front.world.sites["north"].engine.live_leases()) == 1


def test_what_waits_everywhere_waits_at_home(front: Front) -> None:
    for name in front.world.sites:
        _fill(front, name, OVERFLOW_WAIT + 60)
    assert _best_effort(front)["site"] == "north"


def test_what_home_refuses_goes_to_the_others(front: Front) -> None:
    refusal = Refusal("north", RefusalReason.POLICY, "not now")
    front.world.moody["north"].answers = dict.fromkeys((Verb.QUOTE, Verb.HOLD, Verb.SUBMIT), lambda _: refusal)
    assert _best_effort(front)["site"] == "south"


def test_a_quote_says_where_the_lease_would_go(front: Front) -> None:
    _fill(front, "north", OVERFLOW_WAIT + 60)
    assert front.good("POST", "/v1/quotes", _WORK)["quote"]["site"] == "south"


def test_other_sites_are_not_asked_while_home_is_in_time(tmp_path: Path) -> None:
    front = Front(World(tmp_path / "world", Mode.IN_TURN))
    _best_effort(front)
    assert Verb.QUOTE in front.world.moody["north"].calls
    assert not any(front.world.moody[name].calls for name in ("south", "west"))
    front.world.close()
