"""What must hold in a world. Each invariant is a function of plain values that finds what is broken."""
