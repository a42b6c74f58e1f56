"""Projects are told about their leases, whatever happens to receivers and engines."""

from __future__ import annotations

import runpy
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from tests.compat.inside import InsideShell
from tests.functional.embedded.conftest import Make
from tests.functional.embedded.receivers import MailReceiver, WebReceiver
from tests.functional.embedded.rest import Document, Rest, date, until
from tests.servers.base import ServerError
from tests.servers.reservation import ReservationService

_SETTINGS = """
[simulated_cloud]
hosts = 2
clock_speed = 60
clock_start = 1800000000
[oslo_messaging_notifications]
driver = log
[tenant_notifications]
enabled_drivers = webhook
webhook_allowed_networks = 127.0.0.0/8
webhook_timeout = 2
retry_interval = 1
max_retry_interval = 1
"""

_VERIFY = Path(__file__).parents[3] / "doc" / "source" / "user" / "verify_webhook.py"


def _member(service: ReservationService, project: str) -> Rest:
    return Rest(service, X_Project_Id=project, X_User_Id=f"user of {project}", X_Roles="member")


def _subscribe(rest: Rest, url: str, **said: object) -> Document:
    found: Document = rest.post("subscriptions", {"driver": "webhook", "target": url, **said})["subscription"]
    return found


def _show(rest: Rest, subscription: Document) -> Document:
    found: Document = rest.get(f"subscriptions/{subscription['id']}")["subscription"]
    return found


def _show_when(rest: Rest, subscription: Document, is_so: Callable[[Document], object]) -> Document:
    """Wait until a subscription is shown as expected, and return it."""

    def look() -> Document:
        found = _show(rest, subscription)
        return found if is_so(found) else {}

    return until(look)


def _types(receiver: WebReceiver) -> list[str]:
    return [each.event_type for each in receiver.got]


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ReservationService]:
    """A service for all tests that leave it as it is; each has projects of its own."""
    running = ReservationService(tmp_path_factory.mktemp("service"), configuration=_SETTINGS)
    try:
        running.start()
        Rest(running).register(2)
        yield running
    finally:
        running.kill()


@pytest.fixture
def red(service: ReservationService, request: pytest.FixtureRequest) -> Rest:
    return _member(service, f"red {request.node.name}")


@pytest.fixture
def blue(service: ReservationService, request: pytest.FixtureRequest) -> Rest:
    return _member(service, f"blue {request.node.name}")


@pytest.fixture
def receivers() -> Iterator[Callable[[], WebReceiver]]:
    made: list[WebReceiver] = []

    def one() -> WebReceiver:
        made.append(WebReceiver())
        return made[-1]

    yield one
    for each in made:
        each.stop()


@pytest.fixture
def receiver(receivers: Callable[[], WebReceiver]) -> WebReceiver:
    made = receivers()
    made.start()
    return made


def test_a_project_is_told_of_its_leases_and_can_verify_it(red: Rest, blue: Rest, receiver: WebReceiver) -> None:
    """With the code that the documentation shows; nobody is told of leases of others."""
    is_genuine = runpy.run_path(str(_VERIFY))["is_genuine"]
    subscription = _subscribe(red, receiver.url)
    assert subscription["secret"].startswith("whsec_")
    assert subscription["event_types"] == []
    blue.lease("theirs", "best-effort", duration=600)
    lease = red.lease("mine", "best-effort", duration=600)
    until(lambda: "lease.event.end_lease" in _types(receiver))
    assert _types(receiver)[0] == "lease.create"
    assert {each.document["payload"]["lease_id"] for each in receiver.got} == {lease["id"]}
    for each in receiver.got:
        assert each.headers["Webhook-Id"] == each.document["message_id"]
        assert is_genuine(subscription["secret"], each.headers, each.body)
        assert not is_genuine(subscription["secret"], each.headers, each.body + b" ")
        late = {**each.headers, "Webhook-Timestamp": str(int(each.headers["Webhook-Timestamp"]) + 1)}
        assert not is_genuine(subscription["secret"], late, each.body)
        old = {**each.headers, "Webhook-Timestamp": str(int(time.time()) - 3_600)}
        assert not is_genuine(subscription["secret"], old, each.body)
    ids = [each.document["message_id"] for each in receiver.got]
    assert len(set(ids)) == len(ids)
    shown = _show_when(red, subscription, lambda found: found["waiting"] == 0)
    assert (shown["failed_attempts"], shown["last_error"], shown["next_attempt_at"]) == (0, None, None)
    assert shown["delivered_at"] is not None
    assert "secret" not in shown
    assert "secret" not in str(red.get("subscriptions"))


