from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lease_scheduler.guest.errors import UnavailableError
from lease_scheduler.guest.nodes import Power, QueueNode
from lease_scheduler.guest.slurm.reading import expanded, view
from lease_scheduler.guest.values import Job


def _node(name: str, *flags: str, state: str = "idle", reason: str = "") -> dict[str, Any]:
    return {"name": name, "state": state, "state_flags": ["CLOUD", *flags], "partitions": ["main"], "reason": reason}


def _job(number: int, state: str, nodes: str, limit: int | None = 5) -> dict[str, Any]:
    return {"job_id": number, "job_state": state, "nodes": nodes, "time_limit": limit}


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        ("", []),
        ("c1", ["c1"]),
        ("c[1-3]", ["c1", "c2", "c3"]),
        ("c[08-10,12],login", ["c08", "c09", "c10", "c12", "login"]),
        ("r[1-2]n[1-2]", ["r1n1", "r1n2", "r2n1", "r2n2"]),
    ],
)
def test_lists_of_hosts(names: str, expected: list[str]) -> None:
    assert expanded(names) == expected


@pytest.mark.parametrize("names", ["c[1-2", "c1]", "c[x]", "c[[1]]"])
def test_what_is_no_list_of_hosts_is_refused(names: str) -> None:
    with pytest.raises(ValueError, match=r"list of hosts|invalid literal"):
        expanded(names)


@given(st.lists(st.integers(0, 999), min_size=1, max_size=9, unique=True))
def test_every_number_of_a_range_is_there(numbers: list[int]) -> None:
    assert expanded(f"n[{','.join(f'{each:03}' for each in numbers)}]") == [f"n{each:03}" for each in numbers]


def test_states_of_nodes() -> None:
    nodes = [
        _node("off", "POWERED_DOWN"),
        _node("starts", "NOT_RESPONDING", "POWERING_UP", state="allocated"),
        _node("on", state="allocated"),
        _node("drains", "DRAIN", "POWER_DOWN"),
        _node("stops", "POWERING_DOWN"),
        _node("late", "POWERED_DOWN", state="down", reason="ResumeTimeout reached"),
        _node("broken", state="down", reason="no disk"),
    ]
    found = view({"nodes": nodes}, {"jobs": [_job(7, "RUNNING", "on")]}, []).nodes
    assert list(found.values()) == [
        QueueNode("off", Power.DOWN),
        QueueNode("starts", Power.POWERING_UP),
        QueueNode("on", Power.UP, ("7",)),
        QueueNode("drains", Power.UP, is_draining=True),
        QueueNode("stops", Power.POWERING_DOWN),
        QueueNode("late", Power.DOWN, has_failed=True, is_late=True),
        QueueNode("broken", Power.UP, has_failed=True),
    ]


def test_jobs_that_wait_for_their_nodes() -> None:
    """Pending jobs have no nodes yet: Slurm gives them nodes, also such that are powered down, as soon as it may."""
    nodes = [_node("c1", "POWERING_UP"), _node("c2", "POWERING_UP"), _node("c3")]
    jobs = [
        _job(1, "CONFIGURING", "c[1-2]"),
        _job(2, "PENDING", ""),
        _job(3, "RUNNING", "c3"),
        _job(4, "COMPLETED", "c3"),
    ]
    found = view({"nodes": nodes}, {"jobs": jobs}, [])
    assert found.jobs == [Job("1", 2, 300)]
    assert found.job_nodes == {"c1": "1", "c2": "1"}
    assert found.nodes["c3"].jobs == ("3",)


@pytest.mark.parametrize("limit", [None, 2**32 - 1, 0])
def test_a_job_without_a_time_limit(limit: int | None) -> None:
    found = view({"nodes": [_node("c1")]}, {"jobs": [_job(1, "CONFIGURING", "c1", limit)]}, [])
    assert found.jobs == [Job("1", 1, None)]


def test_only_cloud_nodes_of_the_partitions_count() -> None:
    fixed = {**_node("fixed"), "state_flags": []}
    other = {**_node("other"), "partitions": ["gpu"]}
    assert list(view({"nodes": [fixed, other, _node("c1")]}, {"jobs": []}, ["main"]).nodes) == ["c1"]


def test_an_answer_of_another_form_is_as_none() -> None:
    with pytest.raises(UnavailableError, match="cannot be read"):
        view({"nodes": [{"name": "c1"}]}, {"jobs": []}, [])
