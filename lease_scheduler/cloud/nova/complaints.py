"""What is logged when a service of OpenStack does not answer: one line, and the stack only of what is our own fault."""

from __future__ import annotations

import logging

from keystoneauth1.exceptions import ClientException
from novaclient.exceptions import ClientException as NovaClientException

_THEIRS = (ClientException, NovaClientException)


def complain(log: logging.Logger, complaint: str, error: Exception) -> None:
    """Log an exception that is being handled.

    :param complaint: what could not be done, and when it is tried again
    """
    if isinstance(error, _THEIRS):
        log.warning("%s: %s", complaint, error)
    else:
        log.exception("%s", complaint)
