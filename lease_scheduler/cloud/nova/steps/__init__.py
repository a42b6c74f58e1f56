"""The steps of operations. Each call does what comes next, and returns whether the step is done."""
