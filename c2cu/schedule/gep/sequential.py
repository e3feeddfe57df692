"""The original program, in C, on the working copies: for inputs whose row k or column k changes in step k."""

from __future__ import annotations

from collections.abc import Iterator

from ...analysis.uniform import Uniform
from ...codegen.indent import indented
from ...codegen.simd import Printer, literal, member
from ...ir.nodes import Kernel, Region
from ..gang.text import Emitter, c_name
from ..slots import Layout, Slot


def sequential_lines(
    kernel: Kernel, matrices: tuple[Region, ...], slots: tuple[Slot, ...], layout: Layout
) -> list[str]:
    """Lines of a C function that gets ``struct work *s``: bring the input in, run the kernel, copy the outputs out.
    ``matrices``: the regions that have a working copy."""
    u = Uniform(kernel, frozenset(), frozenset(), ())
    emitter = Emitter(u, Printer(u))
    emitter.block(kernel.body)
    shared_inputs = [r for r in kernel.regions if r.storage == "shared" and r.init is None]
    bulk = [r for r in kernel.regions if r.storage == "bulk"]
    lines = ["const struct c2cu_slot *slot = s->slot;"]
    if shared_inputs:
        lines.append("const struct {")
        lines += [f"    const {c_name(r.type)} *{member(r)};" for r in shared_inputs]
        lines.append(
            f"}} given = {{{', '.join(f'slot[{layout[r.name][0]}].in' for r in shared_inputs)}}}, *g = &given;"
        )
    for r in bulk:
        lines += enter(r, layout[r.name][0], r in matrices)
    lines += [*emitter.declarations(), *indented(emitter.p.lines)]
    for r in bulk:
        k = layout[r.name][0]
        if slots[k].writes:
            out = f"(char *)slot[{k}].out + s->id * slot[{k}].out_stride"
            lines.append(f"if (slot[{k}].out) memcpy({out}, {member(r)}, {r.count}L * sizeof *{member(r)});")
    return lines


def enter(r: Region, slot: int, matrix: bool) -> Iterator[str]:
    """Lines that bring a region in, in the order and type of the C program."""
    name, t = member(r), c_name(r.type)
    yield f"{t} *const {name} = ({t} *)s->x_{name};" if matrix else f"{t} {name}[{r.count}];"
    source = f"(const char *)slot[{slot}].in + s->id * slot[{slot}].in_stride"
    otherwise = f"memcpy({name}, initial_{name}, sizeof initial_{name})"
    if not r.begins_otherwise:
        otherwise = f"memset({name}, 0, {r.count}L * sizeof *{name})"
    if r.begins_otherwise and not matrix:
        yield f"static const {t} initial_{name}[] = {{{', '.join(literal(v, r.type) for v in r.init or ())}}};"
    yield f"if (slot[{slot}].in) memcpy({name}, {source}, {r.count}L * sizeof *{name});"
    yield f"else {otherwise};"
