"""Templates of mails: a file of plain text for each event type, with placeholders such as ``$name``.

The first line of a file is ``Subject: ...``, the second one is empty, and the rest is the text of the mail. An operator
may put files of the same names into a folder, which replace the shipped ones.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from string import Template
from typing import Any

from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.records.dates import utc
from lease_scheduler.records.subscriptions import EVENT_TYPES, Delivery

_SHIPPED = Path(__file__).parent / "mail_templates"
_SUFFIX = ".txt"
_SUBJECT = "Subject: "

#: Placeholders whose values are texts or numbers of the payload.
_TEXTS = (
    *("lease_id", "name", "project_id", "user_id", "kind", "state", "state_before", "reason", "description"),
    *("price", "preemption_mode", "origin", "idle_seconds", "ends_after"),
)
#: Placeholders whose values are instants of the payload, shown as dates.
_INSTANTS = ("start", "end", "instant", "offered_until", "preempted_at", "idle_since")
#: Placeholders that do not come from the payload.
_OTHERS = ("event_type", "subscription_id")

PLACEHOLDERS = frozenset({*_TEXTS, *_INSTANTS, *_OTHERS})

#: Text in place of a missing value.
_NOTHING = "-"
_LONGEST_SUBJECT = 200


@dataclass(frozen=True)
class MailTemplate:
    """The template of a mail."""

    subject: Template
    body: Template

    def filled(self, delivery: Delivery) -> tuple[str, str]:
        """Return the subject and the text of a mail. Values have neither line breaks nor control characters."""
        values = _values(delivery)
        return self.subject.substitute(values)[:_LONGEST_SUBJECT].strip(), self.body.substitute(values)


def load_templates(folder: str, option: str) -> Mapping[str, MailTemplate]:
    """Return the template of each event type.

    :param folder: templates of the operator, for any of the event types; empty for none
    :param option: name of the option that has the folder, for errors
    :raises InvalidValueError: a file is no template, or is for no event type
    """
    found = {event_type: _read(_SHIPPED / f"{event_type}{_SUFFIX}", option) for event_type in EVENT_TYPES}
    if not folder:
        return found
    try:
        own = sorted(Path(folder).iterdir())
    except OSError as error:
        raise InvalidValueError(option, f"{folder} cannot be read: {error.strerror}") from error
    for path in own:
        event_type = path.name.removesuffix(_SUFFIX)
        if path.suffix != _SUFFIX or event_type not in found:
            raise InvalidValueError(option, f"{path}: must have the name of an event type, such as lease.create.txt")
        found[event_type] = _read(path, option)
    return found


def _read(path: Path, option: str) -> MailTemplate:
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise InvalidValueError(option, f"{path} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise InvalidValueError(option, f"{path} is not UTF-8: byte {error.start}") from error
    first, _, rest = text.partition("\n")
    if not first.startswith(_SUBJECT) or not first.removeprefix(_SUBJECT).strip() or not rest.startswith("\n"):
        raise InvalidValueError(
            option, f"{path}: must begin with a line like 'Subject: Lease $name', and an empty line"
        )
    made = MailTemplate(Template(first.removeprefix(_SUBJECT)), Template(rest.removeprefix("\n")))
    for template in (made.subject, made.body):
        if not template.is_valid():
            raise InvalidValueError(option, f"{path}: has a $ that begins no placeholder; write $$ for a dollar sign")
        unknown = sorted(set(template.get_identifiers()) - PLACEHOLDERS)
        if unknown:
            known = ", ".join(sorted(PLACEHOLDERS))
            raise InvalidValueError(option, f"{path}: there is no placeholder ${unknown[0]}; there are: {known}")
    return made


def _values(delivery: Delivery) -> dict[str, str]:
    payload = delivery.message.payload
    texts = {name: _in_a_line(payload.get(name)) for name in _TEXTS}
    dates = {name: _date(payload.get(name)) for name in _INSTANTS}
    others = {"event_type": delivery.message.event_type, "subscription_id": delivery.subscription_id}
    return {**texts, **dates, **others}


def _in_a_line(value: Any) -> str:
    """Return a value as text of one line, so that it cannot begin a new line or header."""
    if value is None:
        return _NOTHING
    visible = "".join(character if character.isprintable() else " " for character in str(value))
    return " ".join(visible.split()) or _NOTHING


def _date(instant: int | None) -> str:
    return _NOTHING if instant is None else utc(instant).strftime("%Y-%m-%d %H:%M:%S UTC")
