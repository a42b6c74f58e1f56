"""Programs that run inside Nova: in its environment, where our package is on the path and nothing else of ours is."""

# It patches the standard library, which must be before anything else is imported.
import nova.tests.functional  # noqa: F401
