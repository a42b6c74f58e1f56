"""Prices and offers in the service, across restarts and in its accounts (haizea 7.2, F77-F82)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from lease_scheduler.model.errors import RefusedError
from lease_scheduler.policy.base import Learnt, PolicyOptions
from lease_scheduler.policy.loader import load_policy
from lease_scheduler.policy.penalty.none import NoPenalty
from tests.functional.service.site import BEGIN, HOUR, Service
from tests.servers.base import wait_until

Make = Callable[..., Service]


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Make]:
    """``make(pricing, **policy options)``"""
    made: list[Service] = []

    def one(pricing: str = "constant", **policies: str) -> Service:
        made.append(Service(tmp_path, pricing, policies))
        return made[-1]

    yield one
    for service in made:
        service.close()


def test_a_lease_is_made_at_its_price_or_refused(make: Make) -> None:
    """The answer 409 names the price; a refused lease leaves no trace; without a highest price any will do."""
    service = make(pricing_rate="0.25")
    dear = service.document(2, max_price=0.4)
    with pytest.raises(RefusedError, match="its price is 0.5, and max_price is 0.4") as refused:
        service.leases.create({}, dear)
    assert (refused.value.code, refused.value.field) == (409, "max_price")
    assert service.reader.lease(dear["id"], deleted=True) is None
    made = service.leases.create({}, service.document(1, max_price=0.25))["lease_id"]
    assert (service.view(made)["price"], service.view(made)["max_price"]) == (0.25, 0.25)
    other = service.leases.create({}, service.document(1))["lease_id"]
    assert (service.view(other)["price"], service.view(other)["max_price"]) == (0.25, None)


def test_what_has_no_end_has_no_price(make: Make) -> None:
    """Otherwise it would be free for ever."""
    service = make()
    with pytest.raises(RefusedError, match="^duration: ") as refused:
        service.leases.create({}, service.document(kind="best-effort", duration=None))
    assert refused.value.code == 400


def test_a_queued_lease_is_refused_when_its_turn_comes(make: Make) -> None:
    """Its state and reason tell why, because no client waits for the answer."""
    service = make("adaptive")
    first, head, second = (
        service.leases.create({}, service.document(2, kind="best-effort", max_price=most))["lease_id"]
        for most in (9.0, 9.0, 2.5)
    )
    # The head of the queue gets a place later, and so a price.
    assert [service.view(each)["price"] for each in (first, head, second)] == [2.0, 3.0, None]
    service.leases.end({}, first)
    assert wait_until(service.is_in(second, "rejected-by-user"), 20)
    assert service.view(second)["reason"] == "its price is 4.5, and max_price is 2.5"
    assert wait_until(service.is_in(head, "active"), 20)


def test_a_quote_is_held_and_accepted(make: Make) -> None:
    """Its capacity is reserved and nothing of it is in the cloud; once accepted it is a lease like any other."""
    service = make(pricing_rate="2")
    offer = service.offer(2)
    now = service.clock.now()
    assert (offer["granted"], offer["price"], offer["preempts"]) == (True, 4.0, [])
    assert now - 5 <= offer["expires_at"] - 300 <= now
    lease_id = offer["lease_id"]
    view = service.view(lease_id)
    assert (view["state"], view["price"], view["offered_until"]) == ("ready", 4.0, offer["expires_at"])
    assert not service.quotes.quote({}, service.document(1))["granted"]
    with pytest.raises(RefusedError):
        service.leases.create({}, service.document(1))
    assert service.cloud.footprints() == []
    service.offers.accept({}, lease_id)
    assert service.view(lease_id)["offered_until"] is None
    # The hosts are free, so it is prepared at once.
    assert wait_until(lambda: [each.lease_id for each in service.cloud.footprints()] == [lease_id], 20)
    with pytest.raises(RefusedError) as refused:
        service.offers.accept({}, lease_id)
    assert refused.value.code == 409


@pytest.mark.parametrize("how", ["reject", "delete", "end"])
def test_a_quote_is_rejected(make: Make, how: str) -> None:
    service = make()
    lease_id = service.offer(2)["lease_id"]
    if how == "delete":
        service.leases.delete({}, lease_id, "deleted")
    else:
        getattr(service.offers if how == "reject" else service.leases, how)({}, lease_id)
    assert service.view(lease_id)["state"] == "rejected-by-user"
    assert (service.view(lease_id)["deleted_at"] is not None) is (how == "delete")
    assert service.quotes.quote({}, service.document(2))["granted"]
    with pytest.raises(RefusedError) as refused:
        service.offers.accept({}, lease_id)
    assert refused.value.code == 409


def test_a_quote_expires(make: Make) -> None:
    service = make()
    lease_id = service.offer(2)["lease_id"]
    service.clock.jump(301)
    service.engine.timer.wake()
    assert wait_until(service.is_in(lease_id, "rejected-by-user"), 20)
    assert service.view(lease_id)["reason"] == "its quote has expired"
    assert service.quotes.quote({}, service.document(2))["granted"]


def test_offers_survive_a_restart(make: Make) -> None:
    """An open offer is held as before; an offer whose time passed meanwhile has expired."""
    service = make()
    first = service.offer(1)
    service.clock.jump(200)
    second = service.offer(1)
    service.restart()
    assert service.view(first["lease_id"])["offered_until"] == first["expires_at"]
    assert not service.quotes.quote({}, service.document(1))["granted"]
    service.engine.close()
    service.clock.jump(150)
    service.lead()
    assert wait_until(service.is_in(first["lease_id"], "rejected-by-user"), 20)
    service.offers.accept({}, second["lease_id"])
    assert service.view(second["lease_id"])["state"] == "ready"


def test_the_adaptive_rate_survives_a_restart(make: Make) -> None:
    """haizea 7.5, 5: up after an accept, down after a reject or an expiry; another engine continues with the rate."""
    service = make("adaptive")

    def price() -> float:
        return float(service.quotes.quote({}, service.document(1))["price"])

    assert price() == 1.0
    service.offers.accept({}, service.offer(1)["lease_id"])
    assert price() == 1.5
    service.restart()
    assert price() == 1.5
    service.offers.reject({}, service.offer(1)["lease_id"])
    assert price() == 1.25
    service.offer(1)
    service.clock.jump(301)
    service.engine.timer.wake()
    assert wait_until(lambda: price() == 1.125, 20)
    with pytest.raises(RefusedError):
        service.leases.create({}, service.document(1, max_price=0.5))
    service.restart()
    assert price() == 1.0625


def test_random_rates_go_on_after_a_restart(make: Make) -> None:
    service = make("random", pricing_seed="7")
    expected = load_policy("pricing", "random", PolicyOptions({"pricing_seed": "7"}))
    for _ in range(4):
        offer = service.offer(1)
        assert offer["price"] == pytest.approx(expected.rate(None, None))
        service.offers.reject({}, offer["lease_id"])
        expected.quoted()
        service.restart()


class CountsBreaches(NoPenalty):
    """Learns from breaches by counting them."""

    def __init__(self, options: PolicyOptions) -> None:
        super().__init__(options)
        self.name = "counts"
        self.learnt: dict[str, Learnt] = {}
        self._changed: dict[str, Learnt] = {}

    def count(self, subject: str) -> None:
        known = self.learnt.get(subject, {"breaches": 0})
        self._changed[subject] = self.learnt[subject] = {"breaches": known["breaches"] + 1}

    def take_changes(self) -> dict[str, Learnt]:
        changed, self._changed = self._changed, {}
        return changed

    def restore(self, learnt: Mapping[str, Learnt]) -> None:
        self.learnt, self._changed = dict(learnt), {}


def test_policies_of_other_families_learn_too(make: Make) -> None:
    service = make()
    first = CountsBreaches(PolicyOptions())
    service.penalty = first
    service.restart()
    for subject in ("a", "b", "a"):
        first.count(subject)
        service.offers.reject({}, service.offer(1)["lease_id"])
    service.penalty = second = CountsBreaches(PolicyOptions())
    service.restart()
    assert second.learnt == {"a": {"breaches": 2}, "b": {"breaches": 1}}


def test_a_policy_that_goes_on_forgets_what_was_never_written(make: Make) -> None:
    service = make()
    service.penalty = policy = CountsBreaches(PolicyOptions())
    service.restart()
    policy.count("a")
    service.offer(1)
    service.engine.close()
    policy.count("a")
    service.lead()
    assert policy.learnt == {"a": {"breaches": 1}}


def test_what_would_have_to_start_at_once_cannot_be_held(make: Make) -> None:
    """A deadline lease without slack; other kinds, and a reservation whose start has come, can wait."""
    service = make()
    times = {"start": BEGIN, "end": None, "duration": HOUR}
    with pytest.raises(RefusedError) as refused:
        service.offer(1, kind="deadline", deadline=BEGIN + HOUR, **times)
    assert (refused.value.code, refused.value.field) == (400, "deadline")
    assert service.reader.leases({}) == []
    for said in ({"kind": "best-effort"}, {"kind": "immediate", **times, "start": None}, {"start": BEGIN - 50}):
        offer = service.offer(1, **said)
        service.offers.accept({}, offer["lease_id"])
        service.leases.delete({}, offer["lease_id"], "done")


def test_what_was_earned_and_missed_is_told(make: Make) -> None:
    """haizea F82, by project; lost revenue is what projects would have paid, if they stated it."""
    service = make(pricing_rate="1")
    now = service.clock.now()
    done = service.leases.create({}, service.document(2, max_price=3.0, start=now + 1, end=now + HOUR))["lease_id"]
    with pytest.raises(RefusedError):
        service.leases.create({}, service.document(1, max_price=5.0, start=now + 60, end=now + HOUR))
    with pytest.raises(RefusedError):
        service.leases.create({}, service.document(1, max_price=0.5, project_id="other"))
    service.offers.reject({}, service.offer(1, project_id="other")["lease_id"])
    assert wait_until(service.is_in(done, "active"), 20)
    price = service.view(done)["price"]
    service.leases.end({}, done)
    assert wait_until(service.is_in(done, "done"), 20)
    end = service.clock.now() + 1
    found = {row.pop("project_id"): row for row in service.reader.revenue(None, now - 5, end)}
    start = {"start": now - 5}
    assert found == {
        "project": pytest.approx(
            start | {"earned": price, "undercharged": 3 - price, "rejected": 5.0, "rejected_by_user": 0.0}
        ),
        "other": pytest.approx(start | {"earned": 0.0, "undercharged": 0.0, "rejected": 0.0, "rejected_by_user": 1.5}),
    }
    assert [row["project_id"] for row in service.reader.revenue("other", now - 5, end)] == ["other"]
    assert service.reader.revenue(None, end, end + HOUR) == []


def test_without_prices_quotes_can_be_held_all_the_same(make: Make) -> None:
    service = make("free")
    offer = service.offer(1)
    assert (offer["granted"], offer["price"]) == (True, None)
    service.offers.accept({}, offer["lease_id"])
    assert service.quotes.quote({}, service.document(1))["price"] is None
    assert service.leases.create({}, service.document(1, kind="best-effort", duration=None))


def test_an_offer_of_a_managed_lease_takes_its_trust_with_it(make: Make) -> None:
    """Trusts and groups for servers that are never booted are removed from the cloud; nothing else happens there."""
    service = make()
    lease_id = service.offer(1, trust_id="trust-1")["lease_id"]
    other = service.offer(1)["lease_id"]
    service.offers.reject({}, other)
    service.offers.reject({}, lease_id)
    assert wait_until(lambda: service.cloud.destroyed == ["trust-1"], 20)
    assert [entry["to"] for entry in service.reader.history(lease_id)] == ["ready", "ready", "rejected-by-user"]


@pytest.mark.parametrize("how", ["end", "delete"])
def test_an_administrator_of_another_project_ends_a_lease_as_the_provider(make: Make, how: str) -> None:
    """shirako F41: a breach is recorded; an administrator who acts in the project of the lease breaks no promise."""
    service = make(pricing_rate="0.25")
    for acts_as in ("provider", "project"):
        lease_id = service.leases.create({}, service.document(1))["lease_id"]
        own = service.view(lease_id)["project_id"]
        context = {"is_admin": True, "project_id": own if acts_as == "project" else "of the site"}
        if how == "end":
            service.leases.end(context, lease_id)
        else:
            service.leases.delete(context, lease_id, "")
        view = service.reader.lease(lease_id, deleted=True)
        assert view is not None
        assert [each["kind"] for each in view["breaches"]] == (["ended-early"] if acts_as == "provider" else [])
        assert ("an administrator" in view["reason"]) is (acts_as == "provider")
