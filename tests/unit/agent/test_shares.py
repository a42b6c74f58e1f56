"""Weights of the servers of one host: nobody but fluid servers gets less than they hold (issue 22)."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from lease_scheduler.agent.hypervisor import RunningServer, Scale
from lease_scheduler.agent.shares import wanted_shares

VERSION_1, VERSION_2 = Scale(2, 1024, 262_144), Scale(1, 100, 10_000)


def server(vcpus: int, usual: int = 100) -> RunningServer:
    return RunningServer(vcpus, usual, usual, 0.0)


def test_a_server_with_all_its_cpus_weighs_as_much_as_one_that_is_not_named() -> None:
    servers = {"fluid": server(2), "whole": server(2)}
    assert wanted_shares(servers, {"fluid": 200}, 4, VERSION_2) == {"fluid": 200, "whole": 200}
    assert wanted_shares(servers, {"fluid": 50}, 4, VERSION_1) == {"fluid": 512, "whole": 2048}


def test_named_servers_get_less_where_the_others_need_more() -> None:
    servers = {"a": server(2), "b": server(2), "whole": server(3)}
    assert wanted_shares(servers, {"a": 150, "b": 50}, 4, VERSION_2) == {"a": 75, "b": 25, "whole": 300}
    assert wanted_shares(servers, {"a": 150, "b": 50}, 2, VERSION_2) == {"a": 1, "b": 1, "whole": 300}


def test_without_named_servers_all_have_the_weights_of_nova() -> None:
    assert wanted_shares({"a": server(2, 300), "b": server(1, 7)}, {"gone": 50}, 4, VERSION_2) == {"a": 300, "b": 7}
    assert wanted_shares({}, {"gone": 50}, 4, VERSION_2) == {}


def test_a_server_above_the_range_keeps_its_proportion() -> None:
    assert wanted_shares({"a": server(400), "b": server(1)}, {"b": 100}, 500, VERSION_2) == {"a": 10_000, "b": 25}


@settings(max_examples=50)
@given(
    st.lists(st.integers(1, 8), max_size=5),
    st.lists(st.tuples(st.integers(1, 8), st.integers(1, 100)), min_size=1, max_size=5),
    st.integers(1, 64),
    st.sampled_from([VERSION_1, VERSION_2]),
)
def test_others_keep_what_they_hold(others: list[int], fluid: list[tuple[int, int]], cpus: int, scale: Scale) -> None:
    """Whatever is ordered: while the others fit on the host, each of them gets its CPUs, but for rounding."""
    servers = {f"other-{number}": server(vcpus) for number, vcpus in enumerate(others)}
    servers |= {f"fluid-{number}": server(vcpus) for number, (vcpus, _) in enumerate(fluid)}
    weights = {f"fluid-{number}": vcpus * part for number, (vcpus, part) in enumerate(fluid)}
    found = wanted_shares(servers, weights, cpus, scale)
    assert found.keys() == servers.keys()
    assert all(scale.lowest <= shares <= scale.highest for shares in found.values())
    if sum(others) <= cpus:
        # Each fluid server has the lowest weight at least.
        total = sum(found.values()) - scale.lowest * len(fluid)
        for number, vcpus in enumerate(others):
            assert cpus * found[f"other-{number}"] / total >= vcpus * 0.98
