"""CUDA: an input in the registers of a thread."""
