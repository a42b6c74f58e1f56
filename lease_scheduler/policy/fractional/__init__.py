"""Policies that decide how CPU is shared among fluid leases."""
