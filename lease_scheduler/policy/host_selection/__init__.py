"""Host selection: in which order hosts are filled. stevedore namespace ``lease_scheduler.policy.host_selection``."""
