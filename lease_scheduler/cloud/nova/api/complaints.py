"""Logging of failed calls: one line for an error from an OpenStack service, a stack trace for an error of our own."""

from __future__ import annotations

import logging

from keystoneauth1.exceptions import ClientException
from novaclient.exceptions import ClientException as NovaClientException

_THEIRS = (ClientException, NovaClientException)


def complain(log: logging.Logger, complaint: str, error: Exception) -> None:
    """Log an exception that is being handled.

    :param complaint: text that says what failed, and when it is tried again
    """
    if isinstance(error, _THEIRS):
        log.warning("%s: %s", complaint, error)
    else:
        log.exception("%s", complaint)
