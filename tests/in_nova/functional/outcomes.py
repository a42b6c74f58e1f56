"""Tests that end in different ways, for the test of what runs tests."""

from __future__ import annotations

import os
import signal
import unittest


class OutcomesTest(unittest.TestCase):
    def test_it_succeeds(self) -> None:
        pass

    def test_it_fails(self) -> None:
        raise AssertionError("it is not as it should be")

    def test_it_is_skipped(self) -> None:
        self.skipTest("there is nothing to try")

    def test_it_is_killed(self) -> None:
        os.kill(os.getpid(), signal.SIGKILL)
