"""Commands that switch servers on and off, lock them, or reset their state."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from lease_scheduler.rehearsal.cloud.http import Answer, Refusal, Request
from lease_scheduler.rehearsal.cloud.keystone.records import Identity
from lease_scheduler.rehearsal.cloud.nova import states
from lease_scheduler.rehearsal.cloud.nova.api.context import Context
from lease_scheduler.rehearsal.cloud.nova.api.locks import check_host, check_lock, check_state, lock, unlock
from lease_scheduler.rehearsal.cloud.nova.records import Action, Server

_RUNNING = (states.ACTIVE,)
_HARD, _SOFT = "HARD", "SOFT"

#: States in which a server can be rebooted hard.
_REBOOTABLE = (states.ACTIVE, states.STOPPED, states.PAUSED, states.SUSPENDED, states.ERROR)

_RESCUABLE = (states.ACTIVE, states.STOPPED, states.ERROR)


@dataclass(frozen=True)
class Asking:
    """A command for a server, and who gives it."""

    request: Request
    identity: Identity
    server: Server


@dataclass(frozen=True)
class _Switch:
    """A command that is accepted in some states, and that a compute service carries out.

    :ivar name: name of the action
    :ivar allowed: states in which it is accepted
    :ivar task: task that the server gets
    """

    name: str
    allowed: tuple[str, ...]
    task: str
    do: Callable[[Server, Action], None]


class SwitchActions:
    """The commands."""

    def __init__(self, context: Context) -> None:
        self._context = context
        power = context.power
        switches = {
            "os-stop": _Switch("stop", (states.ACTIVE, states.ERROR), states.POWERING_OFF, power.stop),
            "os-start": _Switch("start", (states.STOPPED,), states.POWERING_ON, power.start),
            "pause": _Switch("pause", _RUNNING, states.PAUSING, power.pause),
            "unpause": _Switch("unpause", (states.PAUSED,), states.UNPAUSING, power.unpause),
            "suspend": _Switch("suspend", _RUNNING, states.SUSPENDING, power.suspend),
            "resume": _Switch("resume", (states.SUSPENDED,), states.RESUMING, power.resume),
            "rescue": _Switch("rescue", _RESCUABLE, states.RESCUING, power.rescue),
            "unrescue": _Switch("unrescue", (states.RESCUED,), states.UNRESCUING, power.unrescue),
            "changePassword": _Switch("changePassword", _RUNNING, states.UPDATING_PASSWORD, power.set_password),
        }
        self.commands: Mapping[str, Callable[[Asking, Any], Answer | None]] = {
            **{key: self._command(switch) for key, switch in switches.items()},
            "reboot": self._reboot,
            "lock": self._lock,
            "unlock": self._unlock,
            "os-resetState": self._reset_state,
        }

    def _command(self, switch: _Switch) -> Callable[[Asking, Any], Answer | None]:
        def do(asking: Asking, said: Any) -> Answer | None:
            server, store = asking.server, self._context.store
            check_lock(server, asking.identity)
            check_host(server)
            check_state(server, switch.name, switch.allowed)
            store.change(server, task=switch.task)
            switch.do(server, store.act(server, switch.name, asking.identity))
            return Answer(200, {"adminPass": "secret"}) if switch.name == "rescue" else None

        return do

    def _reboot(self, asking: Asking, said: Any) -> None:
        server, store, kind = asking.server, self._context.store, said["type"]
        check_lock(server, asking.identity)
        if kind == _HARD:
            check_state(server, "reboot_hard", _REBOOTABLE, states.ALLOW_HARD_REBOOT)
        elif kind == _SOFT:
            check_state(server, "reboot_soft", _RUNNING)
        else:
            raise Refusal(400, f"Invalid input for field/attribute type. Value: {kind}.")
        check_host(server)
        store.change(server, task=states.REBOOTING_HARD if kind == _HARD else states.REBOOTING)
        self._context.power.reboot(server, store.act(server, "reboot", asking.identity), kind)

    def _lock(self, asking: Asking, said: Any) -> None:
        server, store = asking.server, self._context.store
        reason = (said or {}).get("locked_reason")
        if lock(store, server, asking.identity, reason):
            action = store.act(server, "lock", asking.identity)
            store.finish(store.begin(action, "api_lock"))
            store.notices.server("lock", server, action)

    def _unlock(self, asking: Asking, said: Any) -> None:
        server, store = asking.server, self._context.store
        unlock(store, server, asking.identity)
        action = store.act(server, "unlock", asking.identity)
        store.finish(store.begin(action, "api_unlock"))
        store.notices.server("unlock", server, action)

    def _reset_state(self, asking: Asking, said: Any) -> None:
        server, store = asking.server, self._context.store
        self._context.admin(asking.request, "os-admin-actions:reset_state")
        store.change(server, state=said["state"], task=None)
        store.act(server, "resetState", asking.identity)
