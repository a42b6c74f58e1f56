"""How long calls to another site may take."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass, field

from openstack.connection import Connection

from lease_scheduler.federation.members import Verb
from lease_scheduler.sdk.proxy import Proxy

_SERVICE = "reservation"
#: Reading the state of a site takes no longer than this, in seconds.
_READ = 5.0
#: Verbs that have a plan made wait for the site's engine, which may be busy.
_PLAN = 20.0


@dataclass(frozen=True)
class Timeouts:
    """Seconds after which a call counts as unanswered.

    They limit each wait: for the connection, and for each part of the answer.

    :ivar describe: for the description of a site
    :ivar by_verb: for each verb
    """

    describe: float = _READ
    by_verb: Mapping[Verb, float] = field(
        default_factory=lambda: {verb: _READ if verb in (Verb.SHOW, Verb.EVENTS) else _PLAN for verb in Verb}
    )


def within(connection: Connection, seconds: float) -> Proxy:
    """Return the reservation service of a connection, which waits only this long, and tries nothing again by itself.

    Unlike ``connection.reservation``, it asks the site for its versions only with the first call, so a site that is
    away can be a member.
    """
    config = connection.config
    session = copy.copy(config.get_session())
    session.timeout = seconds
    found = Proxy(
        session,
        service_type=config.get_service_type(_SERVICE),
        service_name=config.get_service_name(_SERVICE),
        interface=config.get_interface(_SERVICE),
        region_name=config.get_region_name(_SERVICE),
        endpoint_override=config.get_endpoint(_SERVICE),
        default_microversion=config.get_default_microversion(_SERVICE),
        connect_retries=0,
        status_code_retries=0,
    )
    # As openstacksdk does for the services that it makes by itself.
    found._connection = connection
    return found
