"""Schedule ``gep``: loops of Gaussian-elimination type (see `c2cu.gep`), blocked."""
