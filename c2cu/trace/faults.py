"""Accesses that C does not define, told at the user's line before anything runs."""

from __future__ import annotations

from ..analysis.facts import Fault, Trace
from ..base.diagnostics import Diagnostic, Note, UnsupportedError

_CODES = {"bounds": "C2CU035", "uninitialised": "C2CU036"}
_HINTS = {
    "bounds": "C does not say what happens then: mend the subscript or the loop's bounds",
    "uninitialised": "C does not say what is read then: give it a value first",
}


def described(f: Fault) -> str:
    where = " and ".join(f"{name} = {value}" for name, value in f.counters)
    return f.message + (f", where {where}" if where else "")


def refuse_faults(trace: Trace | None) -> None:
    """Raise UnsupportedError for the first fault that happens whatever the data, with the others as notes."""
    certain = [f for f in trace.faults if f.certain] if trace is not None else []
    if not certain:
        return
    first, *others = certain
    notes = tuple(Note(described(f), f.loc) for f in others)
    raise UnsupportedError(_CODES[first.kind], described(first), first.loc, _HINTS[first.kind], notes)


def diagnosed(trace: Trace | None) -> tuple[Diagnostic, ...]:
    """Warnings of faults that happen only where a branch on data is taken."""
    return tuple(
        Diagnostic("warning", _CODES[f.kind], f"if this branch is taken: {described(f)}", f.loc, _HINTS[f.kind], ())
        for f in (trace.faults if trace is not None else ())
        if not f.certain and f.kind != "ahead"
    )
