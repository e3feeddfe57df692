"""Accesses that C does not define, told at the user's line before anything runs."""

from __future__ import annotations

from ..analysis.facts import Fault, Trace
from ..base import catalogue
from ..base.diagnostics import Diagnostic, Note

_MESSAGES = {"bounds": catalogue.OUT_OF_BOUNDS, "uninitialised": catalogue.READ_UNSET}


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
    raise _MESSAGES[first.kind].error(first.loc, notes, fault=described(first))


def diagnosed(trace: Trace | None) -> tuple[Diagnostic, ...]:
    """Warnings of faults that happen only where a branch on data is taken."""
    return tuple(
        _MESSAGES[f.kind].diagnostic("warning", f.loc, fault=f"if this branch is taken: {described(f)}")
        for f in (trace.faults if trace is not None else ())
        if not f.certain and f.kind != "ahead"
    )
