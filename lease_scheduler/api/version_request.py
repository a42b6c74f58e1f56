"""Which microversion a request asks for."""

from __future__ import annotations

import microversion_parse
from werkzeug.datastructures import Headers

from lease_scheduler.api.errors import FrameworkError
from lease_scheduler.api.microversions import HEADER, MAXIMUM, MINIMUM, SERVICE_TYPE, VERSIONS, Version


def requested(headers: Headers) -> Version:
    """Return the microversion that a request asks for, or 1.0 if it asks for none.

    :raises FrameworkError: 400, the header names no valid version; 406, there is no such version
    """
    text = microversion_parse.get_version(dict(headers), SERVICE_TYPE)
    if text is None:
        if any(part.strip().lower() == SERVICE_TYPE for part in headers.get(HEADER, "").split(",")):
            raise FrameworkError(400, f"{HEADER}: names no version; right is '{SERVICE_TYPE} {MAXIMUM}'")
        return MINIMUM
    if text.lower() == "latest":
        return MAXIMUM
    try:
        version = microversion_parse.parse_version_string(text)
    except TypeError as error:
        raise FrameworkError(
            400, f"OpenStack-API-Version: {text[:40]!r} is not a version; right is 'reservation {MAXIMUM}'"
        ) from error
    if version not in VERSIONS:
        raise FrameworkError(
            406, f"OpenStack-API-Version: version {version} is not supported; supported are {MINIMUM} to {MAXIMUM}"
        )
    return version
