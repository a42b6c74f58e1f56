"""Tags and metadata of servers."""

from __future__ import annotations

from typing import Any
from urllib.parse import unquote

from lease_scheduler.rehearsal.cloud.http import Answer, Refusal, Request, Routes
from lease_scheduler.rehearsal.cloud.nova.api.context import Context
from lease_scheduler.rehearsal.cloud.nova.api.locks import WITH_DISK, check_lock, check_state
from lease_scheduler.rehearsal.cloud.nova.records import Server

_MOST_TAGS, _MOST_METADATA, _LONGEST_TAG, _LONGEST = 50, 128, 60, 255


def add_routes(routes: Routes, context: Context) -> None:
    """Add the routes of tags and metadata."""
    handlers = _Labels(context)
    routes.add("GET", "/servers/{server_id}/tags", handlers.tags)
    routes.add("PUT", "/servers/{server_id}/tags", handlers.set_tags)
    routes.add("DELETE", "/servers/{server_id}/tags", handlers.clear_tags, 204)
    routes.add("GET", "/servers/{server_id}/tags/{tag}", handlers.has_tag)
    routes.add("PUT", "/servers/{server_id}/tags/{tag}", handlers.add_tag)
    routes.add("DELETE", "/servers/{server_id}/tags/{tag}", handlers.delete_tag, 204)
    routes.add("GET", "/servers/{server_id}/metadata", handlers.metadata)
    routes.add("POST", "/servers/{server_id}/metadata", handlers.update_metadata)
    routes.add("PUT", "/servers/{server_id}/metadata", handlers.replace_metadata)
    routes.add("DELETE", "/servers/{server_id}/metadata/{key}", handlers.delete_metadata, 204)


class _Labels:
    def __init__(self, context: Context) -> None:
        self._context = context

    # -- tags ------------------------------------------------------------------------------------------------

    def tags(self, request: Request, server_id: str) -> dict[str, Any]:
        return {"tags": list(self._context.server(request, server_id).tags)}

    def set_tags(self, request: Request, server_id: str) -> dict[str, Any]:
        found = self._to_tag(request, server_id, "update tags")
        tags = sorted(set(request.body["tags"]))
        self._check(tags)
        self._context.store.change(found, tags=tags)
        return {"tags": tags}

    def clear_tags(self, request: Request, server_id: str) -> None:
        self._context.store.change(self._to_tag(request, server_id, "delete tags"), tags=[])

    def has_tag(self, request: Request, server_id: str, tag: str) -> Answer:
        found = self._context.server(request, server_id)
        return Answer(204 if unquote(tag) in found.tags else 404)

    def add_tag(self, request: Request, server_id: str, tag: str) -> Answer:
        found, text = self._to_tag(request, server_id, "update tag"), unquote(tag)
        if text in found.tags:
            return Answer(204)
        self._check([*found.tags, text])
        self._context.store.change(found, tags=sorted([*found.tags, text]))
        return Answer(201)

    def delete_tag(self, request: Request, server_id: str, tag: str) -> None:
        found, text = self._to_tag(request, server_id, "delete tag"), unquote(tag)
        if text not in found.tags:
            raise Refusal(404, f"Instance {server_id} has no tag '{text}'")
        self._context.store.change(found, tags=[each for each in found.tags if each != text])

    def _to_tag(self, request: Request, server_id: str, what: str) -> Server:
        found = self._context.server(request, server_id)
        check_state(found, what, WITH_DISK, None, must_have_run=False)
        return found

    @staticmethod
    def _check(tags: list[str]) -> None:
        if len(tags) > _MOST_TAGS:
            raise Refusal(400, f"The number of tags exceeded the per-server limit {_MOST_TAGS}")
        wrong = [each for each in tags if not 0 < len(each) <= _LONGEST_TAG or "/" in each or "," in each]
        if wrong:
            raise Refusal(400, f"Invalid input for tag {wrong[0]}")

    # -- metadata --------------------------------------------------------------------------------------------

    def metadata(self, request: Request, server_id: str) -> dict[str, Any]:
        return {"metadata": dict(self._context.server(request, server_id).metadata)}

    def update_metadata(self, request: Request, server_id: str) -> dict[str, Any]:
        found = self._to_describe(request, server_id)
        return self._described(found, {**found.metadata, **request.body["metadata"]})

    def replace_metadata(self, request: Request, server_id: str) -> dict[str, Any]:
        return self._described(self._to_describe(request, server_id), dict(request.body["metadata"]))

    def delete_metadata(self, request: Request, server_id: str, key: str) -> None:
        found = self._to_describe(request, server_id)
        if unquote(key) not in found.metadata:
            raise Refusal(404, "Metadata item was not found")
        self._described(found, {name: value for name, value in found.metadata.items() if name != unquote(key)})

    def _to_describe(self, request: Request, server_id: str) -> Server:
        found = self._context.server(request, server_id)
        check_lock(found, self._context.who(request))
        check_state(found, "update metadata", WITH_DISK, None)
        return found

    def _described(self, server: Server, wanted: dict[str, str]) -> dict[str, Any]:
        if len(wanted) > _MOST_METADATA:
            raise Refusal(403, f"Maximum number of metadata items exceeds {_MOST_METADATA}")
        if any(len(key) > _LONGEST or len(str(value)) > _LONGEST for key, value in wanted.items()):
            raise Refusal(400, f"Metadata keys and values have at most {_LONGEST} characters")
        self._context.store.change(server, metadata=wanted)
        return {"metadata": wanted}
