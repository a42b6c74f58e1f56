"""Entry points of the console scripts: they read options, wire the drivers to the engine and exit.

No scheduling logic lives here.
"""
