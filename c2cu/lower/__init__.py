"""Lowering: typed AST to the flat IR of one kernel, every call inlined, every jump made structured.

``break``, ``continue`` and ``return`` set a flag; what would be skipped stands in an `If` on that flag. A loop lists
the flags that end it. Raises UnsupportedError, with the place, for C that only the pass-through schedules take.

One class in layers, each file adds one: memory -> places -> values -> library -> functions -> control -> kernel.
"""

from .kernel import lower

__all__ = ["lower"]
