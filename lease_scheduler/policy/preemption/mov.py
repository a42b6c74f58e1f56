"""The set of victims with the least overhead."""

from __future__ import annotations

from lease_scheduler.policy.preemption.candidate_sets import CandidateSetPolicy, CandidateSets


class MinimumOverhead(CandidateSetPolicy):
    """Preempts the set that costs the least time (MOV; Amini Salehi 2012, equation 3.8).

    Of equal sets it takes the one with the fewest leases, then the one that was submitted first.
    """

    def best(self, found: CandidateSets) -> int:
        """See ``CandidateSetPolicy.best``."""
        return min(found.sets, key=lambda each: (found.overhead(each), each.bit_count(), found.submissions(each)))
