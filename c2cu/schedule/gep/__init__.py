"""Schedule ``gep``: loops of Gaussian-elimination type (`c2cu.gep`), blocked, and exact for any update.

`cpu`: one matrix on all cores, its columns in SIMD lanes. `tiles` (CUDA): many small matrices, each in the registers of
a warp or a block. `grid` (CUDA): the whole device works at one large matrix, or at a few.
"""
