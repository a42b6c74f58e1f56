"""What is kept of the calendar: nothing that somebody else may see, nothing old, and not without end."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from flask import Flask

from lease_scheduler.api.calendar.cache import CalendarCache
from lease_scheduler.api.calendar.parts import LeasePart
from lease_scheduler.api.settings import ApiSettings
from lease_scheduler.model.documents import Document
from lease_scheduler.model.power import HostPower, PowerState, Watts
from lease_scheduler.records.calendar import SiteVersion
from tests.unit.api.conftest import Build, Client
from tests.unit.api.fakes import HOUR, NOW, FixedClock, Site

_QUERY = f"start={NOW - HOUR}&end={NOW + 100 * HOUR}"
#: Calls of the reader that read more than the version of the site.
_READS = frozenset(
    {"calendar_index", "calendar_changes", "calendar_leases", "calendar_hosts", "held_hosts", "lease_states"}
)


def _lease(name: str, project: str, start: int = NOW + HOUR, revision: int = 1) -> Document:
    holding = {"start": start, "run_start": start, "run_end": start + HOUR, "end": start + HOUR, "closing": "shutdown"}
    return {
        "id": f"id-{name}",
        "name": name,
        "project_id": project,
        "kind": "reservation",
        "state": "ready",
        "reason": f"reason of {name}",
        "revision": revision,
        "holdings": [{**holding, "hosts": ["1"]}],
        "past": [],
    }


@pytest.fixture(autouse=True)
def leases(site: Site) -> None:
    site.calendar_document["leases"] = [_lease("ours", "red"), _lease("theirs", "blue"), _lease("others", "green")]
    site.calendar_document["hosts"] = [{"id": "1", "name": "host-1", "state": "up", "vcpus": 1, "memory_mb": 1}]


def _change(site: Site, name: str, **values: Any) -> None:
    """Change a lease in the next transaction."""
    site.calendar_document["revision"] += 1
    (lease,) = [each for each in site.calendar_document["leases"] if each["name"] == name]
    lease.update(values, revision=site.calendar_document["revision"])


def _get(client: Client, since: int | None = None) -> Document:
    suffix = "" if since is None else f"&since={since}"
    answer = client.at("latest").get(f"/v1/calendar?{_QUERY}{suffix}")
    assert answer.status_code == 200, answer.json
    return dict(answer.json or {})


def _names(answer: Document) -> list[str]:
    return [lease["name"] for lease in answer["leases"]]


def _reads(site: Site) -> list[str]:
    found = [call[0] for call in site.calls if call[0] in _READS]
    site.calls.clear()
    return found


class TestWhoSeesWhat:
    @pytest.mark.parametrize("first", ["admin", "red", "blue"])
    def test_the_answer_does_not_depend_on_who_asked_before(self, build: Build, first: str) -> None:
        """Everybody gets what they get from a service that nobody has asked before."""
        settings = ApiSettings(auth="noauth")
        who = {"admin": ("admin", "operators"), "red": ("member", "red"), "blue": ("member", "blue")}
        fresh = {name: _get(Client(build(settings), roles=role, project=of)) for name, (role, of) in who.items()}
        assert _names(fresh["red"]) == ["ours", ""]
        assert _names(fresh["blue"]) == ["theirs", ""]
        assert _names(fresh["admin"]) == ["ours", "theirs", "others"]
        app = build(settings)
        for name in (first, *who, *who):
            role, project = who[name]
            assert _get(Client(app, roles=role, project=project)) == fresh[name], name

    def test_what_has_changed_is_as_private_as_the_rest(self, build: Build, site: Site) -> None:
        app = build(ApiSettings(auth="noauth", privacy=False))
        who = {"admin": Client(app), "red": Client(app, roles="member")}
        who["blue"] = Client(app, roles="member", project="blue")
        since = _get(who["admin"])["revision"]
        _change(site, "theirs", reason="changed")
        seen = {name: _get(client, since)["leases"][0] for name, client in who.items()}
        assert {name: lease["name"] for name, lease in seen.items()} == {"admin": "theirs", "red": "", "blue": "theirs"}
        assert [lease["reason"] for lease in seen.values()] == ["changed", "", "changed"]
        assert [lease["project_id"] for lease in seen.values()] == ["blue", "", "blue"]
        assert [lease["may_change"] for lease in seen.values()] == [True, False, True]

    def test_rights_follow_the_role_within_a_project(self, app: Flask) -> None:
        reader, member = Client(app, roles="reader"), Client(app, roles="member")
        for _ in range(2):
            assert (_get(reader)["may_book"], _get(member)["may_book"]) == (False, True)
            assert [_get(client)["leases"][0]["may_change"] for client in (reader, member)] == [False, True]

    def test_whether_hosts_sleep_is_for_those_who_see_all_leases(self, build: Build, site: Site) -> None:
        """The page computes from this what they have saved; properties of a host take precedence."""
        (host,) = site.calendar_document["hosts"]
        power = HostPower(PowerState.ASLEEP, NOW - 600, slept=60)
        site.calendar_document["hosts"] = [host | {"power": power, "watts": {"watts_awake": "400"}}]
        app = build(ApiSettings(auth="noauth", watts=Watts(117, 17)))
        sleeping = {"state": "asleep", "since": NOW - 600, "slept": 60, "saved_watts": 383.0}
        assert _get(Client(app))["hosts"] == [host | {"power": sleeping}]
        assert _get(Client(app, roles="member", project="red"))["hosts"][0] == host

    def test_a_project_does_not_learn_that_others_are_at_work(self, member: Client, site: Site) -> None:
        before = _get(member)
        _change(site, "theirs", reason="changed")
        _change(site, "others", state="active")
        after = _get(member, before["revision"])
        assert (after["revision"], after["complete"], after["leases"]) == (before["revision"], False, [])


class TestChanges:
    @pytest.mark.parametrize("role", ["admin", "member"])
    def test_a_change_is_seen_at_the_next_poll(self, app: Flask, site: Site, role: str) -> None:
        client = Client(app, roles=role)
        since = _get(client)["revision"]
        assert _get(client, since)["leases"] == []
        for text in ("first", "second"):
            _change(site, "ours", reason=text)
            answer = _get(client, since)
            assert [lease["reason"] for lease in answer["leases"] if lease["name"] == "ours"] == [text]
            assert answer["states"] is not None
            since = answer["revision"]
            assert _get(client, since)["leases"] == []

    def test_another_epoch_gets_everything(self, admin: Client, site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
        """The same revision of another epoch is something else."""
        assert "ours" in _names(_get(admin))
        site.calendar_document["leases"] = [_lease("new", "red")]
        assert "ours" in _names(_get(admin))
        monkeypatch.setattr(site, "site_version", lambda: SiteVersion(2, 7))
        assert _names(_get(admin)) == ["new"]

    def test_a_lower_revision_gets_everything(self, admin: Client) -> None:
        assert _get(admin, 1_000)["complete"] is True

    def test_time_alone_changes_what_a_project_sees_of_others(self, member: Client, clock: FixedClock) -> None:
        def states(since: int | None = None) -> list[str]:
            return [lease["state"] for lease in _get(member, since)["leases"] if lease["id"].startswith("busy")]

        assert states() == ["ready"]
        known = _get(member)["revision"]
        clock.instant = NOW + HOUR - 1
        assert states(known) == []
        clock.instant = NOW + HOUR
        assert states(known) == ["active"]
        clock.instant = NOW + 2 * HOUR
        assert states(known) == ["done"]
        clock.instant = NOW
        assert states() == ["ready"], "a clock that is set back"

    @pytest.mark.parametrize("role", ["admin", "member"])
    def test_time_alone_changes_how_many_hosts_are_in_use(self, app: Flask, clock: FixedClock, role: str) -> None:
        client = Client(app, roles=role)
        known = _get(client)["revision"]
        for instant, held in ((NOW, 0), (NOW + HOUR, 1), (NOW + 2 * HOUR, 0), (NOW + HOUR, 1)):
            clock.instant = instant
            assert _get(client, known)["use"] == {"held": held, "usable": 1}

    def test_many_changes_are_sent_as_everything(
        self, admin: Client, site: Site, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        since = _get(admin)["revision"]
        _change(site, "ours", reason="changed")
        monkeypatch.setattr(site, "calendar_changes", lambda *arguments: None)
        answer = _get(admin, since)
        assert (answer["complete"], len(answer["leases"])) == (True, 3)

    def test_a_lease_that_is_purged_meanwhile_is_left_out(
        self, admin: Client, site: Site, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Purged between two statements."""
        kept = site.calendar_leases

        def without_ours(ids: Any) -> list[Document]:
            return [lease for lease in kept(ids) if lease["name"] != "ours"]

        monkeypatch.setattr(site, "calendar_leases", without_ours)
        assert _names(_get(admin)) == ["theirs", "others"]