def test_the_payload_is_the_one_that_is_published(
    service: ReservationService, red: Rest, receiver: WebReceiver
) -> None:
    from tests.functional.embedded.test_attributes import _told

    _subscribe(red, receiver.url)
    lease = red.lease("mine", "best-effort", duration=600)
    until(lambda: "lease.event.end_lease" in _types(receiver))
    published = until(lambda: _told(service, lease["id"]))
    assert receiver.got[0].document["payload"] == published[0]


def test_what_is_delivered_can_be_limited(red: Rest, receiver: WebReceiver) -> None:
    """To event types, and to one lease; a subscription to a lease goes with it."""
    times = {"start_date": date(red.now() + 864_000), "duration": 600}
    lease, other = (red.lease(name, "reservation", **times) for name in ("one", "other"))
    ends = _subscribe(red, f"{receiver.url}/ends", event_types=["lease.delete"])
    one = _subscribe(red, f"{receiver.url}/one", lease_id=lease["id"])
    for each in (other, lease):
        assert red.ask("DELETE", f"leases/{each['id']}").status_code == 204
    until(lambda: len(receiver.got) == 4)
    told = [(each.path, each.event_type, each.document["payload"]["name"]) for each in receiver.got]
    assert [each[1:] for each in told if each[0] == "/leases/ends"] == [
        ("lease.delete", "other"),
        ("lease.delete", "one"),
    ]
    assert [each[1:] for each in told if each[0] == "/leases/one"] == [
        ("lease.event.end_lease", "one"),
        ("lease.delete", "one"),
    ]
    until(lambda: red.ask("GET", f"subscriptions/{one['id']}").status_code == 404)
    assert [each["id"] for each in red.get("subscriptions")["subscriptions"]] == [ends["id"]]


def test_a_receiver_that_is_down_gets_everything_when_it_is_up(
    red: Rest, receivers: Callable[[], WebReceiver], receiver: WebReceiver
) -> None:
    """And delays no other one meanwhile."""
    down = receivers()
    subscription = _subscribe(red, down.url)
    _subscribe(red, receiver.url)
    red.lease("mine", "best-effort", duration=600)
    until(lambda: "lease.event.end_lease" in _types(receiver))
    shown = _show_when(red, subscription, lambda found: found["failed_attempts"] > 1)
    assert shown["last_error"] == "the receiver cannot be reached: Connection refused"
    assert shown["waiting"] == len(receiver.got)
    assert shown["next_attempt_at"] is not None
    down.start()
    until(lambda: len(down.got) == len(receiver.got))
    assert [each.document["payload"] for each in down.got] == [each.document["payload"] for each in receiver.got]


def test_a_receiver_that_fails_is_tried_again_with_the_same_id(red: Rest, receiver: WebReceiver) -> None:
    """Also with the same body, but a new time and signature; and in order."""
    receiver.status = 500
    subscription = _subscribe(red, receiver.url)
    red.lease("mine", "best-effort", duration=600)
    until(lambda: len(receiver.got) >= 3)
    assert _show(red, subscription)["last_error"] == "the receiver answered with the status 500"
    receiver.status = 200
    until(lambda: "lease.event.end_lease" in _types(receiver))
    first = [each for each in receiver.got if each.event_type == "lease.create"]
    assert len(first) >= 3
    assert len({(each.headers["Webhook-Id"], each.body) for each in first}) == 1
    assert len({each.headers["Webhook-Timestamp"] for each in first}) > 1
    assert _types(receiver)[: len(first)] == ["lease.create"] * len(first)


