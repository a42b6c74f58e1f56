"""Policies by name, from any installed package (stevedore)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stevedore import DriverManager, ExtensionManager
from stevedore.exception import NoMatches

from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.policy.admission.base import AdmissionPolicy, let_take_view
from lease_scheduler.policy.base import Policy, PolicyOptions
from lease_scheduler.policy.families import Family
from lease_scheduler.policy.policy_set import FAMILIES, PolicySet


def load_policies(names: Mapping[str, str], options: PolicyOptions) -> PolicySet:
    """Return new policies, which have learnt nothing yet.

    :param names: name of a policy by family; a family that is left out has its default policy
    :param options: what the operator set for policies
    :raises InvalidValueError: there is no such family, or as for ``load_policy``
    """
    for unknown in names.keys() - FAMILIES.keys():
        raise InvalidValueError("policies", f"there is no family {unknown!r}; the families are: {', '.join(FAMILIES)}")
    return PolicySet(
        **{
            family.name: load_policy(family.name, names.get(family.name, family.default), options)
            for family in FAMILIES.values()
        }
    )


def load_policy(family: str, name: str, options: PolicyOptions) -> Any:
    """Return a new policy of a family, which has learnt nothing yet.

    :param family: a key of ``FAMILIES``
    :param name: name of its entry point
    :param options: what the operator set for policies
    :raises InvalidValueError: no policy of that name is installed, it does not extend the base class of its family, or
        one of its options is wrong
    """
    policy: Any = load_of_family(FAMILIES[family], name, options, f"scheduling.{FAMILIES[family].option}")
    if isinstance(policy, AdmissionPolicy):
        let_take_view(policy)
    return policy


def load_of_family(family: Family, name: str, options: PolicyOptions, field: str) -> Policy:
    """Return a new policy of any family, also of one that is not of the engine.

    :param name: name of its entry point
    :param options: what the operator set for policies
    :param field: the option that names the policy, for errors
    :raises InvalidValueError: as for ``load_policy``
    """
    try:
        policy: Any = DriverManager(family.namespace, name, invoke_on_load=True, invoke_args=(options,)).driver
    except NoMatches:
        known = ", ".join(_names(family)) or "none; is the package installed?"
        raise InvalidValueError(field, f"there is no policy {name!r}; installed are: {known}") from None
    if not isinstance(policy, family.base):
        raise InvalidValueError(field, f"{name!r} does not extend {family.base.__name__}")
    policy.name = name
    return policy


def policy_names(family: str) -> list[str]:
    """Return the names of the installed policies of a family, such as ``host_selection``."""
    return _names(FAMILIES[family])


def _names(family: Family) -> list[str]:
    return sorted(ExtensionManager(family.namespace, invoke_on_load=False).names())
