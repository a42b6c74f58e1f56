from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from lease_scheduler.model.errors import RefusedError
from lease_scheduler.records.messages import Message
from lease_scheduler.records.subscriptions import Delivery, SubscriptionRecord
from lease_scheduler.records.writes import StoreChanges
from lease_scheduler.service.requests.subscriptions import SubscriptionKeeper
from lease_scheduler.service.telling.subscriptions.book import SubscriptionBook, shortened
from lease_scheduler.service.telling.subscriptions.options import SubscriptionOptions
from tests.unit.service.conftest import HOUR, Core, KeepingStore

_ON = SubscriptionOptions(drivers=("webhook",), most=2)


def _record(subscription_id: str, project_id: str = "project", **values: Any) -> SubscriptionRecord:
    return SubscriptionRecord(subscription_id, project_id, "user", "webhook", "https://192.0.2.1/", 1, **values)


def _message(event_type: str, project_id: str = "project", lease_id: str = "lease") -> Message:
    return Message(event_type, {"lease_id": lease_id, "project_id": project_id})


def _told(book: SubscriptionBook, *messages: Message, options: SubscriptionOptions = _ON) -> list[Delivery]:
    changes = StoreChanges(5, messages=list(messages))
    book.tell(changes, options)
    return changes.deliveries


def test_each_subscription_gets_what_it_wants_of_its_project() -> None:
    book = SubscriptionBook(
        [_record("all"), _record("starts", event_types=("lease.event.start_lease",)), _record("other", "blue")]
    )
    messages = _message("lease.create"), _message("lease.event.start_lease"), _message("lease.create", "blue")
    found = _told(book, *messages)
    assert [(each.subscription_id, each.message) for each in found] == [
        ("all", messages[0]),
        ("all", messages[1]),
        ("starts", messages[1]),
        ("other", messages[2]),
    ]
    assert len({each.delivery_id for each in found}) == len(found)


def test_what_is_for_operators_is_for_no_project() -> None:
    """The payload names hosts, and has no project."""
    book = SubscriptionBook([_record("all")])
    assert _told(book, Message("lease.event.occupied", {"lease_id": "lease", "hosts": []})) == []


def test_nothing_is_written_for_a_driver_that_was_switched_off() -> None:
    book = SubscriptionBook([_record("all")])
    assert _told(book, _message("lease.create"), options=SubscriptionOptions()) == []
    assert _told(book, _message("lease.create"), options=SubscriptionOptions(drivers=("mail",))) == []


def test_a_subscription_to_one_lease() -> None:
    book = SubscriptionBook([_record("one", lease_id="lease")])
    found = _told(book, _message("lease.update"), _message("lease.update", lease_id="other"))
    assert [each.message.payload["lease_id"] for each in found] == ["lease"]


def test_a_payload_that_is_too_large_is_shortened() -> None:
    payload = {"lease_id": "a", "start": 5, "reason": "r" * 300, "reservations": [{"id": "r" * 100}], "extras": {}}
    message = Message("lease.update", payload)
    size = len(json.dumps(payload))
    assert shortened(message, size) == message
    assert shortened(message, size - 1).payload == {
        "lease_id": "a",
        "start": 5,
        "omitted": ["extras", "reason", "reservations"],
    }


