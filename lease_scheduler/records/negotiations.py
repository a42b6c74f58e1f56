"""Records of negotiations as JSON documents."""

from __future__ import annotations

from collections.abc import Set
from enum import Enum
from typing import Any

from cattrs import BaseValidationError, Converter

from lease_scheduler.federation.answers import Reason, reason_of
from lease_scheduler.federation.negotiation.record import Negotiation
from lease_scheduler.model.documents import Document
from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.model.resources import Resources


def _converter() -> Converter:
    """Return the converter between records and documents; see the types of ``Negotiation`` for their form."""
    found = Converter(unstruct_collection_overrides={Set: sorted})
    found.register_unstructure_hook(Resources, dict)
    found.register_structure_hook(Resources, lambda amounts, _: Resources(amounts))
    found.register_structure_hook(Reason, lambda word, _: reason_of(word))
    # cattrs does not find the type of the values of a StrEnum.
    found.register_structure_hook_func(_is_enum, lambda word, words: words(word))
    return found


def _is_enum(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, Enum)


_CONVERTER = _converter()


def as_document(record: Negotiation) -> dict[str, Any]:
    """Return a record as a JSON object. What ``restored`` makes of it equals the record."""
    document: dict[str, Any] = _CONVERTER.unstructure(record)
    return document


def restored(document: Document) -> Negotiation:
    """Return the record that was stored. Fields that an older version did not have get their defaults.

    :raises InvalidValueError: the document is no stored record
    """
    try:
        return _CONVERTER.structure(document, Negotiation)
    except (BaseValidationError, AttributeError, KeyError, TypeError, ValueError) as error:
        raise InvalidValueError("record", f"is no stored negotiation: {error!r}") from error
