"""Other sites as members of a federation, reached by their own interfaces."""
