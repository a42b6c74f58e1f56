from __future__ import annotations

from email import message_from_bytes, policy
from typing import Any

import pytest

from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.records.messages import Message
from lease_scheduler.records.subscriptions import EVENT_TYPES, Delivery, SubscriptionRecord
from lease_scheduler.service.telling.subscriptions.base import NotDeliveredError
from lease_scheduler.service.telling.subscriptions.mail import Mail, MailServer, check_address, compose
from lease_scheduler.service.telling.subscriptions.templates import load_templates
from tests.servers.base import free_port

_TEMPLATES = load_templates("", "option")


def _delivery(event_type: str = "lease.create", **payload: Any) -> Delivery:
    values = {"lease_id": "the-lease", "name": "night", "project_id": "red", "kind": "best-effort", "state": "queued"}
    return Delivery(
        "id-1", "the-subscription", Message(event_type, {**values, "start": None, "end": None, **payload}), 1
    )


@pytest.mark.parametrize("address", ["user@example.org", "a.b+c@sub.example.org", "root@localhost", "x_y@z"])
def test_mail_addresses(address: str) -> None:
    check_address(address, (), "target")


@pytest.mark.parametrize(
    "address",
    [
        "",
        "user",
        "@example.org",
        "user@",
        "a@b@example.org",
        "User <user@example.org>",
        "user@example.org, other@example.org",
        "user@example.org\r\nBcc: other@example.org",
        "user@example.org\n",
        "user name@example.org",
        '"user"@example.org',
        ".user@example.org",
        "user@-example.org",
        "user@ex\u00e4mple.org",
        f"{'u' * 65}@example.org",
        f"user@{'e' * 250}.org",
    ],
)
def test_other_texts_are_no_mail_addresses(address: str) -> None:
    with pytest.raises(InvalidValueError, match="^target: must be a mail address like"):
        check_address(address, (), "target")


def test_an_operator_may_allow_some_domains_only() -> None:
    check_address("user@Example.ORG", ("example.org",), "target")
    for address in ("user@sub.example.org", "user@example.org.evil.example"):
        with pytest.raises(InvalidValueError, match="must be an address of one of: example.org"):
            check_address(address, ("example.org",), "target")


@pytest.mark.parametrize("event_type", EVENT_TYPES)
def test_every_event_has_a_mail(event_type: str) -> None:
    delivery = _delivery(event_type, start=1_896_091_230, end=1_896_094_830, preempted_at=1_896_091_231)
    mail = compose("leases@example.org", "user@example.org", delivery, _TEMPLATES[event_type])
    assert "night" in mail["Subject"]
    text = mail.get_content()
    assert "$" not in text
    assert "the-lease" in text
    assert "openstack lease subscription delete the-subscription" in text


def test_the_headers() -> None:
    mail = compose("leases@example.org", "user@example.org", _delivery(), _TEMPLATES["lease.create"])
    sent = message_from_bytes(mail.as_bytes(), policy=policy.default)
    assert (sent["From"], sent["To"]) == ("leases@example.org", "user@example.org")
    assert sent["Subject"] == "Lease night was made"
    assert sent["Message-ID"] == "<id-1@example.org>"
    assert sent["Auto-Submitted"] == "auto-generated"
    assert sent["Date"] is not None
    assert "Planned start: -\n" in sent.get_content()


@pytest.mark.parametrize("line_break", ["\r\n", "\n", "\r", "\x0b", "\x85", "\u2028"])
def test_no_value_can_add_a_header_or_a_line(line_break: str) -> None:
    name = f"night{line_break}Bcc: other@example.org{line_break}{line_break}text"
    mail = compose("leases@example.org", "user@example.org", _delivery(name=name), _TEMPLATES["lease.create"])
    sent = message_from_bytes(mail.as_bytes(), policy=policy.default)
    assert sent["Bcc"] is None
    assert sent["Subject"] == "Lease night Bcc: other@example.org text was made"
    assert "The lease night Bcc: other@example.org text (best-effort) was made" in sent.get_content()


def test_a_long_name_makes_no_endless_subject() -> None:
    mail = compose("leases@example.org", "user@example.org", _delivery(name="n" * 999), _TEMPLATES["lease.create"])
    assert len(mail["Subject"]) == 200


def test_a_mail_server_that_is_away_and_an_address_that_is_not_allowed_any_more() -> None:
    driver = Mail(MailServer("127.0.0.1", free_port()), "leases@example.org", _TEMPLATES, ("example.org",))
    record = SubscriptionRecord("one", "red", "user", "mail", "user@example.org", 1)
    with pytest.raises(NotDeliveredError, match="^the mail server of the site cannot be reached$"):
        driver.send(record, _delivery())
    other = SubscriptionRecord("one", "red", "user", "mail", "user@example.com", 1)
    with pytest.raises(NotDeliveredError, match="target: must be an address of one of"):
        driver.send(other, _delivery())
