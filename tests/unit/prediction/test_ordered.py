from __future__ import annotations

import numpy as np

from lease_scheduler.prediction.ordered import Everything, Window


def test_ranks_stay_right_while_observations_come_and_are_forgotten() -> None:
    values = np.random.default_rng(2).integers(0, 50, 400).tolist()
    window, everything = Window(100), Everything(60)
    since: list[int] = []
    for place, value in enumerate(values):
        window.add(value)
        everything.add(value)
        since.append(value)
        newest = values[max(0, place - 99) : place + 1]
        rank = 1 + place % len(newest)
        assert window.smallest(rank) == sorted(newest)[rank - 1]
        rank = 1 + (place * 7) % len(since)
        assert everything.smallest(rank) == sorted(since)[rank - 1]
        if place == 250:
            everything.keep_newest(40)
            since = since[-40:]
        assert len(everything) == len(since)
        assert everything.newest(30) == since[-30:]
    window.keep_newest(99)
    assert window.newest(200) == values[-99:]
    window.keep_newest(5)
    assert (len(window), window.newest(5), window.smallest(1)) == (5, values[-5:], min(values[-5:]))
