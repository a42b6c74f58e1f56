"""A set of victims with few leases and little overhead."""

from __future__ import annotations

from statistics import median_low

from lease_scheduler.policy.preemption.candidate_sets import CandidateSetPolicy, CandidateSets


class MinimumOverheadMinimumLeases(CandidateSetPolicy):
    """Preempts as few leases as possible at a moderate cost (MOML; Amini Salehi 2012, algorithm 1).

    Of the sets whose overhead is at most the median of all sets, it takes the one with the fewest leases. Of equal sets
    it takes the one with the least overhead, then the one that was submitted first. With an even number of sets the
    median is the lower one of the two in the middle.
    """

    def best(self, found: CandidateSets) -> int:
        """See ``CandidateSetPolicy.best``."""
        overheads = {each: found.overhead(each) for each in found.sets}
        median = median_low(overheads.values())
        moderate = [each for each, overhead in overheads.items() if overhead <= median]
        return min(moderate, key=lambda each: (each.bit_count(), overheads[each], found.submissions(each)))
