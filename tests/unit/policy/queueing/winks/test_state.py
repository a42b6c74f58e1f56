"""What winks stores is what it goes on with."""

from __future__ import annotations

import json

import pytest

from lease_scheduler.policy.queueing.winks.state import Charge
from lease_scheduler.policy.queueing.winks.window import WindowUse


@pytest.mark.parametrize("is_due", [True, False])
def test_a_charge_comes_back_as_it_was_stored(is_due: bool) -> None:
    """Costs and tags have more digits than a number of JSON keeps."""
    charge = Charge("project", cost=10**30 + 1, duration=600, tag=10**40 + 7, window=12, is_due=is_due, owes=not is_due)

    assert Charge.of_document(json.loads(json.dumps(charge.as_document()))) == charge


def test_windows_come_back_as_they_were_stored() -> None:
    use = WindowUse()
    assert use.as_document() == {}
    use.add(3, 40)
    assert use.as_document() == {"used": {"3": "40"}}, "without debt, nothing more is stored"
    use.add(3, 10**30, owes=True)
    use.add(5, 370, owes=True)

    for window in (3, 4, 6):
        use.forget_before(window, 100)
        found = WindowUse.of_document(json.loads(json.dumps(use.as_document())))
        assert (found.used, found.owing, found.debt) == (use.used, use.owing, use.debt)
        assert [found.of(each, 100) for each in range(window, 9)] == [use.of(each, 100) for each in range(window, 9)]
    assert use.debt > 10**29


def test_windows_that_an_earlier_version_has_stored_begin_anew() -> None:
    assert WindowUse.of_document({"3": "40", "4": "100", "spent_before": "7"}).is_clear


def test_a_clock_that_jumps_ends_the_windows_in_between() -> None:
    """A jump ahead pays what is owed of the windows that it skips; one back makes nothing owed again."""
    use = WindowUse()
    use.add(3, 370, owes=True)
    assert not use.allows(5, 50, 100, debt=True)

    use.forget_before(40, 100)

    assert use.as_document() == {}
    assert use.allows(40, 100, 100, debt=True) and use.allows(3, 100, 100, debt=True)
    use.go_back_to(3)
    use.add(3, 100)
    use.forget_before(3, 100)
    assert not use.allows(3, 1, 100, debt=True)