class TestInTheService:
    """The book as the plan of a site keeps it."""

    @pytest.fixture
    def core(self, lead: Callable[..., Core]) -> Core:
        return lead(subscriptions=_ON)

    @staticmethod
    def _subscribe(core: Core, subscription_id: str, **said: Any) -> None:
        asked: dict[str, Any] = {
            "id": subscription_id,
            "project_id": "project",
            "user_id": "user",
            "driver": "webhook",
            "target": "https://192.0.2.1/",
            "event_types": [],
            "lease_id": None,
            "secret": "secret",
        }
        SubscriptionKeeper(core.site).create({}, asked | said)

    @staticmethod
    def _types(store: KeepingStore, subscription_id: str) -> list[str]:
        found = [each for changes in store.commits for each in changes.deliveries]
        return [each.message.event_type for each in found if each.subscription_id == subscription_id]

    def test_deliveries_are_written_with_the_change_that_they_report(self, core: Core, store: KeepingStore) -> None:
        self._subscribe(core, "one")
        lease_id = core.ask()
        changes = next(each for each in store.commits if lease_id in each.leases)
        assert [each.message for each in changes.deliveries] == changes.messages
        assert changes.messages[0].event_type == "lease.create"

    def test_a_subscription_to_a_lease_ends_with_it(self, core: Core, store: KeepingStore) -> None:
        lease_id = core.ask()
        self._subscribe(core, "one", lease_id=lease_id)
        core.leases.delete({}, lease_id, "")
        last = store.commits[-1]
        assert [each.message.event_type for each in last.deliveries] == ["lease.event.end_lease", "lease.delete"]
        record = last.subscriptions["one"]
        assert record is not None and record.ended_at == core.clock.now()
        assert core.site.subscriptions.get("one") is None

    def test_a_refused_request_is_nothing_to_be_told_of(self, core: Core, store: KeepingStore) -> None:
        self._subscribe(core, "one")
        with pytest.raises(RefusedError):
            core.ask(count=3)
        assert self._types(store, "one") == []

    def test_a_lease_of_another_project_looks_like_none(self, core: Core) -> None:
        lease_id = core.ask()
        for wrong, project in ((lease_id, "blue"), ("none", "project")):
            with pytest.raises(RefusedError, match="the project has no live lease") as raised:
                self._subscribe(core, "one", lease_id=wrong, project_id=project)
            assert (raised.value.code, raised.value.field) == (400, "lease_id")

    def test_a_project_has_a_limited_number(self, core: Core) -> None:
        self._subscribe(core, "one")
        self._subscribe(core, "two")
        self._subscribe(core, "blue", project_id="blue")
        with pytest.raises(RefusedError, match="at most 2 subscriptions") as raised:
            self._subscribe(core, "three")
        assert raised.value.code == 403
        SubscriptionKeeper(core.site).delete({}, "one")
        self._subscribe(core, "three")

    def test_a_target_that_is_not_allowed_is_refused_also_later(self, core: Core, store: KeepingStore) -> None:
        with pytest.raises(RefusedError, match="^target: must begin with https") as raised:
            self._subscribe(core, "one", target="http://192.0.2.1/")
        assert (raised.value.code, raised.value.field) == (400, "target")
        self._subscribe(core, "one")
        keeper = SubscriptionKeeper(core.site)
        with pytest.raises(RefusedError, match="^target: must begin with https"):
            keeper.update({}, "one", {"target": "http://192.0.2.1/"})
        keeper.update({}, "one", {"target": "https://192.0.2.2/", "event_types": ["lease.delete"]})
        record = store.commits[-1].subscriptions["one"]
        assert record is not None
        assert (record.target, record.event_types, record.secret) == ("https://192.0.2.2/", ("lease.delete",), "secret")
        with pytest.raises(RefusedError, match="there is no subscription other"):
            keeper.update({}, "other", {"event_types": []})

    def test_nothing_is_subscribed_while_it_is_switched_off(self, lead: Callable[..., Core]) -> None:
        with pytest.raises(RefusedError, match="webhook is not switched on; none is"):
            self._subscribe(lead(), "one")

    def test_reminders_are_delivered_too(self, core: Core, store: KeepingStore) -> None:
        self._subscribe(core, "one", event_types=["lease.event.before_end_lease"])
        now = core.clock.now()
        core.ask(before_end=now + 2 * HOUR - 600)
        core.pass_to(now + 2 * HOUR - 600)
        assert self._types(store, "one") == ["lease.event.before_end_lease"]
