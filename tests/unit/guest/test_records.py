from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from lease_scheduler.guest.errors import WrongSettingError
from lease_scheduler.guest.nodes import Node, NodeState
from lease_scheduler.guest.records import LeaseRecord, Records, Stage, Verb, after, only_guest

_LEASE = LeaseRecord("a", 2, 600, "7", Stage.ASKING, {"name": "guest"})


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "guest.sqlite"


@pytest.fixture
def records(path: Path) -> Iterator[Records]:
    found = Records(path)
    yield found
    found.close()


def test_a_lease_is_as_it_was_written_when_the_file_is_opened_again(records: Records, path: Path) -> None:
    records.add_leases([_LEASE])
    records.set_extension("a", 1_200)
    again = Records(path)
    (lease,) = again.leases()
    assert lease == LeaseRecord("a", 2, 600, "7", Stage.ASKING, {"name": "guest"}, 1_200)
    again.set_stage(["a"], Stage.ENDING)
    again.close()
    assert records.leases()[0].stage is Stage.ENDING
    records.forget_lease("a")
    assert records.leases() == []


def test_what_is_told_is_applied_once_and_in_order(records: Records, path: Path) -> None:
    """Another process tells it, as Slurm's programs do."""
    other = Records(path)
    other.tell(Verb.RESUME, ["c1", "c2"])
    other.tell(Verb.SUSPEND, ["c1"])
    other.close()
    assert records.take_told(5) == 3
    assert records.nodes() == [Node("c2", NodeState.WANTED, 5)]
    assert records.take_told(6) == 0


@pytest.mark.parametrize(
    ("state", "verb", "expected"),
    [
        (None, Verb.RESUME, Node("c1", NodeState.WANTED, 9)),
        (None, Verb.SUSPEND, None),
        (NodeState.WANTED, Verb.RESUME_FAILED, None),
        (NodeState.JOINING, Verb.RESUME, Node("c1", NodeState.JOINING, 1, "a")),
        (NodeState.JOINING, Verb.RESUME_FAILED, Node("c1", NodeState.LEAVING, 9, "a")),
        (NodeState.JOINED, Verb.SUSPEND, Node("c1", NodeState.LEAVING, 9, "a")),
        (NodeState.LEAVING, Verb.RESUME, Node("c1", NodeState.LEAVING, 1, "a", is_wanted_again=True)),
        (NodeState.LEAVING, Verb.SUSPEND, Node("c1", NodeState.LEAVING, 1, "a")),
    ],
)
def test_what_the_queue_tells_of_a_node(state: NodeState | None, verb: Verb, expected: Node | None) -> None:
    node = None if state is None else Node("c1", state, 1, None if state is NodeState.WANTED else "a")
    assert after(node, verb, "c1", 9) == expected


def test_a_database_has_one_guest(path: Path) -> None:
    with only_guest(path), pytest.raises(WrongSettingError, match="another guest uses"):
        only_guest(path)
    only_guest(path).close()


def test_a_database_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    with pytest.raises(WrongSettingError, match=r"guest.database: .* name a writable file"):
        Records(tmp_path / "missing" / "guest.sqlite")
