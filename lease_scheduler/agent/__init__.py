"""The agent on compute hosts: weighs the CPU time of servers as the engine orders, and tells what they have used."""
