"""The model of Keystone."""
