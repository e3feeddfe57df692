"""A C preprocessor, for machines that have no C compiler: `preprocess` uses it there, and gcc's elsewhere."""

from .files import preprocessed

__all__ = ["preprocessed"]
