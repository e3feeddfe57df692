"""The text of a function of math.h that takes a vector: the pipeline's, of its C for one input."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass

from .. import pipeline
from ..analysis.uniform import uniform
from ..base.cache import Cache, key
from ..base.package import state
from ..base.templates import render
from ..codegen.lane_masks import MaskPrinter
from ..codegen.simd import member, register
from ..frontend.options import Options
from ..frontend.preprocess import read_source
from ..ir.passes import through
from ..schedule.gang.emit import PASSES, tables
from ..schedule.gang.text import Emitter
from . import FOLDER


@dataclass(frozen=True)
class LanesFunction:
    """``tables``, ``text``: C. The rest: what that uses of cpu/lanes.h.j2, see `codegen.simd.Printer`."""

    tables: list[str]
    text: str
    gathers: list[tuple[str, bool]]
    roots: list[str]
    fused: list[str]
    pairs: list[str]
    unsigned: list[tuple[str, int]]
    extremes: list[str]


def lanes_functions(names: Iterable[str]) -> list[LanesFunction]:
    """Each of these functions, ``lanes_NAME``, of a gang with any number of lanes."""
    return [_kept(name) for name in names]


def _kept(name: str) -> LanesFunction:
    content = Cache().put(key("lanes", name, state()), ".lanes", lambda: json.dumps(asdict(_made(name))).encode())
    known = json.loads(content)
    pairs = {n: [tuple(x) for x in known[n]] for n in ("gathers", "unsigned")}
    return LanesFunction(**{**known, **pairs})


def _made(name: str) -> LanesFunction:
    front = pipeline.understand(read_source(FOLDER / f"{name}.c"), Options(fn=f"c2cu_{name}"))
    u = uniform(through(front.analysed().kernel, PASSES))
    p = MaskPrinter(u)
    emitter = Emitter(u, p)
    emitter.block(u.kernel.body)
    taken = [r for r in u.kernel.regions if r.storage == "bulk"]
    *parameters, result = taken
    text = render(
        "cpu/lanes_function.c.j2",
        name=name,
        rep=register(result.type),
        members=[(register(r.type), member(r)) for r in taken],
        parameters=[(register(r.type), r.name, member(r)) for r in parameters],
        result=member(result),
        body=emitter.declarations() + p.lines,
    )
    return LanesFunction(
        tables(u),
        text,
        gathers=sorted(p.gathers),
        roots=sorted(p.roots),
        fused=sorted(p.fused),
        pairs=sorted(p.pairs),
        unsigned=sorted(p.unsigned),
        extremes=sorted(p.extremes),
    )
