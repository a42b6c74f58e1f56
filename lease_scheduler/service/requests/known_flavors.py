"""Flavors that requests name, read from the cloud before the plan is locked."""

from __future__ import annotations

import logging
from collections.abc import Mapping

from lease_scheduler.cloud.facts import Flavor
from lease_scheduler.model.documents import Document

LOG = logging.getLogger(__name__)


def learn_flavors(flavors: Mapping[str, Flavor], lease: Document) -> None:
    """Have the flavors that a request names read from the cloud. This may take long, so do not lock the plan.

    :param flavors: the flavors of the cloud; to look up an unknown or private one asks the cloud
    :param lease: a lease document, or changes of one
    """
    for reservation in lease.get("reservations") or ():
        flavor_id = reservation.get("flavor_id")
        if flavor_id is not None and flavor_id not in flavors:
            LOG.debug("a request names flavor %s, which does not exist", flavor_id)
