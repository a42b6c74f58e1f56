"""Every attribute of a lease: given, stored, shown, notified, changed alone, and unknown to older clients (issue 17).

The tests follow the descriptions at the fields of ``LeaseRequest`` and ``LeaseDocument``, so they cover a new attribute
as soon as it exists.
"""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from lease_scheduler.api.microversions import HISTORY
from lease_scheduler.model.attributes import (
    Amount,
    Attribute,
    Choice,
    Flag,
    Keyed,
    Pairs,
    Part,
    Probability,
    Span,
    Text,
    Texts,
    Whole,
)
from lease_scheduler.records.attributes import ATTRIBUTES
from tests.compat.inside import InsideShell
from tests.functional.embedded.conftest import Make, started
from tests.functional.embedded.rest import Document, Rest, date, until
from tests.servers.reservation import ReservationService

_SETTINGS = """
[simulated_cloud]
hosts = 2
clock_speed = 60
clock_start = 1800000000
[scheduling]
policy_assurance = planned
policy_fractional = max-min
[oslo_messaging_notifications]
driver = log
[pools]
names = first,second
[pool:second]
hosts = *2
"""

#: Nobody is a peer on an embedded service.
_GIVEN = [each for each in ATTRIBUTES if each.given is not None and not each.of_peers]
_CHANGED = [each for each in ATTRIBUTES if each.changed is not None]
_SHOWN = [each for each in ATTRIBUTES if each.shown is not None]
#: Attributes that go with others, and these.
_COMPANIONS: dict[str, Document] = {
    "min_lifetime": {"assurance": 0.5},
    "assurance": {"min_lifetime": 60},
    "await_assurance": {"min_lifetime": 60, "assurance": 0.5},
}
_NODES = [{"count": 1, "resources": {"VCPU": 8}}]


def _values(attribute: Attribute) -> tuple[Any, Any]:
    """Return two values that differ from each other, and from the default if there are enough values."""
    if attribute.name == "pool":
        return "first", "second"
    match attribute.kind:
        case Flag():
            return True, False
        case Amount():
            return 7.5, 8.5
        case Span() | Whole():
            return 600, 700
        case Probability() | Part():
            return 0.95, 0.9
        case Text():
            return f"the {attribute.name}", f"another {attribute.name}"
        case Pairs() | Texts() | Keyed():
            return {"ticket": "7"}, {"note": "8"}
        case Choice():
            first, second = [word for word in attribute.kind.texts if word != attribute.plain(attribute.default)][:2]
            return first, second


def _words(attribute: Attribute, value: Any) -> list[str]:
    """Return the command-line arguments that give a value, and others that go with it."""
    others = _COMPANIONS.get(attribute.name, {})
    companions = [word for name, given in others.items() for word in (f"--{name.replace('_', '-')}", str(given))]
    return [*_own_words(attribute, value), *companions]


def _own_words(attribute: Attribute, value: Any) -> list[str]:
    if attribute.name == "extras":
        return [word for key, text in value.items() for word in ("--extra", f"{key}={text}")]
    option = f"--{attribute.name.replace('_', '-')}"
    if isinstance(attribute.kind, Flag):
        return [option if value else f"--not-{option.removeprefix('--')}"]
    return [option, str(value)]


def _before(version: str) -> str | None:
    """Return the microversion before another one, but at least 1.2, which accepts what the tests send."""
    known = list(HISTORY)
    earlier = known[known.index(version) - 1] if version in known[1:] else None
    return earlier if earlier in known[known.index("1.2") :] else None


def _rest(service: ReservationService, version: str) -> Rest:
    return Rest(service, OpenStack_API_Version=f"reservation {version}")


@pytest.fixture
def service(make: Make) -> ReservationService:
    return started(make, _SETTINGS, 2)


def _told(service: ReservationService, lease_id: str) -> list[Document]:
    """Return the payloads of a lease's notifications, earliest first."""
    lines = service.log.read_text().splitlines()
    found = [json.loads(text[0]) for line in lines if (text := re.findall(r"\{.*\"event_type\".*\}", line))]
    return [each["payload"] for each in found if each["payload"].get("lease_id") == lease_id]


