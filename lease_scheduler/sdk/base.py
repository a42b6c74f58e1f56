"""The base class of the resources of the reservation service."""

from __future__ import annotations

from typing import Any

from openstack import exceptions, resource
from openstack.resource import Body

#: The newest microversion that these classes know. Older services are asked for the newest that they have.
MAXIMUM_MICROVERSION = "1.51"


class ReservationResource(resource.Resource):
    """A resource whose requests are not wrapped in its key, and whose errors have the message of the service."""

    _max_microversion = MAXIMUM_MICROVERSION

    created_at = Body("created_at")
    updated_at = Body("updated_at")

    def _prepare_request(self, *arguments: Any, **keywords: Any) -> Any:
        """Build a request whose body is not wrapped in the key of the resource; answers are."""
        return super()._prepare_request(*arguments, **{**keywords, "prepend_key": False})

    def _translate_response(self, response: Any, *arguments: Any, **keywords: Any) -> None:
        """Take over what an answer has.

        :raises openstack.exceptions.HttpException: the service refused the request
        """
        raise_refusal(response)
        super()._translate_response(response, *arguments, **keywords)


def raise_refusal(response: Any) -> None:
    """Raise the exception for an answer that is an error, with the message of the service.

    openstacksdk does not look where Blazar has it.
    """
    try:
        message = response.json()["error_message"]
    except (ValueError, KeyError, TypeError):
        message = None
    exceptions.raise_from_response(response, error_message=message)
