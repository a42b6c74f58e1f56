"""The site that a request for a lease names, behind a gateway."""

from __future__ import annotations

from lease_scheduler.api.errors import ApiError
from lease_scheduler.api.interfaces import Sites
from lease_scheduler.model.documents import Document


def wanted_site(sites: Sites | None, body: Document) -> Document:
    """Return the key of a lease document for the only site that is to be asked; nothing if the body names none.

    :param sites: the sites of the gateway; None if the service is no gateway
    :param body: a body that fits the schema
    :raises ApiError: 400, the service is no gateway
    """
    if "site" not in body:
        return {}
    check_gateway(sites)
    return {"wanted_site": body["site"]}


def check_gateway(sites: Sites | None) -> None:
    """Refuse the key ``site`` on a service that is no gateway.

    :raises ApiError: 400
    """
    if sites is None:
        raise ApiError(400, "site: this service is no gateway, and has only its own hosts; leave it out", "site")