def test_a_killed_engine_loses_nothing(make: Make, receiver: WebReceiver) -> None:
    """It is killed while a receiver has a request that it has not confirmed; the next one sends that one again."""
    service = make(configuration=_SETTINGS)
    service.start()
    Rest(service).register(2)
    red = _member(service, "red")
    receiver.goes_on.clear()
    _subscribe(red, receiver.url)
    lease = red.lease("mine", "best-effort", duration=1_200)
    until(lambda: receiver.got)
    service.kill()
    unconfirmed = len(receiver.got)
    receiver.goes_on.set()
    service.start()
    until(lambda: "lease.event.end_lease" in _types(receiver))
    again = receiver.got[unconfirmed]
    assert again.headers["Webhook-Id"] == receiver.got[0].headers["Webhook-Id"]
    assert again.event_type == "lease.create"
    states = [
        entry["to"] for entry in red.get(f"leases/{lease['id']}/history")["history"] if entry["from"] != entry["to"]
    ]
    told = [
        each.document["payload"]["state"]
        for each in receiver.got[unconfirmed:]
        if "state_before" in each.document["payload"]
    ]
    assert told == states


def test_a_project_sees_and_changes_only_its_own(
    service: ReservationService, red: Rest, blue: Rest, receiver: WebReceiver
) -> None:
    subscription = _subscribe(red, receiver.url)
    path = f"subscriptions/{subscription['id']}"
    assert blue.get("subscriptions")["subscriptions"] == []
    assert blue.ask("GET", "subscriptions?all_projects=true").status_code == 403
    for method, body in (("GET", None), ("PUT", {"event_types": []}), ("DELETE", None)):
        assert blue.ask(method, path, body).status_code == 403
    lease = red.lease("mine", "best-effort", duration=600)
    refused = blue.ask("POST", "subscriptions", {"driver": "webhook", "target": receiver.url, "lease_id": lease["id"]})
    assert (refused.status_code, refused.json()["field"]) == (400, "lease_id")
    project = subscription["project_id"]
    reader = Rest(service, X_Project_Id=project, X_User_Id="reader", X_Roles="reader")
    assert [each["id"] for each in reader.get("subscriptions")["subscriptions"]] == [subscription["id"]]
    assert reader.ask("DELETE", path).status_code == 403
    everything = Rest(service).get("subscriptions?all_projects=true")["subscriptions"]
    assert subscription["id"] in [each["id"] for each in everything]
    of_red = Rest(service).get(f"subscriptions?project_id={quote(project)}")["subscriptions"]
    assert [each["id"] for each in of_red] == [subscription["id"]]


def test_a_subscription_is_changed_and_withdrawn(
    red: Rest, receivers: Callable[[], WebReceiver], receiver: WebReceiver
) -> None:
    """What waits goes to the new target at once; what waits for a withdrawn one is dropped."""
    down = receivers()
    moved, withdrawn = _subscribe(red, down.url), _subscribe(red, down.url)
    red.lease("mine", "best-effort", duration=600)
    until(lambda: _show(red, moved)["failed_attempts"] and _show(red, withdrawn)["failed_attempts"])
    answer = red.ask("PUT", f"subscriptions/{moved['id']}", {"target": receiver.url})
    assert answer.json()["subscription"]["target"] == receiver.url
    until(lambda: "lease.event.end_lease" in _types(receiver))
    assert _types(receiver)[0] == "lease.create"
    assert red.ask("DELETE", f"subscriptions/{withdrawn['id']}").status_code == 204
    assert red.ask("GET", f"subscriptions/{withdrawn['id']}").status_code == 404
    down.start()
    time.sleep(2.5)
    assert down.got == []


def test_addresses_of_the_operator_are_not_reached(make: Make, receiver: WebReceiver) -> None:
    """Without an exception for loopback, whatever the URL is called."""
    service = make(configuration=_SETTINGS.replace("webhook_allowed_networks = 127.0.0.0/8", "webhook_allow_http = on"))
    service.start()
    rest = Rest(service)
    rest.register(1)
    port = receiver.port
    made = [_subscribe(rest, f"http://{host}:{port}/") for host in ("127.0.0.1", "localhost", "2130706433")]
    rest.lease("mine", "best-effort", duration=600)
    for each in made:
        shown = _show_when(rest, each, lambda found: found["last_error"])
        assert shown["last_error"] == "the address of the host is not public, and the operator does not allow it"
    assert receiver.got == []


