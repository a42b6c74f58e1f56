"""Streams of random numbers: one for each seed and purpose.

Whatever draws numbers for a study takes its stream from here, below ``plan``, so that generators, predictions and
experiments mean the same by a seed.
"""

from __future__ import annotations

import zlib

import numpy as np

from lease_scheduler.model.errors import InvalidValueError


def random_stream(seed: int, purpose: str) -> np.random.Generator:
    """Return the stream of random numbers of a purpose, so that one law does not shift the draws of another.

    :param seed: at least 0
    :param purpose: what the numbers are for, such as ``nodes``
    :raises InvalidValueError: the seed is negative
    """
    if seed < 0:
        raise InvalidValueError("seed", f"must be at least 0, not {seed}")
    sequence = np.random.SeedSequence(seed, spawn_key=(zlib.crc32(purpose.encode()),))
    return np.random.Generator(np.random.PCG64(sequence))
