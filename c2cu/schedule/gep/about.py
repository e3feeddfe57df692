"""What comments of generated text say of the loops that a kernel stands for, and where they are."""

from __future__ import annotations

from dataclasses import replace

from ...codegen.places import place_in
from ...gep import Gep, Part
from ...gep.form import Range
from ..artifact import Launch


def about(name: str, g: Gep) -> list[str]:
    """Lines of a comment: the loops of the kernel ``name``."""
    k = g.counters[0].name
    steps = f"{k} = {g.k.low}, ..., {g.k.high - 1}"
    lines = [f"{name}: {place_in(g.loc)}, a loop of Gaussian-elimination type. Its step {steps}:"]
    if (k, *(v.name for v in g.counters[1:])) != ("k", "i", "j"):
        lines.append(f"    (below, k, i and j are {', '.join(v.name for v in g.counters)})")
    lines += [f"    {place_in(p.loc)}: {_computed(g, p)}" for p in (*g.scale, g.update)]
    return lines


_NOTES = {
    "clear": "Clear what says that a matrix has to be computed again.",
    "pack": "Each matrix to its copy. A launch starts when the one before is complete, and finds what that has stored.",
    "look": "Whether all elements are such that the faster product is exact.",
    "all": "All steps of {at}: blocks take one tile after another.",
    "again": "Those matrices once more of which a step has been found not to be done as the C program does it.",
    "unpack": "The copies to where results are wanted.",
}


def noted(launches: tuple[Launch, ...], g: Gep) -> tuple[Launch, ...]:
    """The launches with what each is for, where that is not said yet."""
    return tuple(x if x.note else replace(x, note=_note(x, g)) for x in launches)


def _note(x: Launch, g: Gep) -> str:
    return _NOTES.get(x.kernel.removeprefix("c2cu_"), "").format(at=place_in(g.loc))


def _computed(g: Gep, part: Part) -> str:
    """What a part computes from what."""
    k, i, j = (v.name for v in g.counters)
    written = " and ".join(g.element(r, part.where) for r, _ in part.values)
    read = dict.fromkeys(g.element(p.region, p.where) for p in part.places)
    spans = {"ij": ((i, part.rows), (j, part.columns)), "ik": ((i, part.rows),), "kj": ((j, part.columns),)}[part.where]
    ranges = ", ".join(_range(name, span, k) for name, span in spans)
    return f"{written}{' from ' if read else ''}{', '.join(read)}, for {ranges}"


def _range(name: str, span: Range, k: str) -> str:
    low = f"{k} + {span.low}" if span.after and span.low else k if span.after else str(span.low)
    return f"{low} <= {name} < {span.high}".replace("+ -", "- ")
