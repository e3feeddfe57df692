"""CUDA: the paper's form, the input dimension appended to every array."""