def test_what_is_given_is_kept_shown_and_told(service: ReservationService) -> None:
    given = {each.name: _values(each)[0] for each in _GIVEN}
    rest = Rest(service)
    made = rest.post("leases", {**given, "kind": "best-effort", "duration": 20_000, "nodes": _NODES})["lease"]
    assert {each.name for each in _SHOWN} <= made.keys()
    assert {name: made[name] for name in given} == given
    # What is promised is known once the lease has its place.
    payload = until(
        lambda: [each for each in _told(service, made["id"]) if each["state"] not in ("pending", "queued")]
    )[0]
    for each in ATTRIBUTES:
        if each.is_notified:
            assert payload[each.name] == made[each.name]
        elif each.name not in ("id",):
            assert each.name not in payload
    assert service.interrupt() == 0
    service.start()
    told = rest.get(f"leases/{made['id']}")["lease"]
    # Also for what the engine has read from the database and written again.
    rest.ask("PUT", f"leases/{made['id']}", {"name": "renamed"})
    renamed = rest.get(f"leases/{made['id']}")["lease"]
    for each in _SHOWN:
        assert told[each.name] == made[each.name], each.name
        assert renamed[each.name] == ("renamed" if each.name == "name" else made[each.name]), each.name


def test_each_changes_alone_and_others_stay(service: ReservationService) -> None:
    """Also those that affect planning, while the lease runs and after a restart (issue 16)."""
    rest = Rest(service)
    lease = rest.lease("work", "deadline", duration=20_000, deadline=date(rest.now() + 40_000), preemptible=True)
    until(lambda: rest.state(lease) == "active")
    path = f"leases/{lease['id']}"
    expected = {each.name: lease[each.name] for each in _SHOWN}
    for each in _CHANGED:
        for value in _values(each):
            answer = rest.ask("PUT", path, {each.name: value})
            assert answer.status_code == 200, (each.name, answer.text)
            expected[each.name] = value
            told = answer.json()["lease"]
            assert {name: told[name] for name in expected} == expected
            assert told["state"] == "active"
    payload = until(lambda: [each for each in _told(service, lease["id"]) if each["name"] == expected["name"]])[-1]
    assert {each.name for each in ATTRIBUTES if each.is_notified} <= payload.keys()
    assert service.interrupt() == 0
    service.start()
    told = rest.get(path)["lease"]
    assert {name: told[name] for name in expected} == expected


def test_an_older_microversion_does_not_know_it(service: ReservationService) -> None:
    rest = Rest(service)
    lease = rest.lease("work", "best-effort", duration=20_000)
    path = f"leases/{lease['id']}"
    tried = 0
    for each in ATTRIBUTES:
        body = {"name": "more", "kind": "best-effort", "duration": 20_000, "nodes": _NODES}
        for since, method, where, others in (
            (each.given, "POST", "leases", body),
            (each.changed, "PUT", path, {}),
        ):
            earlier = None if since is None else _before(since)
            if earlier is not None:
                answer = _rest(service, earlier).ask(method, where, {**others, each.name: _values(each)[0]})
                assert (answer.status_code, answer.json().get("field")) == (400, each.name), answer.text
                tried += 1
        if each.shown is not None:
            assert each.name in _rest(service, each.shown).get(path)["lease"]
            earlier = _before(each.shown)
            if earlier is not None:
                assert each.name not in _rest(service, earlier).get(path)["lease"]
                tried += 1
        else:
            assert each.name not in rest.get(path)["lease"]
    assert tried >= 10
    unknown = [each.name for each in ATTRIBUTES if each.given is None]
    for name in unknown:
        assert rest.ask("POST", "leases", {**body, name: None}).status_code == 400


def test_the_command_line_gives_and_changes_it(service: ReservationService) -> None:
    shell = InsideShell(service)
    for each in _GIVEN:
        if each.name == "name":
            continue
        first, second = _values(each)
        words = ("lease", "create", f"with-{each.name}", "--kind", "best-effort", "--nodes", "count=1,vcpus=1")
        made = shell.openstack(*words, "--duration", "1d", *_words(each, first), "-f", "json").document
        name = ("lease", "show", made["id"], "--all", "-f", "json")
        assert shell.openstack(*name).document[each.name] == first
        if each.changed is not None:
            changed = shell.openstack("lease", "set", made["id"], *_words(each, second), "-f", "json")
            assert changed.status == 0, changed.errors
            assert shell.openstack(*name).document[each.name] == second
    named = shell.openstack("lease", "set", made["id"], "--name", "renamed", "-f", "json").document
    assert named["name"] == "renamed"
