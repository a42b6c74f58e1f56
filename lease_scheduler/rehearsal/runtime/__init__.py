"""Deterministic runtime: the code of the live wing runs unchanged, and everything that it waits for is simulated.

All threads of a world are greenlets of one real thread. Whatever waits, locks, sends, reads a clock or draws a random
number asks the scheduler of the world, and the scheduler decides from its seed. So a seed gives one history.
"""
