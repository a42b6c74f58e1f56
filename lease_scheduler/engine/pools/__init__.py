"""The engines of the pools of a site, in the shape of one engine."""
