"""States and tasks of servers, by Nova's names, and the status that the API shows for them."""

from __future__ import annotations

from collections.abc import Mapping

# States (Nova's vm_states).
ACTIVE, BUILDING, PAUSED, SUSPENDED, STOPPED = "active", "building", "paused", "suspended", "stopped"
RESCUED, RESIZED, SOFT_DELETED, DELETED, ERROR = "rescued", "resized", "soft-delete", "deleted", "error"
SHELVED, SHELVED_OFFLOADED = "shelved", "shelved_offloaded"

# Tasks (Nova's task_states).
SCHEDULING, BLOCK_DEVICES, NETWORKING, SPAWNING = "scheduling", "block_device_mapping", "networking", "spawning"
IMAGE_PENDING, IMAGE_UPLOADING = "image_pending_upload", "image_uploading"
IMAGE_SNAPSHOT, IMAGE_BACKUP, IMAGE_SNAPSHOT_PENDING = "image_snapshot", "image_backup", "image_snapshot_pending"
UPDATING_PASSWORD = "updating_password"
RESIZE_PREP, RESIZE_MIGRATING, RESIZE_MIGRATED = "resize_prep", "resize_migrating", "resize_migrated"
RESIZE_FINISH, RESIZE_REVERTING, RESIZE_CONFIRMING = "resize_finish", "resize_reverting", "resize_confirming"
REBOOTING, REBOOT_PENDING, REBOOT_STARTED = "rebooting", "reboot_pending", "reboot_started"
REBOOTING_HARD, REBOOT_PENDING_HARD = "rebooting_hard", "reboot_pending_hard"
REBOOT_STARTED_HARD = "reboot_started_hard"
PAUSING, UNPAUSING, SUSPENDING, RESUMING = "pausing", "unpausing", "suspending", "resuming"
POWERING_OFF, POWERING_ON, RESCUING, UNRESCUING = "powering-off", "powering-on", "rescuing", "unrescuing"
REBUILDING, REBUILD_DEVICES = "rebuilding", "rebuild_block_device_mapping"
REBUILD_SPAWNING = "rebuild_spawning"
MIGRATING, DELETING, SOFT_DELETING, RESTORING = "migrating", "deleting", "soft-deleting", "restoring"
SHELVING, SHELVING_PENDING, SHELVING_UPLOADING = (
    "shelving",
    "shelving_image_pending_upload",
    "shelving_image_uploading",
)
SHELVING_OFFLOADING, UNSHELVING = "shelving_offloading", "unshelving"

SOFT_REBOOTS = (REBOOTING, REBOOT_PENDING, REBOOT_STARTED)
HARD_REBOOTS = (REBOOTING_HARD, REBOOT_PENDING_HARD, REBOOT_STARTED_HARD)

#: Tasks in which a hard reboot is accepted.
ALLOW_HARD_REBOOT = (None, *SOFT_REBOOTS, RESUMING, REBOOTING_HARD, UNPAUSING, PAUSING, SUSPENDING)

# Power states.
NO_POWER, RUNNING, POWER_PAUSED, SHUTDOWN, POWER_SUSPENDED = 0, 1, 3, 4, 7

_STATUS = {
    ACTIVE: "ACTIVE",
    BUILDING: "BUILD",
    PAUSED: "PAUSED",
    SUSPENDED: "SUSPENDED",
    STOPPED: "SHUTOFF",
    RESCUED: "RESCUE",
    RESIZED: "VERIFY_RESIZE",
    SOFT_DELETED: "SOFT_DELETED",
    DELETED: "DELETED",
    ERROR: "ERROR",
    SHELVED: "SHELVED",
    SHELVED_OFFLOADED: "SHELVED_OFFLOADED",
}

_REBUILDS = dict.fromkeys((REBUILDING, REBUILD_DEVICES, REBUILD_SPAWNING), "REBUILD")
_RESIZES = dict.fromkeys((RESIZE_PREP, RESIZE_MIGRATING, RESIZE_MIGRATED, RESIZE_FINISH), "RESIZE")

_STATUS_IN_TASK: Mapping[str, Mapping[str, str]] = {
    ACTIVE: {
        **dict.fromkeys((REBOOTING, REBOOT_PENDING, REBOOT_STARTED), "REBOOT"),
        **dict.fromkeys((REBOOTING_HARD, REBOOT_PENDING_HARD, REBOOT_STARTED_HARD), "HARD_REBOOT"),
        UPDATING_PASSWORD: "PASSWORD",
        MIGRATING: "MIGRATING",
        **_REBUILDS,
        **_RESIZES,
    },
    STOPPED: {**_RESIZES, **_REBUILDS},
    RESIZED: {RESIZE_REVERTING: "REVERT_RESIZE"},
    PAUSED: {MIGRATING: "MIGRATING"},
    ERROR: _REBUILDS,
}


def status(state: str, task: str | None) -> str:
    """Return the status that the API shows."""
    return _STATUS_IN_TASK.get(state, {}).get(task or "", _STATUS[state])


def states_of(wanted: str) -> frozenset[str]:
    """Return the states that a status may stand for."""
    plain = {state for state, text in _STATUS.items() if text == wanted}
    return frozenset(plain | {state for state, tasks in _STATUS_IN_TASK.items() if wanted in tasks.values()})
