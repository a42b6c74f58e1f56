"""Refusals of the plan as answers to requests."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from lease_scheduler.model.documents import Document
from lease_scheduler.model.errors import InvalidValueError, RefusedError
from lease_scheduler.model.refusals import RefusalReason
from lease_scheduler.plan.explaining.explain import NoPlaceError, Refusal
from lease_scheduler.plan.plan import NotPlannableError


def alternatives(refusal: Refusal) -> list[Document]:
    """Return the alternatives of a refusal, as plain values for the answer."""
    return [
        {
            "change": alternative.change,
            "start": alternative.start,
            "end": alternative.start + alternative.duration,
            "count": alternative.nodes,
            "preempted": dict(alternative.preempted),
        }
        for alternative in refusal.alternatives
    ]


def reason_for(context: Mapping[str, Any], refusal: Refusal) -> str:
    """Return why a request is refused, with names of hosts only for callers that see the site (``sees_site``)."""
    return refusal.message if context.get("sees_site") else refusal.anonymous


@contextmanager
def refusals(context: Mapping[str, Any]) -> Iterator[None]:
    """Turn errors of the plan within the block into refusals of the request.

    :param context: context of the request; without ``sees_site``, refusals name no hosts
    :raises RefusedError: 409 if there is no place, 400 for an invalid value
    """
    try:
        yield
    except NoPlaceError as error:
        refusal = error.refusal
        text = "Not enough hosts available" if refusal.reason in _NO_CAPACITY else ""
        reason = reason_for(context, refusal)
        message = f"{text}: {reason}" if text else reason
        raise RefusedError(
            409, message, _FIELDS.get(refusal.reason), alternatives(refusal), reason=refusal.reason
        ) from error
    except NotPlannableError as error:
        raise RefusedError(409, f"Not enough hosts available: {error}", reason=RefusalReason.CAPACITY) from error
    except InvalidValueError as error:
        raise RefusedError(400, str(error), error.field) from error


_NO_CAPACITY = frozenset(
    {
        RefusalReason.CAPACITY,
        RefusalReason.SIZE,
        RefusalReason.TRAITS,
        RefusalReason.IN_THE_WAY,
        RefusalReason.ASLEEP,
    }
)
_FIELDS = {
    RefusalReason.APPROVAL: "approval",
    RefusalReason.PAST: "start_date",
    RefusalReason.DEADLINE: "deadline",
    RefusalReason.PRICE: "max_price",
    RefusalReason.ASSURANCE: "min_lifetime",
    RefusalReason.FRACTIONAL: "min_yield",
}
