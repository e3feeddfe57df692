"""Schedule ``gep``: loops of Gaussian-elimination type (`c2cu.gep`), blocked, and exact for any update.

`grid` (CUDA): the whole device works at one large matrix, or at a few.
"""
