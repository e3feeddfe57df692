"""Rewrites of the flat IR, one a file."""
