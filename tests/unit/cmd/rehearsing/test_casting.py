from __future__ import annotations

import pytest

from lease_scheduler.cmd.rehearsing.casting import Cast, named, parse
from lease_scheduler.model.errors import InvalidValueError


def test_a_seed_decides_only_what_nobody_names() -> None:
    drawn = Cast(faults=("kill",), acts=()).drawn(7, with_nova=True)
    assert (drawn.faults, drawn.acts) == (("kill",), ())
    other = Cast().drawn(7, with_nova=True)
    assert (drawn.verbs, drawn.fates) == (other.verbs, other.fates)
    assert drawn.verbs


def test_without_a_nova_there_are_neither_servers_nor_hosts_that_fail() -> None:
    for seed in range(20):
        drawn = Cast().drawn(seed, with_nova=False)
        assert not {"boot-late", "nag", "stranger-rushes"} & set(drawn.verbs or ())
        assert not {"disable", "delete-flavor"} & set(drawn.acts or ())
        assert drawn.fates == ()


def test_a_cast_is_named_as_it_is_read() -> None:
    cast = Cast(("kill", "full"), None, (), ("down",))
    said = named(cast)
    assert said == {"faults": "kill,full", "acts": "none", "fates": "down"}
    assert Cast(**{name: parse(name, text) for name, text in said.items()}) == cast


def test_unknown_names_are_refused() -> None:
    with pytest.raises(InvalidValueError, match=r"--verbs: there is no 'dance'; give some of book, "):
        parse("verbs", "book,dance")
