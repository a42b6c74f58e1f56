"""Programs that run in Nova's own environment; of this project, only the repository is on the path there."""

# This import patches the standard library, so it has to come first.
import nova.tests.functional  # noqa: F401
