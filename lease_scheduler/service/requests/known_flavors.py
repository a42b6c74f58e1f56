"""Flavors that requests name, read from the cloud before the plan is locked."""

from __future__ import annotations

import logging
from collections.abc import Mapping

from lease_scheduler.cloud.facts import Flavor
from lease_scheduler.model.documents import Document

LOG = logging.getLogger(__name__)


def learn_flavors(flavors: Mapping[str, Flavor], lease: Document) -> None:
    """Have the cloud asked for the flavors that a request names. It may take long, so the plan must not be locked.

    :param flavors: the flavors of the cloud; the lookup of one that is unknown or private asks the cloud
    :param lease: a lease document, or changes of one
    """
    for reservation in lease.get("reservations") or ():
        flavor_id = reservation.get("flavor_id")
        if flavor_id is not None and flavor_id not in flavors:
            LOG.debug("a request names flavor %s, which does not exist", flavor_id)
