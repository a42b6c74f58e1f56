"""Families of policies: how one is declared, and what follows from its declaration."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from types import MappingProxyType
from typing import Any, get_type_hints

from lease_scheduler.policy.base import Policy, PolicyOptions


@dataclass(frozen=True)
class Family:
    """A decision for which the operator selects a policy.

    :ivar name: the field of the class that declares it, such as ``PolicySet``
    :ivar base: the class that all its policies extend
    :ivar namespace: the namespace of the entry points of its policies
    :ivar default: name of the policy that decides unless the operator selects another
    :ivar decides: what its policies decide, as the end of a sentence
    :ivar note: what else operators should know; may be empty
    """

    name: str
    base: type[Policy]
    namespace: str
    default: str
    decides: str
    note: str

    @property
    def option(self) -> str:
        """The option that selects its policy; for the families of an engine it is in the group ``scheduling``."""
        return f"policy_{self.name}"


def family(default: str, of_class: type[Policy], decides: str, note: str = "") -> Any:
    """Return the field of a family, for the dataclass that declares it.

    :param default: name of its default policy
    :param of_class: class of that policy
    :param decides: as in ``Family``
    :param note: as in ``Family``
    """

    def make() -> Policy:
        policy = of_class(PolicyOptions())
        policy.name = default
        return policy

    return field(default_factory=make, metadata={"default": default, "decides": decides, "note": note})


def families_of(declaring: Any, namespaces: str) -> Mapping[str, Family]:
    """Return the families that a dataclass declares by its fields, by name and in the order of the fields.

    :param declaring: a dataclass whose fields are all made by ``family``
    :param namespaces: what the namespaces of their entry points begin with
    """
    bases = get_type_hints(declaring)
    return MappingProxyType(
        {
            each.name: Family(each.name, bases[each.name], f"{namespaces}.{each.name}", **each.metadata)
            for each in fields(declaring)
        }
    )
