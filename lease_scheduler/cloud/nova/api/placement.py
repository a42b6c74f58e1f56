"""Requests to Placement, which are repeated if its generations show a concurrent change."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from keystoneauth1.adapter import Adapter
from keystoneauth1.exceptions.http import Conflict, NotFound
from tenacity import Retrying, retry_if_exception_type, stop_after_attempt, wait_random_exponential

from lease_scheduler.model.errors import LeaseSchedulerError

LOG = logging.getLogger(__name__)

_P = ParamSpec("_P")
_R = TypeVar("_R")

#: Version of the API that added consumer types.
_MICROVERSION = "1.38"
_CONSUMER_TYPE = "LEASE"

#: Consumer type of servers, and what Placement shows of consumers without a type.
SERVER, _NO_TYPE = "INSTANCE", "unknown"

#: Maximum number of attempts at a change that conflicts with others, and longest pause between two, in real seconds.
_ATTEMPTS = 20
_LONGEST_PAUSE = 2.0


class NoRoomError(LeaseSchedulerError):
    """The requested capacity is taken."""


class _ChangedMeanwhileError(Exception):
    """The same thing was changed concurrently, so the request must be repeated."""


def _again(method: Callable[_P, _R]) -> Callable[_P, _R]:
    """Make a method repeat its request if the same thing was changed concurrently."""

    @wraps(method)
    def repeated(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        # One for each call, because tenacity's decorator shares a dictionary, which one thread would clear for others.
        retrying = Retrying(
            retry=retry_if_exception_type(_ChangedMeanwhileError),
            stop=stop_after_attempt(_ATTEMPTS),
            wait=wait_random_exponential(multiplier=0.02, max=_LONGEST_PAUSE),
            reraise=True,
        )
        return retrying(method, *args, **kwargs)

    return repeated


class Placement:
    """Placement's API.

    :param adapter: adapter for the service ``placement``, which raises keystoneauth's errors
    """

    def __init__(self, adapter: Adapter) -> None:
        self._adapter = adapter

    # -- what there is ---------------------------------------------------------------------------------------

    def inventories(self, provider_id: str) -> Mapping[str, Mapping[str, Any]]:
        """Return resource class -> inventory of a provider: total, reserved, allocation ratio and so on."""
        found: Mapping[str, Mapping[str, Any]] = self._get(f"resource_providers/{provider_id}/inventories")[
            "inventories"
        ]
        return found

    def traits(self, provider_id: str) -> frozenset[str]:
        """Return the traits of a provider."""
        return frozenset(self._get(f"resource_providers/{provider_id}/traits")["traits"])

    def tree(self, root_id: str) -> Mapping[str, str]:
        """Return id -> name of the providers below a root provider, at any depth."""
        listed = self._get(f"resource_providers?in_tree={root_id}")["resource_providers"]
        return {each["uuid"]: each["name"] for each in listed if each["uuid"] != root_id}

    def consumers_on(self, provider_id: str) -> Mapping[str, Mapping[str, int]]:
        """Return consumer -> class -> amount that it takes from a provider."""
        found = self._get(f"resource_providers/{provider_id}/allocations")["allocations"]
        return {consumer: allocation["resources"] for consumer, allocation in found.items()}

    def providers(self) -> Mapping[str, tuple[str, int]]:
        """Return name -> id and generation of all resource providers."""
        listed = self._get("resource_providers")["resource_providers"]
        return {each["name"]: (each["uuid"], each["generation"]) for each in listed}

    def classes(self) -> frozenset[str]:
        """Return the names of all resource classes."""
        return frozenset(each["name"] for each in self._get("resource_classes")["resource_classes"])

    def is_held_for_a_lease(self, consumer_id: str) -> bool:
        """Return whether a consumer holds capacity for a lease."""
        found: bool = self._get(f"allocations/{consumer_id}").get("consumer_type") == _CONSUMER_TYPE
        return found

    def missing(self, provider_id: str, amounts: Mapping[str, int]) -> dict[str, int]:
        """Return how much of each class is missing at a provider; empty if all amounts are free.

        :param amounts: class -> amount; with 0, a class is missing only if it is overdrawn
        """
        free = self._free(provider_id)
        return {name: amount - free.get(name, 0) for name, amount in amounts.items() if amount > free.get(name, 0)}

    def overdrawn(self, provider_id: str) -> dict[str, int]:
        """Return overdrawn class of a provider -> amount by which more is taken than there is."""
        try:
            free = self._free(provider_id)
        except NotFound:
            return {}
        return {name: -amount for name, amount in free.items() if amount < 0}

    def _free(self, provider_id: str) -> dict[str, int]:
        """Return how much of each class of a provider is free, negative if it is overdrawn."""
        usages = self.usages(provider_id)
        inventories = self.inventories(provider_id)
        return {name: capacity(inventory) - usages.get(name, 0) for name, inventory in inventories.items()}

    def usages(self, provider_id: str) -> Mapping[str, int]:
        """Return how much of each class is taken from a provider."""
        found: Mapping[str, int] = self._get(f"resource_providers/{provider_id}/usages")["usages"]
        return found

    # -- held capacity ---------------------------------------------------------------------------------------

    @_again
    def hold(
        self,
        consumer_id: str,
        resources: Mapping[str, Mapping[str, int]],
        project_id: str,
        user_id: str,
        consumer_type: str = _CONSUMER_TYPE,
    ) -> Mapping[str, Mapping[str, int]] | None:
        """Make a consumer hold exactly these amounts, whatever it held before.

        Placement may grant several simultaneous claims although only one fits; see ``overdrawn``.

        :param resources: provider -> class -> amount, not empty
        :return: what it held before, or None if that was the same
        :raises NoRoomError: there is not enough capacity
        """
        known = self._get(f"allocations/{consumer_id}")
        before = {provider: allocation["resources"] for provider, allocation in known["allocations"].items()}
        if before == resources:
            return None
        body = {
            "allocations": {provider: {"resources": dict(amounts)} for provider, amounts in resources.items()},
            "project_id": project_id,
            "user_id": user_id,
            "consumer_generation": known.get("consumer_generation"),
            "consumer_type": consumer_type,
        }
        self._change("PUT", f"allocations/{consumer_id}", body)
        return before

    def held(self, consumer_id: str) -> Mapping[str, Mapping[str, int]]:
        """Return provider -> class -> amount that a consumer holds."""
        known = self._get(f"allocations/{consumer_id}")["allocations"]
        return {provider: allocation["resources"] for provider, allocation in known.items()}

    def release(self, consumer_id: str) -> None:
        """Release all that a consumer holds."""
        try:
            self._adapter.delete(f"/allocations/{consumer_id}", microversion=_MICROVERSION)
        except NotFound:
            return

    def release_if(self, consumer_id: str, provider_ids: Collection[str], is_needless: Callable[[], bool]) -> bool:
        """Release what a consumer holds of some providers if that is not needed. Return whether that was done.

        Nothing is released if the consumer gets or releases anything during the check, as in a move of a server.

        :param is_needless: called after Placement is asked what the consumer holds
        """
        known = self._get(f"allocations/{consumer_id}")
        held = known["allocations"]
        kept = {key: {"resources": each["resources"]} for key, each in held.items() if key not in provider_ids}
        if len(kept) == len(held) or not is_needless():
            return False
        # Placement has no type of what Nova claims, but requires one here.
        kind = known["consumer_type"]
        body = {
            "allocations": kept,
            "project_id": known["project_id"],
            "user_id": known["user_id"],
            "consumer_generation": known["consumer_generation"],
            "consumer_type": SERVER if kind == _NO_TYPE else kind,
        }
        try:
            self._change("PUT", f"allocations/{consumer_id}", body)
        except _ChangedMeanwhileError:
            return False
        return True

    # -- slots -----------------------------------------------------------------------------------------------

    def ensure_class(self, name: str) -> None:
        """Create a custom resource class, unless it exists."""
        self._change("PUT", f"resource_classes/{name}", None)

    def remove_class(self, name: str) -> None:
        """Remove a custom resource class that has no inventory any more."""
        try:
            self._adapter.delete(f"/resource_classes/{name}", microversion=_MICROVERSION)
        except NotFound:
            return

    @_again
    def ensure_slots(self, provider_id: str, name: str, parent_id: str | None, totals: Mapping[str, int]) -> None:
        """Create or change a child provider so that it has these slots. Keep its slots of other classes.

        Each slot is for one server.

        :param parent_id: id of its parent, or None for a provider without one
        :param totals: class -> number of slots; slots that are in use cannot be removed
        :raises NoRoomError: more slots are in use
        """
        try:
            known = self._get(f"resource_providers/{provider_id}/inventories")
        except NotFound:
            new = {"name": name, "uuid": provider_id, "parent_provider_uuid": parent_id}
            known = {
                "inventories": {},
                "resource_provider_generation": self._change("POST", "resource_providers", new)["generation"],
            }
        ours = {kind: {"total": total, "max_unit": 1, "allocation_ratio": 1.0} for kind, total in totals.items()}
        present = known["inventories"]
        if all(present.get(kind, {}).get("total") == total for kind, total in totals.items()):
            return
        body = {
            "resource_provider_generation": known["resource_provider_generation"],
            "inventories": {**present, **ours},
        }
        self._change("PUT", f"resource_providers/{provider_id}/inventories", body)

    def remove_provider(self, provider_id: str) -> None:
        """Remove a provider from which nothing is taken."""
        try:
            self._adapter.delete(f"/resource_providers/{provider_id}", microversion=_MICROVERSION)
        except NotFound:
            return

    @_again
    def with_slots(self, provider_id: str, read: Callable[[], _R]) -> tuple[Mapping[str, tuple[int, int]], _R]:
        """Read something, and repeat this until no slot of a child provider has changed meanwhile.

        :return: class -> number of slots and number of taken slots, and what was read
        """
        generation, slots = self._slots(provider_id)
        found = read()
        if self._slots(provider_id)[0] != generation:
            raise _ChangedMeanwhileError(f"slots of provider {provider_id}")
        return slots, found

    def _slots(self, provider_id: str) -> tuple[int | None, Mapping[str, tuple[int, int]]]:
        """Return the generation of a child provider, None if it does not exist, and its slots as in ``with_slots``."""
        try:
            there_are = self._get(f"resource_providers/{provider_id}/inventories")
            taken = self._get(f"resource_providers/{provider_id}/usages")
        except NotFound:
            return None, {}
        generation: int = there_are["resource_provider_generation"]
        if taken["resource_provider_generation"] != generation:
            raise _ChangedMeanwhileError(f"slots of provider {provider_id}")
        return generation, {
            name: (inventory["total"], taken["usages"].get(name, 0))
            for name, inventory in there_are["inventories"].items()
        }

    @_again
    def remove_slots(self, provider_id: str, classes: Iterable[str]) -> None:
        """Remove the slots of some classes from a child provider, except for classes in use.

        :raises NoRoomError: one of them is in use
        """
        try:
            usages = self._get(f"resource_providers/{provider_id}/usages")["usages"]
        except NotFound:
            return
        in_use = []
        for name in classes:
            if usages.get(name):
                # Placement would report its refusal like a concurrent change, so do not try.
                in_use.append(name)
                continue
            try:
                self._change("DELETE", f"resource_providers/{provider_id}/inventories/{name}", None)
            except NotFound:
                continue
        if in_use:
            raise NoRoomError(f"slots of {', '.join(in_use)} are in use")

    # -- helpers ---------------------------------------------------------------------------------------------

    def _get(self, path: str) -> dict[str, Any]:
        found: dict[str, Any] = self._adapter.get(f"/{path}", microversion=_MICROVERSION).json()
        return found

    def _change(self, method: str, path: str, body: Mapping[str, Any] | None) -> dict[str, Any]:
        try:
            answer = self._adapter.request(f"/{path}", method, json=body, microversion=_MICROVERSION)
        except Conflict as error:
            if _code(error) == "placement.concurrent_update":
                raise _ChangedMeanwhileError(str(error)) from error
            if _code(error) == "placement.duplicate_name":
                raise _ChangedMeanwhileError(str(error)) from error
            raise NoRoomError(_detail(error)) from error
        changed: dict[str, Any] = answer.json() if answer.content else {}
        return changed


def capacity(inventory: Mapping[str, Any]) -> int:
    """Return the maximum amount of a class that Placement grants.

    :param inventory: total, reserved and allocation ratio
    """
    return int((inventory["total"] - inventory["reserved"]) * inventory["allocation_ratio"])


def _errors(error: Conflict) -> list[dict[str, Any]]:
    if error.response is None:
        return []
    try:
        found: list[dict[str, Any]] = error.response.json()["errors"]
    except (ValueError, KeyError, TypeError):
        return []
    return found


def _code(error: Conflict) -> str:
    return next((str(each.get("code", "")) for each in _errors(error)), "")


def _detail(error: Conflict) -> str:
    return next((str(each.get("detail", "")).strip() for each in _errors(error)), str(error))
