"""Lowering: typed AST to the flat IR of one kernel, every call inlined, every jump made structured.

``break``, ``continue`` and ``return`` set a flag; what would be skipped stands in an `If` on that flag. A loop lists
the flags that end it. Raises UnsupportedError, with the place, for C that only the pass-through schedules take.

Functions over one `Context`, a topic a file, each importing from those before it:

    objects -> environment -> context -> substitutes, views, zeros -> pointers -> memory -> lvalues -> expressions,
    copies -> library, declarations, declassify -> calls, loops -> jumps -> control -> kernel

Where a file needs a function of a later one (a subscript is an expression, an expression may be a call), it calls the
method of `Context` that leads there; `kernel.RULES` lists them all.
"""

from .kernel import lower

__all__ = ["lower"]
