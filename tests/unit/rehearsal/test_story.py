from __future__ import annotations

from lease_scheduler.rehearsal.runtime.processes import EPOCH
from lease_scheduler.rehearsal.runtime.scheduler import Scheduler
from lease_scheduler.rehearsal.story import Ledger, Story


def test_a_story_about_a_lease_leaves_out_the_others() -> None:
    scheduler = Scheduler(1)
    story = Story(scheduler)
    for number, subject in enumerate(("", "a", "b", "", "a")):
        scheduler.now = 60.0 * number
        story.tell("somebody", f"does {number}", subject)
    assert [each.what for each in story.last(5, "a")] == ["does 0", "does 1", "does 3", "does 4"]
    assert [each.what for each in story.last(1, "a")] == ["does 3", "does 4"]
    assert [each.what for each in story.last(2)] == ["does 3", "does 4"]


def test_happenings_are_part_of_the_trace_and_say_when() -> None:
    scheduler = Scheduler(1)
    scheduler.now = 3_723.5
    Story(scheduler).tell("operator", "adds a host")
    assert scheduler.trace.lines[-1] == "story   1:02:03.50  operator       adds a host"


def test_what_was_told_first_counts() -> None:
    scheduler = Scheduler(1)
    ledger = Ledger(scheduler)
    for instant in (10.0, 20.0):
        scheduler.now = instant
        ledger.has("a", "physics", "work")
        ledger.ends("a")
    assert ledger.leases["a"].instant == ledger.ended["a"] == EPOCH + 10.0
