"""Artifacts compiled, loaded and run on arrays."""
