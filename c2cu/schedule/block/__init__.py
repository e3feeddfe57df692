"""CUDA: an input on the threads of a block."""
