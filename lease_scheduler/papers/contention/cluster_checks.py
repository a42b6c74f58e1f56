"""Checks of ``clusters`` (Amini Salehi 2012, section 4.4; contention E5-E9).

Hard checks are those that the model must pass with the loads of ``clusters.LOCAL_LOADS``. Soft ones are what the
dissertation says beyond them; its own loads are more than the clusters can serve, so they could not be repeated.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from scipy.stats import chisquare  # type: ignore[import-untyped]

from lease_scheduler.papers.checks import Check
from lease_scheduler.papers.contention.clusters import POLICIES, ClusterCase
from lease_scheduler.simulation.campaigns.case import Outcome
from lease_scheduler.simulation.significance import (
    levene,
    mean_interval,
    paired_t_test,
    shapiro_wilk,
    wilcoxon_signed_rank,
)

Outcomes = Mapping[str, Outcome]

#: Policies that use the model of queues, and those that they are compared with in hard checks.
AWARE = ("PAP-RND", "PAP-RTDP")
OTHERS = ("LRF-RND", "BCF-RND")

_SIGNIFICANT = 0.05

#: Least p with which dispatch at random may have its shares; it is that of the unit tests of dispatch.
_LEAST_P = 0.01


@dataclass(frozen=True)
class Results:
    """Runs of all policies on the same workloads.

    :ivar outcomes: outcomes by name of the case
    :ivar numbers: numbers of the workloads
    :ivar reroutes: see ``ClusterCase``
    """

    outcomes: Outcomes
    numbers: Sequence[int]
    reroutes: bool = False

    def of(self, policy: str) -> list[Outcome]:
        """Return the outcomes of a policy, one for each workload."""
        return [self.outcomes[ClusterCase(policy, each, reroutes=self.reroutes).name] for each in self.numbers]

    def samples(self, policy: str, column: str) -> list[float]:
        """Return a figure of a policy, one for each workload."""
        return [float(each[column]) for each in self.of(policy)]

    def mean(self, policy: str, column: str) -> float:
        """Return the mean of a figure of a policy."""
        values = self.samples(policy, column)
        return sum(values) / len(values)

    def differences(self, more: str, less: str, column: str) -> tuple[float, ...]:
        """Return by how much a figure of one policy is above that of another one, workload by workload."""
        pairs = zip(self.samples(more, column), self.samples(less, column), strict=True)
        return tuple(one - other for one, other in pairs)


def hard_checks(results: Results) -> list[Check]:
    """Return the checks of the comparisons that must hold: fewer preempted VMs and a shorter response time."""
    checks = []
    for aware in AWARE:
        for other in OTHERS:
            fewer = results.differences(other, aware, "vm_preemptions")
            p_value = _p_value(results, other, aware, "vm_preemptions")
            note = f"{results.mean(other, 'vm_preemptions'):.0f} and {results.mean(aware, 'vm_preemptions'):.0f}"
            checks += [
                Check(f"preempted VMs, {other} - {aware}", None, fewer, 0.0, None, f"{note}; {_interval(fewer)}"),
                Check(f"preempted VMs, {other} - {aware}, p", None, (p_value,), None, _SIGNIFICANT),
            ]
    for aware in AWARE:
        for other in OTHERS:
            shorter = results.differences(other, aware, "awrt_s")
            note = f"{results.mean(other, 'awrt_s'):.0f} and {results.mean(aware, 'awrt_s'):.0f} s"
            checks.append(
                Check(f"AWRT, {other} - {aware}, s", None, shorter, 0.0, None, f"{note}; {_interval(shorter)}")
            )
    return checks


def dispatch_checks(results: Results) -> list[Check]:
    """Return the checks that clusters get their shares: in turns within 2 requests, and at random by chi-square."""
    distances = [_largest_distance(each) for each in results.of("PAP-RTDP")]
    checks = [
        Check(
            "PAP-RTDP, largest distance from the share of a type",
            None,
            (max(distances),),
            None,
            2.0,
            "requests, over all types, clusters and workloads",
        )
    ]
    for policy in ("LRF-RND", "BCF-RND", "PAP-RND"):
        sent, expected = Counter[str](), dict[str, float]()
        for outcome in results.of(policy):
            count = _by_cluster(outcome)
            sent.update(count)
            for cluster, share in outcome["shares"].items():
                expected[cluster] = expected.get(cluster, 0.0) + share * count.total()
        used = [cluster for cluster, amount in expected.items() if amount > 0]
        counts = [sent[cluster] for cluster in used]
        whole = sum(expected[cluster] for cluster in used)
        found = chisquare(counts, [sum(counts) * expected[cluster] / whole for cluster in used])
        note = f"chi-square over {sent.total()} requests"
        checks.append(Check(f"{policy}, p of its shares", None, (float(found.pvalue),), _LEAST_P, None, note))
        strangers = sum(count for cluster, count in sent.items() if cluster not in used)
        checks.append(Check(f"{policy}, requests to clusters without a share", None, (strangers,), 0, 0))
    return checks


def soft_checks(results: Results) -> list[Check]:
    """Return the checks of what the text says of figures 4.3 to 4.6; its figures are those of its own loads."""
    preempted, weighted = "vm_preemptions", "awrt_s"
    of_preempted = results.mean("PAP-RTDP", preempted) / results.mean("LRF-RND", preempted)
    of_weighted = results.mean("PAP-RTDP", weighted) / results.mean("LRF-RND", weighted)
    by_types = results.differences("PAP-RND", "PAP-RTDP", preempted)
    checks = [
        Check("preempted VMs, PAP-RTDP / LRF-RND", 0.4, (of_preempted,), None, 0.4, "soft; text: at least 60 % fewer"),
        Check("AWRT, PAP-RTDP / LRF-RND", 0.5, (of_weighted,), None, 0.5, "soft; text: more than 50 % less"),
        Check(
            "preempted VMs, PAP-RND - PAP-RTDP",
            None,
            by_types,
            0.0,
            None,
            f"soft; {_interval(by_types)}, p = {_p_value(results, 'PAP-RND', 'PAP-RTDP', preempted):.2g}; "
            "thesis: 2738..3897 in (a)",
        ),
    ]
    for name, column, more, less, thesis in (
        ("utilisation, points", "utilisation_percent", "PAP-RTDP", "LRF-RND", "12.5..14.7 in (a)"),
        ("utilisation, points", "utilisation_percent", "LRF-RND", "PAP-RND", "2.2..4.6 in (a)"),
        ("AWRT, s", "awrt_s", "PAP-RTDP", "PAP-RND", "3815..4417 in (a)"),
        ("AWRT, s", "awrt_s", "BCF-RND", "PAP-RTDP", "1863..6456 in (b)"),
        ("AWRT, s", "awrt_s", "LRF-RND", "BCF-RND", "no numbers"),
        ("rejected non-preemptable, points", "fixed_rejected_percent", "PAP-RND", "PAP-RTDP", "9.3..12.7 in (b)"),
    ):
        found = results.differences(more, less, column)
        note = f"soft; {_interval(found)}, p = {_p_value(results, more, less, column):.2g}; thesis: {thesis}"
        checks.append(Check(f"{name}, {more} - {less}", None, found, 0.0, None, note))
    return checks


def premises(results: Results) -> list[Check]:
    """Return, without bands, whether the premises of the tests hold: normal differences, and equal variances.

    If differences are not normal, the test of signed ranks tells more than the t test.
    """
    checks = []
    if len(results.numbers) > 2:
        for aware in AWARE:
            for other in OTHERS:
                name = f"preempted VMs, {other} - {aware}"
                normal = shapiro_wilk(results.differences(other, aware, "vm_preemptions")).p_value
                pairs = (results.samples(policy, "vm_preemptions") for policy in (other, aware))
                ranks = wilcoxon_signed_rank(*pairs).p_value
                checks += [
                    Check(f"{name}: normal, p", None, (normal,), None, None, "Shapiro-Wilk"),
                    Check(f"{name}: signed ranks, p", None, (ranks,), None, None, "Wilcoxon"),
                ]
    samples = [results.samples(policy, "vm_preemptions") for policy in POLICIES]
    name = "preempted VMs of all policies: equal variances, p"
    return [*checks, Check(name, None, (levene(samples).p_value,), None, None, "Levene")]


def overview(results: Results) -> list[Check]:
    """Return the figures of each policy, without bands."""
    checks = []
    for policy in POLICIES if not results.reroutes else (*OTHERS, *AWARE):
        for name, column in (
            ("preempted VMs", "vm_preemptions"),
            ("AWRT, s", "awrt_s"),
            ("utilisation, %", "utilisation_percent"),
            ("rejected non-preemptable requests, %", "fixed_rejected_percent"),
            ("rejected local requests, %", "local_rejected_percent"),
        ):
            values = tuple(results.samples(policy, column))
            checks.append(Check(f"{policy}: {name}", None, values, None, None, _interval(values)))
    return checks


def _by_cluster(outcome: Outcome) -> Counter[str]:
    found = Counter[str]()
    for _, cluster, count in outcome["sent"]:
        found[cluster] += count
    return found


def _largest_distance(outcome: Outcome) -> float:
    """Return by how many requests of a type a cluster has more or less than its share, at most."""
    sent = {(of_type, cluster): count for of_type, cluster, count in outcome["sent"]}
    whole = Counter[str]()
    for (of_type, _), count in sent.items():
        whole[of_type] += count
    distances: list[float] = [
        abs(sent.get((of_type, cluster), 0) - float(share) * count)
        for of_type, count in whole.items()
        for cluster, share in outcome["shares"].items()
    ]
    return max(distances)


def _p_value(results: Results, first: str, second: str, column: str) -> float:
    return paired_t_test(results.samples(first, column), results.samples(second, column)).p_value


def _interval(values: Sequence[float]) -> str:
    found = mean_interval(values)
    return f"95 %: {found.low:.3g}..{found.high:.3g}"
