"""How many hosts recorded use takes (Pucher 2016, 3.3.4 and 3.4.3; prediction A12, A13, A17, P14)."""

from __future__ import annotations

import numpy as np
import pytest

from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.prediction.bounds import clopper_pearson, upper_rank
from lease_scheduler.prediction.capacity import Use, capacity_report

_HOUR, _DAY = 3_600, 86_400
_BEGIN = 20_000 * _DAY


def _days(hosts: list[float], hour: int = 9) -> list[Use]:
    """Return use in one hour of each day."""
    begins = [_BEGIN + day * _DAY + hour * _HOUR for day in range(len(hosts))]
    return [Use(begin, begin + _HOUR, each) for begin, each in zip(begins, hosts, strict=True)]


def test_the_bound_has_the_rank_of_the_table_of_a5() -> None:
    """100 days: rank 99 for .95, and too few for .99 (section 4.2.1 of the specification: 299)."""
    report = capacity_report(_days([float(number) for number in range(1, 101)]), 100)
    assert (report.days, len(report.peaks)) == (100, 100)
    by_promise = {need.promise: need for need in report.needs}
    assert upper_rank(100, 0.95, 0.95) == 99
    assert by_promise[0.95].hosts == 99
    assert by_promise[0.9].hosts == upper_rank(100, 0.9, 0.95)
    assert (by_promise[0.99].hosts, by_promise[0.99].least_days) == (None, 299)
    assert report.full == 0.01


def test_idle_hours_do_not_dilute_it_and_hours_of_a_day_are_one_observation() -> None:
    """A13: one hour of use a week counts as much as one a day. P14: 24 hours of 20 days are 20 observations."""
    weekly = [Use(_BEGIN + week * 7 * _DAY, _BEGIN + week * 7 * _DAY + _HOUR, 3.0) for week in range(40)]
    assert capacity_report(weekly, 10, (0.9,)).needs[0].hosts == 3
    assert capacity_report([Use(_BEGIN, _BEGIN + 20 * _DAY, 3.0)], 10, (0.9,)).needs[0].hosts is None
    assert capacity_report([Use(_BEGIN, _BEGIN + 30 * _DAY, 3.0)], 10, (0.9,)).needs[0].hosts == 3


def test_use_that_overlaps_adds_up_to_the_peak_of_the_hour() -> None:
    """Two leases that meet for a minute, parts of hosts, and one that ends as another starts."""
    uses = []
    for day in range(60):
        begin = _BEGIN + day * _DAY
        uses += [Use(begin, begin + 1_860, 0.5), Use(begin + 1_800, begin + 3_000, 0.7)]
        uses += [Use(begin + 3_000, begin + 3_600, 1.2)]
    report = capacity_report(uses, 4, (0.9,))
    assert report.peaks[-1] == pytest.approx(1.2)
    assert report.needs[0].hosts == 2
    assert report.full == 0.0


def test_a_report_counts_missing_hosts_and_spare_ones() -> None:
    """Ten hosts are used at once each day, on a site of eight: two are missing, and ten should be awake."""
    need = capacity_report(_days([10.0] * 80), 8, (0.95,)).needs[0]
    assert (need.hosts, need.spare, need.lifetime) == (10, 10, 0)


def test_the_lifetime_is_that_of_a_lease_on_the_next_host() -> None:
    """Half of the site is always in use, so that one more host is not threatened."""
    always = [Use(_BEGIN, _BEGIN + 90 * _DAY, 4.0)]
    assert capacity_report(always, 8, (0.9,)).needs[0].lifetime > 24 * _HOUR
    assert capacity_report(always, 4, (0.9,)).needs[0].lifetime == 0, "there is no room"


def test_the_reported_need_is_enough_in_the_future() -> None:
    """Clopper-Pearson over many sites: the share of days that need more is as promised, at the confidence."""
    failed = 0
    for seed in range(50):
        random = np.random.default_rng(seed)
        past, future = random.lognormal(1.0, 0.6, 70), random.lognormal(1.0, 0.6, 4_000)
        hosts = capacity_report(_days(past.tolist()), 10, (0.9,)).needs[0].hosts
        assert hosts is not None
        failed += bool(np.mean(future > hosts) > 0.1)
    assert clopper_pearson(failed, 50, 0.99)[0] <= 0.05


def test_only_a_load_that_grows_is_reported_as_growing() -> None:
    """Where the newer half needs more than the older one, what was needed so far will not be enough."""
    random = np.random.default_rng(1)
    noise = random.lognormal(1.0, 0.3, 120)
    grown = (noise * np.linspace(1, 2, 120)).tolist()
    report = capacity_report(_days(grown[:80]), 10, (0.9,))
    assert report.trend is not None
    assert report.trend.grows
    assert report.trend.newer > 1.1 * report.trend.older
    hosts = report.needs[0].hosts
    assert hosts is not None
    assert np.mean(np.asarray(grown[80:]) <= hosts) < 0.8, "which the report warns of"
    steady = capacity_report(_days(noise[:80].tolist()), 10, (0.9,)).trend
    assert steady is not None
    assert not steady.grows
    falling = capacity_report(_days(grown[79::-1]), 10, (0.9,)).trend
    assert falling is not None
    assert not falling.grows
    assert capacity_report(_days(grown[:9]), 10, (0.9,)).trend is None


def test_a_steady_load_is_rarely_said_to_grow() -> None:
    """At a confidence of 95 %, one site of twenty is."""
    told = 0
    for seed in range(100):
        trend = capacity_report(_days(np.random.default_rng(seed).lognormal(1.0, 0.6, 70).tolist()), 10, (0.9,)).trend
        told += trend is not None and trend.grows
    assert clopper_pearson(told, 100, 0.99)[0] <= 0.05


def test_use_that_rounds_to_nothing_is_no_use() -> None:
    report = capacity_report([Use(_BEGIN, _BEGIN + _HOUR, 1e-12)] * 3, 4, (0.9,))
    assert (report.days, report.highest, report.needs[0].hosts, report.trend) == (0, 0.0, None, None)


def test_the_highest_promise_takes_many_days() -> None:
    """It has no bound of what is needed; the spare is the largest that was seen."""
    (need,) = capacity_report(_days([2.0] * 80), 4, (0.9999,)).needs
    assert (need.hosts, need.spare, need.least_days) == (None, 2, 29_956)


def test_nothing_is_known_without_use() -> None:
    report = capacity_report([Use(5, 5, 1.0)], 4, (0.9,))
    assert (report.days, report.highest, report.mean, report.full) == (0, 0.0, 0.0, 0.0)
    assert report.needs[0].hosts is None
    assert capacity_report(_days([2.0] * 40), 0, (0.9,)).needs[0].hosts == 2


@pytest.mark.parametrize(
    ("uses", "hosts", "promises", "message"),
    [
        ([Use(0, 9, 1.0)], -1, (0.9,), "hosts: must be at least 0, not -1"),
        ([Use(0, 9, 1.0)], 4, (1.0,), "promise: must be more than 0 and at most 0.9999"),
        ([Use(0, 9, 1.0), Use(10**12, 10**12 + 1, 1.0)], 4, (0.9,), "history: must not be longer than ten years"),
    ],
)
def test_invalid_input_is_named(uses: list[Use], hosts: int, promises: tuple[float, ...], message: str) -> None:
    with pytest.raises(InvalidValueError, match=message):
        capacity_report(uses, hosts, promises)
