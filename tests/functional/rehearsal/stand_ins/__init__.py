"""Stand-ins for what the tests inside Nova use of Nova itself: the same handles, with the model behind them.

``modules.install`` makes them importable by Nova's names, so that the tests in ``tests/in_nova/functional`` run as they
are. They have no behaviour of Nova: that is the model's.
"""
