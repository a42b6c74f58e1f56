"""Tests of the driver on a Nova and a Placement that run inside the test process."""
