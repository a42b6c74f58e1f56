"""The agent on compute hosts: sets the CPU weights of servers as the engine orders, and reports the CPU time used."""
