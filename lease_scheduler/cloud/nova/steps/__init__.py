"""The steps of operations. Each call does the next part of a step, and returns whether the step is done."""
