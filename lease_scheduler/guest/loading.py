"""Controllers by name."""

from __future__ import annotations

from typing import Any

from stevedore import DriverManager, ExtensionManager
from stevedore.exception import NoMatches

from lease_scheduler.guest.controllers.base import Controller
from lease_scheduler.guest.errors import WrongSettingError
from lease_scheduler.guest.values import Limits

#: Namespace of the entry points of controllers.
NAMESPACE = "lease_scheduler.guest.controller"


def load_controller(name: str, limits: Limits) -> Controller:
    """Return a controller.

    :param name: name of an entry point in ``NAMESPACE``
    :raises WrongSettingError: there is none of this name
    """
    try:
        found: Any = DriverManager(NAMESPACE, name, invoke_on_load=True, invoke_args=(limits,)).driver
    except NoMatches as error:
        known = ", ".join(sorted(ExtensionManager(NAMESPACE, invoke_on_load=False).names()))
        raise WrongSettingError("guest.controller", f"there is no controller {name}; use one of {known}") from error
    controller: Controller = found
    return controller
