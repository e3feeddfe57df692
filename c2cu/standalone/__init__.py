"""A whole program, with no c2cu beside it."""
