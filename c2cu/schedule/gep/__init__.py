"""Schedule ``gep``: loops of Gaussian-elimination type (`c2cu.gep`), by tiles, exact."""
