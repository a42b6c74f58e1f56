"""The settings of the API, as plain values."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from lease_scheduler.model.pools import PoolRule
from lease_scheduler.model.power import Watts


@dataclass(frozen=True)
class ApiSettings:
    """Settings of the API.

    :ivar auth: ``noauth`` trusts the headers of the request, ``keystone`` those that keystonemiddleware has set
    :ivar peer_role: role of the users that stand for peers, whose names become the origins of leases; None for no peers
    :ivar site: name of the site, by which it recognizes requests that it has passed on itself
    :ivar most_passes: how often a request may have been passed on before it comes here
    :ivar speed: work that the site does in a second, relative to other sites with the same capacity
    :ivar privacy: whether projects see of each other's leases only that capacity is taken
    :ivar maximum_body: maximum size of a request body in bytes
    :ivar maximum_page: maximum number of elements on one page of a list, from microversion 1.1 on
    :ivar maximum_occurrences: maximum number of leases in one series
    :ivar series_days: maximum number of days from the first lease of a series to the last one
    :ivar notification_drivers: drivers to which projects may subscribe; empty if they may not subscribe at all
    :ivar pools: who may use each pool, in the configured order; empty if the site has only one
    :ivar feeds: whether leases can be read at secret addresses without a token
    :ivar retry_after: seconds after which a client may try again when engine or database do not answer
    :ivar watts: power that hosts take, unless their properties say something else
    """

    auth: Literal["noauth", "keystone"] = "keystone"
    peer_role: str | None = None
    site: str = "default"
    most_passes: int = 4
    speed: float = 1.0
    privacy: bool = True
    maximum_body: int = 1_048_576
    maximum_page: int = 1_000
    maximum_occurrences: int = 366
    series_days: int = 366
    notification_drivers: tuple[str, ...] = ()
    pools: tuple[PoolRule, ...] = ()
    feeds: bool = True
    retry_after: int = 5
    watts: Watts = field(default_factory=Watts)
