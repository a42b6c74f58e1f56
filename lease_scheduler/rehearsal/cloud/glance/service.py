"""Glance as a service: images and their members."""

from __future__ import annotations

from typing import Any

from lease_scheduler.rehearsal.cloud.glance.store import ACTIVE, PUBLIC, Image, Store
from lease_scheduler.rehearsal.cloud.http import Answer, Refusal, Request, Routes
from lease_scheduler.rehearsal.cloud.keystone.records import Identity
from lease_scheduler.rehearsal.cloud.keystone.tokens import Guard

_PAGE = 25

#: Parameters of a list that are no attributes of images.
_PAGING = frozenset({"limit", "marker", "sort_key", "sort_dir", "sort"})


class GlanceService:
    """Answers requests to Glance.

    :param guard: returns who a token belongs to
    """

    def __init__(self, url: str, guard: Guard, store: Store) -> None:
        self._url = url
        self._guard = guard
        self._store = store
        self._routes = routes = Routes()
        routes.add("GET", "/v2/images", self._list)
        routes.add("POST", "/v2/images", self._create, 201)
        routes.add("GET", "/v2/images/{image_id}", self._show)
        routes.add("PATCH", "/v2/images/{image_id}", self._change)
        routes.add("DELETE", "/v2/images/{image_id}", self._delete, 204)
        routes.add("PUT", "/v2/images/{image_id}/file", self._upload, 204)
        routes.add("GET", "/v2/images/{image_id}/members", self._members)
        routes.add("POST", "/v2/images/{image_id}/members", self._share)
        routes.add("DELETE", "/v2/images/{image_id}/members/{member_id}", self._unshare, 204)

    def __call__(self, request: Request) -> Answer:
        """Answer a request."""
        try:
            if request.path in ("/", "/versions"):
                links = [{"rel": "self", "href": f"{self._url}/v2/"}]
                return Answer(300, {"versions": [{"id": "v2.16", "status": "CURRENT", "links": links}]})
            return self._routes.answer(request, request.path)
        except Refusal as refusal:
            return Answer(refusal.status, {"message": refusal.message, "code": refusal.status, "title": ""})

    # -- images ----------------------------------------------------------------------------------------------

    def _list(self, request: Request) -> dict[str, Any]:
        identity, query = self._guard(request), request.query
        wanted = {key: value.lower() for key, value in query.items() if key not in _PAGING}
        found = [each for each in self._store.images.values() if self._is_visible(each, identity)]
        shown = [each.shown() for each in found]
        shown = [each for each in shown if all(str(each.get(key)).lower() == value for key, value in wanted.items())]
        if "marker" in query:
            ids = [each["id"] for each in shown]
            if query["marker"] not in ids:
                raise Refusal(400, f"Image {query['marker']} could not be found.")
            shown = shown[ids.index(query["marker"]) + 1 :]
        limit = int(query.get("limit", _PAGE))
        answer: dict[str, Any] = {"images": shown[:limit]}
        if len(shown) > limit:
            answer["next"] = f"/v2/images?marker={shown[limit - 1]['id']}&limit={limit}"
        return answer

    def _create(self, request: Request) -> dict[str, Any]:
        identity, said = self._guard(request), dict(request.body or {})
        owner = said.pop("owner", identity.project_id)
        self._check_rights(identity, {"owner": owner, **said}, identity.project_id)
        return self._store.add(said.pop("name", ""), owner, said).shown()

    def _show(self, request: Request, image_id: str) -> dict[str, Any]:
        return self._image(image_id, self._guard(request)).shown()

    def _change(self, request: Request, image_id: str) -> dict[str, Any]:
        identity = self._guard(request)
        found = self._owned(image_id, identity)
        for change in request.body:
            name = change["path"].removeprefix("/")
            if change["op"] == "remove":
                found.properties.pop(name, None)
                continue
            self._check_rights(identity, {name: change["value"]}, found.owner)
            self._store.set(found, name, change["value"])
        return found.shown()

    def _delete(self, request: Request, image_id: str) -> None:
        found = self._owned(image_id, self._guard(request))
        if found.protected:
            raise Refusal(403, f"Image {image_id} is protected and cannot be deleted.")
        del self._store.images[image_id]

    def _upload(self, request: Request, image_id: str) -> None:
        found = self._owned(image_id, self._guard(request))
        found.status, found.size = ACTIVE, int(request.headers.get("content-length", "0"))

    # -- members ---------------------------------------------------------------------------------------------

    def _members(self, request: Request, image_id: str) -> dict[str, Any]:
        found = self._image(image_id, self._guard(request))
        listed = [
            {"member_id": member, "image_id": image_id, "status": status} for member, status in found.members.items()
        ]
        return {"members": listed}

    def _share(self, request: Request, image_id: str) -> dict[str, Any]:
        found = self._owned(image_id, self._guard(request))
        member = request.body["member"]
        found.members[member] = "pending"
        return {"member_id": member, "image_id": image_id, "status": "pending"}

    def _unshare(self, request: Request, image_id: str, member_id: str) -> None:
        found = self._owned(image_id, self._guard(request))
        if found.members.pop(member_id, None) is None:
            raise Refusal(404, f"{member_id} is no member of image {image_id}.")

    # -- rules -----------------------------------------------------------------------------------------------

    def _is_visible(self, image: Image, identity: Identity) -> bool:
        return self._store.may_see(image, identity.project_id, is_admin=identity.is_admin)

    def _image(self, image_id: str, identity: Identity) -> Image:
        found = self._store.images.get(image_id)
        if found is None or not self._is_visible(found, identity):
            raise Refusal(404, f"No image found with ID {image_id}")
        return found

    def _owned(self, image_id: str, identity: Identity) -> Image:
        found = self._image(image_id, identity)
        if not identity.is_admin and found.owner != identity.project_id:
            raise Refusal(403, f"You are not permitted to modify image {image_id}.")
        return found

    @staticmethod
    def _check_rights(identity: Identity, said: dict[str, Any], owner: str | None) -> None:
        if identity.is_admin:
            return
        if said.get("owner", owner) != owner or said.get("visibility") == PUBLIC:
            raise Refusal(403, "You are not permitted to do this.")
