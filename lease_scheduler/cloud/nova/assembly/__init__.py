"""Assembly of the driver for OpenStack from its parts."""
