"""The entry point of the experiment."""

import experiment_example

from lease_scheduler.papers.paper import Paper

PAPER = Paper("queue", {"queue-1": experiment_example}, "queue: what backfilling gains on a small site")
