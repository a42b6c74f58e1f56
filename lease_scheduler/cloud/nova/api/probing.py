"""Probe whether a Placement grants simultaneous claims more than there is, with a separate provider."""

from __future__ import annotations

import logging
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from threading import Barrier
from uuid import NAMESPACE_URL, UUID, uuid5

from lease_scheduler.cloud.nova.api.placement import NoRoomError, Placement

LOG = logging.getLogger(__name__)

_NAMESPACE = uuid5(NAMESPACE_URL, "lease-scheduler probe")

#: Nova never requests a resource of this class, so it never uses the provider.
_CLASS = "CUSTOM_LEASE_PROBE"
_PROVIDER, _PROVIDER_ID = "lease-scheduler-probe", str(uuid5(_NAMESPACE, "provider"))

#: Number of simultaneous claims for one unit, and number of rounds. A Placement with the fault and two workers shows it
#: in about every third round.
_CLAIMS = 8
_ROUNDS = 20


def oversells(placement: Placement, rounds: int = _ROUNDS) -> bool:
    """Return whether Placement granted simultaneous claims more than there is in any round.

    Everything that the probe creates is removed again, with the rest of an earlier probe that was killed.

    :raises keystoneauth1.exceptions.ClientException: Placement does not answer, or refuses
    """
    consumers = [str(uuid5(_NAMESPACE, f"consumer {number}")) for number in range(_CLAIMS)]
    try:
        placement.ensure_class(_CLASS)
        _release(placement, consumers)
        placement.ensure_slots(_PROVIDER_ID, _PROVIDER, None, {_CLASS: 1})
        with ThreadPoolExecutor(_CLAIMS) as pool:
            return any(_has_oversold(placement, pool, consumers) for _ in range(rounds))
    finally:
        _clean_up(placement, consumers)


def _has_oversold(placement: Placement, pool: ThreadPoolExecutor, consumers: list[str]) -> bool:
    start = Barrier(len(consumers))

    def claim(consumer: str) -> None:
        start.wait()
        with suppress(NoRoomError):
            placement.hold(consumer, {_PROVIDER_ID: {_CLASS: 1}}, str(UUID(int=0)), str(UUID(int=0)))

    list(pool.map(claim, consumers))
    found = bool(placement.overdrawn(_PROVIDER_ID))
    _release(placement, consumers)
    return found


def _release(placement: Placement, consumers: list[str]) -> None:
    for consumer in consumers:
        placement.release(consumer)


def _clean_up(placement: Placement, consumers: list[str]) -> None:
    try:
        _release(placement, consumers)
        placement.remove_provider(_PROVIDER_ID)
        placement.remove_class(_CLASS)
    except Exception as error:
        LOG.warning("resource provider %s of a probe is left in Placement: %s", _PROVIDER_ID, error)
