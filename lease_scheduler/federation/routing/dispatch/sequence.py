"""The billiard sequence, which gives members requests by their shares (Amini Salehi 2012, equation 4.20).

The next request goes to the member with the least (X + Y) / P, where P is its share, Y the number of requests that it
has got, and X is 1 for the fastest member and 0 for others. Kept is Y / P rather than Y. When shares change, it stays
as it is, as if Y were scaled to the new share.

After n requests with the same shares, a member of m has got at most n P + 1 + P. It has got at least n P - (m - 2) P,
and the fastest one at least n P - 1 - (m - 2) P. To see this, let t be the least (X + Y) / P. Then
t P <= X + Y <= t P + 1 for each member, as a member gets a request only when it has the least. The sum over all members
gives t <= n + 1, and with it the first bound. The sum over the other members, and t <= (X + Y) / P, give
X + Y >= P (n + 2 - m). So all are within 2 of their shares if there are at most three, or if all shares are at most
1 / (m - 2). Otherwise the fastest member may wait for one request of each other member before it gets its first one.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

#: Positions that differ by less than this share of themselves are equal, as they are sums of rounded numbers.
_TOLERANCE = 1e-9


def next_in_sequence(
    shares: Mapping[str, float], among: Collection[str], fastest: str, served: Mapping[str, float]
) -> tuple[str, dict[str, float]]:
    """Return the member that gets the next request, and the positions after it.

    A member that is new in the sequence begins where the one that is furthest behind is, so that it catches up with
    nothing.

    :param shares: positive shares by member, in the configured order, which decides ties
    :param among: members of which one is to be chosen; at least one of them has a share
    :param fastest: the member that begins with X = 1
    :param served: position of each member, which is Y / P; empty at the beginning of the sequence
    """
    behind = min((served[name] for name in shares if name in served), default=0.0)
    positions = {name: served.get(name, behind) for name in shares}
    instants = {
        name: positions[name] + (1 / share if name == fastest else 0.0)
        for name, share in shares.items()
        if name in among
    }
    least = min(instants.values()) * (1 + _TOLERANCE)
    chosen = next(name for name, instant in instants.items() if instant <= least)
    positions[chosen] += 1 / shares[chosen]
    return chosen, positions
