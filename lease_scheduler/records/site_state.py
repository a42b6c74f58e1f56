"""What a site keeps for all of its pools in the table of what policies have learnt.

Its pool is an empty text, also on a site with pools. Each name below is a family and a policy in that table.
"""

from __future__ import annotations

#: Limits of peers, by name of the peer.
LIMITS = ("peers", "limits")
#: Ids of requests that were given up before they arrived.
WITHDRAWN = ("requests", "withdrawn")
#: What is known of the requests that arrive, by their sort.
ARRIVALS = ("requests", "arrivals")

SITE_STATE = frozenset({LIMITS, WITHDRAWN, ARRIVALS})
