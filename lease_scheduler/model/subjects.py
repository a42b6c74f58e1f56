"""Names of what policies and administrators keep something for: projects, users, peers."""

from __future__ import annotations

from lease_scheduler.model.errors import InvalidValueError

#: Longest name that the database can keep.
LONGEST_SUBJECT = 255


def checked_subject(field: str, name: str) -> str:
    """Return a name that can be kept.

    :param field: name of the field in an error
    :raises InvalidValueError: it is longer than ``LONGEST_SUBJECT`` characters, empty or not printable
    """
    if not 0 < len(name) <= LONGEST_SUBJECT or not name.isprintable():
        raise InvalidValueError(field, f"must be 1 to {LONGEST_SUBJECT} printable characters, not {name[:80]!a}")
    return name
