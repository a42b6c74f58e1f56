"""The set of victims with the fewest leases."""

from __future__ import annotations

from lease_scheduler.policy.preemption.candidate_sets import CandidateSetPolicy, CandidateSets


class MinimumLeases(CandidateSetPolicy):
    """Preempts as few leases as possible, whatever that costs (MLIP; Amini Salehi 2012, equation 3.9).

    Of equal sets it takes the one with the largest leases, as in table 7.2, then the one that was submitted first.
    """

    def best(self, found: CandidateSets) -> int:
        """See ``CandidateSetPolicy.best``."""
        fewest = min(each.bit_count() for each in found.sets)
        fitting = [each for each in found.sets if each.bit_count() == fewest]
        return min(fitting, key=lambda each: ([-nodes for nodes in found.nodes(each)], found.submissions(each)))
