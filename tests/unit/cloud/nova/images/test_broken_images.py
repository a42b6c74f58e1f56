"""Images that a killed conductor has left behind, and similar ones."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from novaclient.exceptions import NotFound

from lease_scheduler.cloud.nova.images.broken_images import BrokenImages

US, OTHERS = "our-user", "another-user"


def image(number: int, **said: Any) -> dict[str, Any]:
    created = (datetime.now(UTC) - timedelta(seconds=said.pop("age", 3_600))).strftime("%Y-%m-%dT%H:%M:%SZ")
    return {
        "id": f"image-{number}",
        "name": f"web-{number}-shelved",
        "status": "queued",
        "image_type": "snapshot",
        "instance_uuid": f"server-{number}",
        "user_id": US,
        "created_at": created,
        **said,
    }


class FakeGlance:
    """Lists images in pages of one."""

    def __init__(self, *images: dict[str, Any]) -> None:
        self.images = list(images)
        self.deleted: list[str] = []

    def get(self, path: str, timeout: float) -> SimpleNamespace:
        query = dict(parse_qsl(urlsplit(path).query))
        marker = int(query.pop("marker", "0"))
        fitting = [each for each in self.images if all(each.get(key) == value for key, value in query.items())]
        answer: dict[str, Any] = {"images": fitting[marker : marker + 1]}
        if marker + 1 < len(fitting):
            answer["next"] = f"{path.partition('&marker')[0]}&marker={marker + 1}"
        return SimpleNamespace(json=lambda: answer)

    def delete(self, path: str, timeout: float) -> None:
        self.deleted.append(path.rpartition("/")[2])


def nova(**tasks: str | None) -> Any:
    def get(server_id: str) -> SimpleNamespace:
        if server_id not in tasks:
            raise NotFound(404)
        found = SimpleNamespace(status="ACTIVE")
        setattr(found, "OS-EXT-STS:task_state", tasks[server_id])
        return found

    return SimpleNamespace(servers=SimpleNamespace(get=get))


def test_only_what_we_had_made_and_nobody_completes() -> None:
    glance = FakeGlance(
        image(1),
        image(2, status="active"),
        image(3, user_id=OTHERS),
        image(4, age=10),
        image(5, name="backup-of-web"),
        image(6),
        image(7, status="saving"),
        image(8, instance_uuid=None),
        image(9, name="web-server-9"),
        image(10),
    )
    tasks = {"server-6": "shelving_image_uploading", "server-10": None}
    broken = BrokenImages(lambda: glance, nova(**tasks), lambda: US, 300)  # type: ignore[arg-type,return-value]
    # Images of deleted servers, of idle ones, and of one that was deleted while an image was to be made.
    assert [each.name for each in broken.find()] == ["image-1", "image-9", "image-10", "image-7"]
    broken.remove("image-1")
    assert glance.deleted == ["image-1"]


def test_nobody_looks_without_knowing_who_we_are() -> None:
    broken = BrokenImages(lambda: FakeGlance(image(1)), nova(), lambda: None, 300)  # type: ignore[arg-type,return-value]
    assert broken.find() == []
