"""Allocations of consumers, usages of projects, and allocation candidates."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from lease_scheduler.rehearsal.cloud.http import Refusal, Request, Routes
from lease_scheduler.rehearsal.cloud.placement.candidates import Group, Wish, candidates
from lease_scheduler.rehearsal.cloud.placement.records import Consumer
from lease_scheduler.rehearsal.cloud.placement.store import CONCURRENT_UPDATE, Amounts, Store

_SUFFIXED = re.compile(r"(resources|required)([a-zA-Z0-9_-]{0,64})")


def add_routes(routes: Routes, store: Store) -> None:
    """Add the routes of allocations."""
    handlers = _Allocations(store)
    routes.add("GET", "/allocations/{consumer_id}", handlers.show)
    routes.add("PUT", "/allocations/{consumer_id}", handlers.replace, 204)
    routes.add("DELETE", "/allocations/{consumer_id}", handlers.delete, 204)
    routes.add("POST", "/allocations", handlers.replace_several, 204)
    routes.add("GET", "/usages", handlers.usages)
    routes.add("GET", "/allocation_candidates", handlers.candidates)


class _Allocations:
    def __init__(self, store: Store) -> None:
        self._store = store

    def show(self, request: Request, consumer_id: str) -> dict[str, Any]:
        found = self._store.consumers.get(consumer_id)
        if found is None:
            return {"allocations": {}}
        return {
            "allocations": {
                provider_id: {
                    "resources": amounts,
                    "generation": self._store.providers[provider_id].generation,
                }
                for provider_id, amounts in found.allocations.items()
            },
            "project_id": found.project_id,
            "user_id": found.user_id,
            "consumer_generation": found.generation,
            "consumer_type": found.type or "unknown",
        }

    def replace(self, request: Request, consumer_id: str) -> None:
        self._store.allocate({consumer_id: self._wanted(consumer_id, request.body)})

    def replace_several(self, request: Request) -> None:
        self._store.allocate({key: self._wanted(key, said) for key, said in request.body.items()})

    def delete(self, request: Request, consumer_id: str) -> None:
        if not self._store.release(consumer_id):
            raise Refusal(404, f"No allocations for consumer '{consumer_id}'")

    def usages(self, request: Request) -> dict[str, Any]:
        found: dict[str, int] = {}
        for consumer in self._store.consumers.values():
            if consumer.project_id == request.query.get("project_id"):
                for amounts in consumer.allocations.values():
                    for name, amount in amounts.items():
                        found[name] = found.get(name, 0) + amount
        return {"usages": found}

    def candidates(self, request: Request) -> dict[str, Any]:
        requests, summaries = [], {}
        for found in candidates(self._store, _wish(request.query), int(request.query.get("limit", "1000"))):
            requests.append({"allocations": {key: {"resources": value} for key, value in found.amounts.items()}})
            for provider in self._store.tree(found.root_id):
                used = self._store.usages(provider.id)
                summaries[provider.id] = {
                    "resources": {
                        name: {"capacity": each.capacity, "used": used.get(name, 0)}
                        for name, each in provider.inventories.items()
                    },
                    "traits": sorted(provider.traits),
                    "parent_provider_uuid": provider.parent_id,
                    "root_provider_uuid": provider.root_id,
                }
        return {"allocation_requests": requests, "provider_summaries": summaries}

    def _wanted(self, consumer_id: str, said: Mapping[str, Any]) -> tuple[Consumer, Amounts]:
        known = self._store.consumers.get(consumer_id)
        if (None if known is None else known.generation) != said.get("consumer_generation"):
            text = f"consumer generation conflict - expected {known.generation if known else None} but got "
            raise Refusal(409, f"{text}{said.get('consumer_generation')}", CONCURRENT_UPDATE)
        amounts = {provider_id: each["resources"] for provider_id, each in said["allocations"].items()}
        return Consumer(consumer_id, said["project_id"], said["user_id"], said.get("consumer_type")), amounts


def _wish(query: Mapping[str, str]) -> Wish:
    """Return what a query for allocation candidates asks for."""
    resources: dict[str, dict[str, int]] = {}
    required: dict[str, set[str]] = {}
    for key, value in query.items():
        match = _SUFFIXED.fullmatch(key)
        if match is None:
            continue
        if match[1] == "resources":
            resources[match[2]] = {
                name: int(each) for name, _, each in (part.partition(":") for part in value.split(","))
            }
        else:
            required[match[2]] = set(value.split(","))
    groups = [
        Group(
            amounts,
            frozenset(each for each in required.get(suffix, ()) if not each.startswith("!")),
            frozenset(each[1:] for each in required.get(suffix, ()) if each.startswith("!")),
        )
        for suffix, amounts in sorted(resources.items())
        if suffix
    ]
    loose = required.get("", set())
    return Wish(
        Group(
            resources.get("", {}),
            frozenset(each for each in loose if not each.startswith("!")),
            frozenset(each[1:] for each in loose if each.startswith("!")),
        ),
        tuple(groups),
        is_isolated=query.get("group_policy") == "isolate",
    )
