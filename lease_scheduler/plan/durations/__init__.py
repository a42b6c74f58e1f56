"""How long it takes to suspend, resume and migrate, and what preempting a lease costs."""
