"""The driver that sends notifications as mails, through a mail server of the operator."""

from __future__ import annotations

import re
import smtplib
import ssl
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from email.message import EmailMessage
from email.utils import formatdate
from typing import Any

from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.records.subscriptions import Delivery, SubscriptionRecord
from lease_scheduler.service.telling.subscriptions.base import NotDeliveredError
from lease_scheduler.service.telling.subscriptions.templates import MailTemplate

#: A plain address, without quotes, comments or a name, as headers could be hidden in these.
_ADDRESS = re.compile(
    r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*"
    r"@([A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?\.)*[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?"
)
_LONGEST_ADDRESS = 254
_LONGEST_LOCAL_PART = 64


def check_address(address: str, domains: Sequence[str], field: str) -> None:
    """Refuse a text that is no mail address, or an address that the operator does not allow.

    :param domains: domains of allowed addresses; empty for all
    :param field: name of the address, for the error
    :raises InvalidValueError: says what is wrong, and what would be right
    """
    local_part, _, domain = address.rpartition("@")
    too_long = len(address) > _LONGEST_ADDRESS or len(local_part) > _LONGEST_LOCAL_PART
    if too_long or not _ADDRESS.fullmatch(address):
        raise InvalidValueError(field, "must be a mail address like user@example.org, without a name")
    if domains and domain.lower() not in {each.lower() for each in domains}:
        raise InvalidValueError(field, f"must be an address of one of: {', '.join(domains)}")


@dataclass(frozen=True)
class MailServer:
    """The mail server that takes the mails.

    :ivar starttls: whether the connection is encrypted, for which the server needs a valid certificate
    :ivar user: name to log in with; empty for no login
    :ivar timeout: real seconds to wait for each answer
    :ivar authorities: file of CA certificates to trust; empty for those of the system
    """

    host: str
    port: int = 25
    starttls: bool = False
    user: str = ""
    password: str = field(default="", repr=False)
    timeout: float = 10.0
    authorities: str = ""


class Mail:
    """Driver that sends notifications as mails.

    :param sender: address from which they come
    :param templates: template of each event type
    :param domains: domains to which mails may be sent; empty for all
    """

    def __init__(
        self, server: MailServer, sender: str, templates: Mapping[str, MailTemplate], domains: Sequence[str] = ()
    ) -> None:
        self._server = server
        self._sender = sender
        self._templates = templates
        self._domains = tuple(domains)
        self._context = ssl.create_default_context(cafile=server.authorities or None) if server.starttls else None

    def send(self, subscription: SubscriptionRecord, delivery: Delivery) -> None:
        """Send a delivery.

        :raises NotDeliveredError: the mail server does not take it, or the operator does not allow the address
        """
        try:
            check_address(subscription.target, self._domains, "target")
        except InvalidValueError as error:
            raise NotDeliveredError(str(error)) from error
        mail = compose(self._sender, subscription.target, delivery, self._templates[delivery.message.event_type])
        with _plain_errors():
            self._hand_over(mail)

    def _hand_over(self, mail: EmailMessage) -> None:
        server = self._server
        connection = smtplib.SMTP(server.host, server.port, timeout=server.timeout)
        try:
            if self._context is not None:
                connection.starttls(context=self._context)
            if server.user:
                connection.login(server.user, server.password)
            connection.send_message(mail)
            # The server has the mail now, even if it closes the connection badly.
            with suppress(OSError, smtplib.SMTPException):
                connection.quit()
        finally:
            connection.close()


def compose(sender: str, recipient: str, delivery: Delivery, template: MailTemplate) -> EmailMessage:
    """Return the mail of a delivery. Its ``Message-ID`` is the same at every attempt."""
    subject, text = template.filled(delivery)
    mail = EmailMessage()
    mail["From"] = sender
    mail["To"] = recipient
    mail["Subject"] = subject
    mail["Date"] = formatdate()
    mail["Message-ID"] = f"<{delivery.delivery_id}@{sender.rpartition('@')[2]}>"
    # Keeps automatic responders from answering (RFC 3834).
    mail["Auto-Submitted"] = "auto-generated"
    mail.set_content(text)
    return mail


@contextmanager
def _plain_errors() -> Iterator[None]:
    """Turn errors into texts for the project, which reveal nothing of the operator's server but its codes."""
    try:
        yield
    except smtplib.SMTPRecipientsRefused as error:
        raise NotDeliveredError(f"the mail server refuses the address ({_code(error.recipients)})") from error
    except smtplib.SMTPResponseException as error:
        raise NotDeliveredError(f"the mail server does not take the mail ({error.smtp_code})") from error
    except (OSError, smtplib.SMTPException) as error:
        raise NotDeliveredError("the mail server of the site cannot be reached") from error


def _code(recipients: Mapping[str, tuple[Any, Any]]) -> str:
    return ", ".join(str(code) for code, _ in recipients.values())
