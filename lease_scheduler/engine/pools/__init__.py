"""The engines of the pools of a site, with the interface of one engine."""
