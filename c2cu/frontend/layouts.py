"""Layouts that attributes and pragmas change, as the host's compiler has them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from pycparser import c_ast as C

from ..base import toolchain
from ..base.scratch import scratch
from .attributes import LAYOUT, Mark
from .parse import Parsed, loc_of
from .preprocess import Preprocessed
from .tree import nodes

_TABLE = "c2cu_layouts"


@dataclass
class HostLayout:
    """Of a struct or another type: bytes, and offsets of the members by name. ``mark``: what changes it."""

    mark: Mark
    size: int = 0
    align: int = 1
    offsets: dict[str, int] = field(default_factory=dict)


def layouts(parsed: Parsed, pre: Preprocessed) -> dict[int, HostLayout]:
    """By id of the node: of the structs, typedefs and variables of declarations that a mark changes; {} where the
    compiler does not say."""
    by_node: dict[int, HostLayout] = {}
    asked: list[tuple[HostLayout, str, str]] = []  # (whose it is, sizeof or a member, the expression)
    altered: dict[str, Mark] = {}  # types whose alignment a mark changes, so that a struct of them changes too
    for node in parsed.ast.ext:
        mark = _mark_or_inherited(parsed, node, altered) if isinstance(node, (C.Typedef, C.Decl)) else None
        if mark is None or isinstance(node.type, C.FuncDecl):
            continue
        name = f"(*({node.name} *)0)" if isinstance(node, C.Typedef) else node.name
        if name is not None:
            by_node[id(node)] = known = HostLayout(mark)
            asked += _whole(name, known)
        for struct, object_ in _structs(node.type, name):
            by_node[id(struct)] = known = HostLayout(mark)
            asked += _whole(object_, known)
            names = (d.name for d in struct.decls if isinstance(d, C.Decl) and d.name and d.bitsize is None)
            asked += [(known, n, f"__builtin_offsetof(__typeof__({object_}), {n})") for n in names]
    values: list[int] = []
    for unit in pre.units if asked else ():
        values = values or _values(unit, [text for _, _, text in asked])
    if len(values) != len(asked):
        return {}
    for (known, what, _), value in zip(asked, values):
        if what == "sizeof ":
            known.size = value
        elif what == "alignof ":
            known.align = value
        else:
            known.offsets[what] = value
    return by_node


def _mark_or_inherited(parsed: Parsed, node: C.Typedef | C.Decl, altered: dict[str, Mark]) -> Mark | None:
    """The mark of a declaration, or of an altered type that its struct is made of; a typedef goes to ``altered``."""
    mark, is_type = mark_of(parsed, node), isinstance(node, C.Typedef)
    used = [n for t in nodes(node.type) if isinstance(t, C.IdentifierType) for n in t.names if n in altered]
    if mark is None and used and (is_type or any(s.decls for s in nodes(node.type) if isinstance(s, C.Struct))):
        mark = altered[used[0]]
    if mark is not None and is_type and mark.kind == LAYOUT:
        altered[node.name] = mark
    return mark


def mark_of(parsed: Parsed, node: C.Node) -> Mark | None:
    """The mark of the piece that a declaration or a function stands in: rather one that changes a meaning."""
    loc = loc_of(node)
    marks = [x.mark for x in parsed.marked if x.file == loc.file and x.first <= (loc.line, loc.column) <= x.last]
    return max(marks, key=lambda m: m.kind, default=None)  # "meaning" comes after "layout"


def _whole(name: str, known: HostLayout) -> list[tuple[HostLayout, str, str]]:
    return [(known, "sizeof ", f"sizeof({name})"), (known, "alignof ", f"__alignof__(__typeof__({name}))")]


def _structs(t: C.Node, name: str | None) -> Iterator[tuple[C.Struct | C.Union, str]]:
    """The structs that a declarator defines, and an object of each; ``name``: what the declarator declares."""
    match t:
        case C.TypeDecl() | C.Typename():
            yield from _structs(t.type, name)
        case C.ArrayDecl():
            yield from _structs(t.type, name and f"{name}[0]")
        case C.PtrDecl():
            yield from _structs(t.type, name and f"(*{name})")
        case C.Struct() | C.Union() if t.decls is not None:
            if t.name is not None:
                name = f"(*({'struct' if isinstance(t, C.Struct) else 'union'} {t.name} *)0)"
            if name is None:
                return
            yield t, name
            for d in t.decls:
                if isinstance(d, C.Decl) and d.name is not None:
                    yield from _structs(d.type, f"{name}.{d.name}")


def _values(pre: Preprocessed, expressions: list[str]) -> list[int]:
    """The values of constant expressions behind the text; [] where the compiler does not take them."""
    compiler = toolchain.find_compiler()
    table = ",\n".join(f"1 + {e}" for e in expressions)  # no zeros, which assemblers write otherwise
    text = f"{pre.plain}\n__attribute__((used)) const unsigned long {_TABLE}[] = {{\n{table}\n}};\n"
    with scratch() as folder:
        to = folder / "table.s"  # zig takes "-" for a file's name
        done = toolchain.fed([*compiler, "-S", "-O0", "-w", "-x", "c", "-std=gnu11", "-o", str(to), "-"], text, folder)
        if done.returncode:
            return []
        lines = to.read_text("utf-8", "replace").partition(f"{_TABLE}:\n")[2].split("\n")
    matches = [re.fullmatch(r"\s*\.(?:quad|xword|8byte)\s+(\d+).*", line) for line in lines[: len(expressions)]]
    return [int(m[1]) - 1 for m in matches if m]
