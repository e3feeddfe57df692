"""CUDA: like `registers`, with long arrays in tiles through shared memory."""