class TestWork:
    @pytest.mark.parametrize("role", ["admin", "member"])
    def test_a_poll_without_news_reads_the_version_only(self, app: Flask, site: Site, role: str) -> None:
        client = Client(app, roles=role)
        since = _get(client)["revision"]
        assert _reads(site)
        answer = _get(client, since)
        assert site.calls == [("site_version",)]
        assert (answer["complete"], answer["hosts"], answer["leases"], answer["states"]) == (False, [], [], None)

    def test_pages_share_what_is_read(self, app: Flask, site: Site) -> None:
        _get(Client(app))
        read = ["calendar_hosts", "calendar_index", "calendar_leases", "held_hosts", "lease_states"]
        assert sorted(_reads(site)) == read
        _get(Client(app, user="somebody else"))
        assert _reads(site) == []
        for project in ("red", "blue"):
            _get(Client(app, roles="member", project=project))
        assert _reads(site) == ["lease_states", "lease_states"]

    def test_only_changed_leases_are_read_again(self, admin: Client, site: Site) -> None:
        _get(admin)
        _change(site, "ours", reason="changed")
        site.calls.clear()
        _get(admin)
        assert [call for call in site.calls if call[0] == "calendar_leases"] == [("calendar_leases", "id-ours")]


def test_memory_is_bounded(site: Site) -> None:
    """Answers are right even if nothing can be kept."""
    many = [_lease(f"lease-{number}", "red") for number in range(200)]
    site.calendar_document["leases"] = many
    version = site.site_version()
    size = 20 * LeasePart.of(many[0]).size
    for bound in (size, 10):
        cache = CalendarCache(leases_size=bound, answers_size=bound)
        for start in range(50):
            found = cache.everything(site, version, NOW - start, NOW + 100 * HOUR)
            assert [part.lease_id for part, _ in found.leases] == [lease["id"] for lease in many]
        assert cache.size <= bound


def test_a_part_has_all_fields_of_the_lease() -> None:
    lease = _lease('a "name", \\', "red")
    part = LeasePart.of(copy.deepcopy(lease))
    shown = json.loads(part.text(3, may_change=True, with_names=True))
    assert shown == {**lease, "queue_position": 3, "may_change": True}
    hidden = json.loads(part.text(None, may_change=False, with_names=False))
    nothing = {"name": "", "project_id": "", "reason": "", "queue_position": None, "may_change": False}
    assert hidden == {**lease, **nothing}
