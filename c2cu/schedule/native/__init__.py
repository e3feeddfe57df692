"""The program's own text, for CPU and CUDA."""
