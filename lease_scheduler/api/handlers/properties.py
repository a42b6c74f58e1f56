"""Properties of hosts."""

from __future__ import annotations

from lease_scheduler.api.errors import not_found
from lease_scheduler.api.request import Answer, ApiRequest
from lease_scheduler.api.schemas.reservations import HOST


def list_properties(request: ApiRequest) -> Answer:
    """List the properties of all hosts."""
    found = [each for each in request.reader.host_properties() if request.query.get("all") or not each["private"]]
    if request.query.get("detail"):
        shown = [
            {
                "property": each["property"],
                "private": bool(each["private"]),
                "values": [str(value) for value in each["values"]],
            }
            for each in found
        ]
    else:
        shown = [{"property": each["property"]} for each in found]
    return Answer({"resource_properties": shown})


def update_property(request: ApiRequest) -> Answer:
    """Make a property public or private."""
    name, private = request.arguments["property_name"], request.body["private"]
    if all(each["property"] != name for each in request.reader.host_properties()):
        raise not_found(property_name=name)
    request.engine.update_property(request.context(), HOST, name, private)
    return Answer({"resource_property": {"resource_type": HOST, "property_name": name, "private": private}})
