"""CPU: inputs side by side in SIMD lanes."""
