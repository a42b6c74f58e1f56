"""The faults that are planted. Each is a small change of one file, as a careless hand might make it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path


class OutdatedFaultError(Exception):
    """The text that a fault replaces is not exactly once in its file: the code has changed, or the fault is wrong."""


@dataclass(frozen=True)
class Fault:
    """A fault.

    :ivar what: what is wrong then, in a few words
    :ivar file: file, relative to the package
    :ivar old: text that occurs once in the file
    :ivar new: text in its place
    :ivar simulated: whether it is in the part of the service that needs no Nova, so that worlds of the simulated cloud,
        which are faster, find it as well
    :ivar invariant: the invariant that is broken first; empty if worlds do not find the fault
    :ivar seed: first seed that finds it, of worlds as ``python -m tools.planting`` runs them
    :ivar unseen: why worlds do not find it; empty if they do
    """

    name: str
    what: str
    file: str
    old: str
    new: str
    simulated: bool = False
    invariant: str = ""
    seed: int = 0
    unseen: str = ""

    def plant(self, package: Path) -> None:
        """Change a copy of the package.

        :raises OutdatedFaultError: the code is not what the fault expects
        """
        path = package / self.file
        path.write_text(self.planted(path.read_text()))

    def planted(self, text: str) -> str:
        """Return the text of the file with the fault.

        :raises OutdatedFaultError: the text is not what the fault expects
        """
        found = text.count(self.old)
        if found != 1:
            raise OutdatedFaultError(f"{self.name}: {self.file} has the text to replace {found} times, not once")
        return text.replace(self.old, self.new)


FAULTS: Sequence[Fault] = (
    Fault(
        "fencing-dropped",
        "an engine that was deposed goes on writing",
        "store/sql/store.py",
        '_MINE = _OF_SITE & (SITES.c.epoch == bindparam("the_epoch"))',
        '_MINE = _OF_SITE & (SITES.c.epoch >= bindparam("the_epoch"))',
        simulated=True,
        invariant="no host is oversold in the plan",
        seed=6,
    ),
    Fault(
        "outbox-row-missing",
        "of the notifications of one transaction, only the first is written",
        "store/sql/messages.py",
        "for message in changes.messages\n",
        "for message in changes.messages[:1]\n",
        simulated=True,
        invariant="every transition is told",
        seed=1,
    ),
    Fault(
        "outbox-forgets",
        "a notification counts as sent before it is sent",
        "service/telling/outbox.py",
        "                self._send(message)\n                sent.append(message_id)\n",
        "                sent.append(message_id)\n                self._send(message)\n",
        simulated=True,
        invariant="notifications are in order",
        seed=6,
    ),
    Fault(
        "end-not-told",
        "the end of a lease is not told",
        "service/core/unit_of_work.py",
        "            self._changes.messages.append(transition_message(lease, document, state_before, self.now))\n",
        "            if not lease.is_final:\n"
        "                self._changes.messages.append(transition_message(lease, document, state_before, self.now))\n",
        simulated=True,
        invariant="every transition is told",
        seed=1,
    ),
    Fault(
        "transaction-lock-missing",
        "transactions of several threads run at the same time",
        "service/core/transactions.py",
        "        with self.lock:\n            if self.is_over:\n                raise",
        "        if True:\n            if self.is_over:\n                raise",
        simulated=True,
        unseen="transactions wait for each other in the database as well, and nothing else waits in one",
    ),
    Fault(
        "memory-kept-after-failure",
        "the plan in memory is kept although it could not be written",
        "service/core/transactions.py",
        "            except BaseException as error:\n                self.break_off()\n",
        "            except BaseException as error:\n",
        simulated=True,
        invariant="the history tells the state",
        seed=6,
    ),
    Fault(
        "intent-not-closed",
        "the end of a command is not written",
        "store/sql/store.py",
        "        for chunk in chunks(changes.over):\n",
        "        for chunk in chunks(changes.over[1:]):\n",
        simulated=True,
        invariant="no operation is stuck",
        seed=2,
    ),
    Fault(
        "step-skipped-at-take-over",
        "an engine that takes over begins with the step after the one that was recorded",
        "service/core/orders.py",
        "        step=intent.step,\n",
        "        step=intent.step + 1 if intent.step else 0,\n",
        unseen="few engines are killed in the middle of a step, and comparisons mend most of it later",
    ),
    Fault(
        "offer-never-expires",
        "an offer keeps its hosts when it has expired",
        "engine/lifecycle.py",
        "            self._offers.expire(lease, now)\n",
        "            pass\n",
        simulated=True,
        invariant="an offer ends when it expires",
        seed=4,
    ),
    Fault(
        "breach-not-recorded",
        "a breach is not written",
        "service/core/unit_of_work.py",
        "        self._changes.breaches.append(BreachRecord(document.project_id, breach))\n",
        "",
        simulated=True,
        invariant="breaches are recorded",
        seed=4,
    ),
    Fault(
        "extension-unchecked",
        "a lease is extended although others have its hosts afterwards",
        "plan/changing/changing.py",
        "    except NotPlannableError:\n        return False\n    make_room(",
        "    except NotPlannableError:\n        return True\n    make_room(",
        simulated=True,
        invariant="no host is oversold in the plan",
        seed=3,
    ),
    Fault(
        "policy-of-own-project",
        "policies are asked about the project of the caller, and not that of the lease",
        "api/app.py",
        'caller.project_id if subject is None else subject["project_id"]}',
        "caller.project_id}",
        invariant="wrong requests are refused",
        seed=2,
    ),
    Fault(
        "cancelled-lease-stays",
        "what a lease has in the cloud is not removed when it is cancelled",
        "service/core/unit_of_work.py",
        "            self.intents.discard(lease_id, now)\n",
        "            pass\n",
        unseen="most cancelled leases are ended by another command, and comparisons mend the rest",
    ),
    Fault(
        "foreign-hint-accepted",
        "the filter accepts the hint of a lease of another project",
        "nova/rules.py",
        "    if held.project_id != boot.project_id:\n",
        "    if held.exclusive is None and held.project_id != boot.project_id:\n",
        invariant="nobody comes to hosts of another lease",
        seed=2,
    ),
    Fault(
        "owner-not-kept-alone",
        "the filter lets preemptible servers on hosts that a lease has for itself",
        "nova/rules.py",
        "        if held.exclusive and held.vacated_from <= now and held.names.isdisjoint(but):\n",
        "        if held.exclusive and now < held.start and held.names.isdisjoint(but):\n",
        invariant="nobody comes to hosts of another lease",
        seed=1,
    ),
    Fault(
        "close-skipped",
        "servers may still start while a lease ends",
        "cloud/nova/steps/sequence.py",
        '    OperationKind.STOP: ("close", "keep",',
        '    OperationKind.STOP: ("keep",',
        unseen="LeaseFilter knows the planned end by itself, and servers are deleted until there are none",
    ),
    Fault(
        "steps-swapped",
        "a lease leaves its hosts before its servers are deleted",
        "cloud/nova/steps/sequence.py",
        '"keep", "set-apart", "snapshot", "delete-servers", "leave", "release", "remove"),',
        '"keep", "set-apart", "snapshot", "leave", "release", "delete-servers", "remove"),',
        invariant="reservations start in time",
        seed=1,
    ),
    Fault(
        "vacated-once",
        "a lease gets its hosts without servers being cleared off them",
        "cloud/nova/steps/sequence.py",
        'OperationKind.START: ("aggregate", "vacate", "enter",',
        'OperationKind.START: ("aggregate", "enter",',
        invariant="nobody uses hosts of another lease",
        seed=2,
    ),
    Fault(
        "hold-not-released",
        "what a lease holds in Placement is not released",
        "cloud/nova/steps/holding.py",
        "            for consumer in sorted(consumers & self._placement.consumers_on(node.provider_id).keys()):\n"
        "                self._placement.release(consumer)\n",
        "",
        invariant="reservations start in time",
        seed=2,
    ),
)
