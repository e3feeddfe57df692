"""How C and CUDA C are spelled."""
