"""Who acts in a world: tenants, operators, and what happens to hosts."""