def test_mails(make: Make, tmp_path: Path) -> None:
    """With a login, encryption, and a template of the operator; a refused recipient is tried again."""
    (tmp_path / "templates").mkdir()
    (tmp_path / "templates" / "lease.create.txt").write_text("Subject: $name is $state\n\n$name\n")
    mails = MailReceiver(tmp_path)
    mails.code = "550 5.1.1 no such user at mail.internal"
    lines = f"{mails.settings}mail_allowed_domains = example.org\nmail_templates = {tmp_path / 'templates'}\n"
    service = make(configuration=_SETTINGS.replace("= webhook", "= webhook,mail") + lines)
    mails.start()
    try:
        service.start()
        rest = Rest(service)
        rest.register(1)
        body = {
            "driver": "mail",
            "target": "user@example.org",
            "event_types": ["lease.create", "lease.event.end_lease"],
        }
        subscription = rest.post("subscriptions", body)["subscription"]
        assert subscription["secret"] is None
        refused = rest.ask("POST", "subscriptions", {**body, "target": "user@example.com"})
        assert (refused.status_code, refused.json()["field"]) == (400, "target")
        lease = rest.lease("n\u00e4ht", "best-effort", duration=600)
        shown = _show_when(rest, subscription, lambda found: found["failed_attempts"] > 1)
        assert shown["last_error"] == "the mail server refuses the address (550)"
        mails.code = "250 OK"
        until(lambda: len(mails.got) == 2)
    finally:
        mails.stop()
    made, ended = mails.got
    assert (made["Subject"], made.get_content().split()) == ("n\u00e4ht is queued", ["n\u00e4ht"])
    assert (made["From"], made["To"], made["X-Recipients"]) == ("leases@example.org", *["user@example.org"] * 2)
    assert ended["Subject"] == "Lease n\u00e4ht is over"
    assert lease["id"] in ended.get_content()
    assert made["Message-ID"] != ended["Message-ID"]


def test_a_service_with_a_broken_template_does_not_start(make: Make, tmp_path: Path) -> None:
    (tmp_path / "templates").mkdir()
    (tmp_path / "templates" / "lease.create.txt").write_text("Subject: $nmae\n\n")
    settings = f"mail_sender = leases@example.org\nmail_templates = {tmp_path}/templates\n"
    service = make(configuration=_SETTINGS.replace("= webhook", "= mail") + settings)
    with pytest.raises(ServerError, match=r"mail_templates: .*lease.create.txt: there is no placeholder \$nmae"):
        service.start()


def test_the_number_is_limited(make: Make) -> None:
    service = make(configuration=f"{_SETTINGS}max_subscriptions = 1\n")
    service.start()
    rest = Rest(service)
    _subscribe(rest, "https://192.0.2.1/")
    refused = rest.ask("POST", "subscriptions", {"driver": "webhook", "target": "https://192.0.2.1/"})
    assert refused.status_code == 403
    assert "at most 1 subscriptions" in refused.json()["error_message"]


def test_nobody_can_subscribe_while_it_is_switched_off(make: Make) -> None:
    """As it is by default."""
    service = make()
    service.start()
    body = {"driver": "webhook", "target": "https://192.0.2.1/"}
    for method, asked in (("GET", None), ("POST", body)):
        answer = Rest(service).ask(method, "subscriptions", asked)
        assert answer.status_code == 403
        assert "The operator of this site has not switched on" in answer.json()["error_message"]


def test_the_commands(service: ReservationService, receiver: WebReceiver) -> None:
    shell = InsideShell(service)

    def run(*words: str) -> Any:
        return shell.openstack("lease", "subscription", *words, "-f", "json").document

    words = ("--webhook", receiver.url, "--event", "lease.create", "--event", "lease.event.end_lease")
    made = run("create", *words)
    assert made["secret"].startswith("whsec_")
    Rest(service).lease("mine", "best-effort", duration=600)
    until(lambda: "lease.event.end_lease" in _types(receiver))
    assert _types(receiver) == ["lease.create", "lease.event.end_lease"]
    (listed,) = run("list")
    assert (listed["ID"], listed["Driver"], listed["Target"]) == (made["id"], "webhook", receiver.url)
    assert run("show", made["id"])["event_types"] == ["lease.create", "lease.event.end_lease"]
    assert shell.openstack("lease", "subscription", "delete", made["id"]).status == 0
    assert run("list") == []
