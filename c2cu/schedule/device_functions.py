"""Functions of math.h on a device: the C of the CPU's lanes, so that both have the bits of this machine's library.

Text is printed with calls of ours for all functions that there are. If the bits of one that is called are not this
machine's library's (`gang.same_bits`), the text is printed again with CUDA's own for it. Text for other machines has
ours whatever their libraries are. Rare arguments, which lanes call the library for, have CUDA's own function here.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeVar

from ..base.cache import Cache, key
from ..base.libm import FUNCTIONS
from ..base.package import state
from ..codegen.contraction import plain_products
from ..codegen.cuda import CudaText, element_name, listed, literal, region_name, type_name
from ..codegen.math_calls import PREFIX, our_functions, rounds_correctly
from ..ir.nodes import Call, Expr, Region, Stmt, Store
from ..ir.passes import through
from ..ir.walk import statements
from ..transform.propagate import propagate
from .artifact import Artifact
from .device_correct import with_device_correct
from .gang.functions import MANY, any_library, lowered, names
from .gang.same_bits import equal

A = TypeVar("A", bound=Artifact)
EXACT = {n + f for n in ("fmax", "fmin", "fmod", "remainder", "round") for f in ("", "f")}  # CUDA's own are as exact
_CALLED = re.compile(rf"\b{PREFIX}(\w+)\(")
RARE = "c2cu_rare_"


def with_functions(emit: Callable[[], A]) -> A:
    """What ``emit`` makes, with the functions that its text calls. Raises what it raises."""
    if rounds_correctly():
        artifact = emit()
        called = tuple(sorted(set(_CALLED.findall(artifact.text))))
        return replace(artifact, text=with_device_correct(artifact.text), functions=called)
    artifact = _printed(emit, names() - EXACT)
    calls = _CALLED.findall(artifact.text)
    good = frozenset(calls) if any_library() else equal(frozenset(calls))
    if good != frozenset(calls):
        artifact = _printed(emit, good)
        calls = _CALLED.findall(artifact.text)
    if not calls:
        return artifact
    return replace(artifact, text=definitions(calls) + artifact.text, functions=tuple(sorted(good)))


def _printed(emit: Callable[[], A], ours: frozenset[str]) -> A:
    with our_functions(ours):
        return emit()


def definitions(calls: Sequence[str]) -> str:
    """The C++ of functions, and of the tables that they share. ``calls``: their names, once for each call."""
    tables: dict[str, None] = {}
    texts = []
    for name in sorted(set(calls)):
        shared, text = _text(name, plain_products())
        tables.update(dict.fromkeys(shared))
        inlined = "__noinline__" if calls.count(name) > MANY else "__forceinline__"
        texts.append(text.replace("INLINED", inlined))
    return "\n".join([*tables, *texts, ""])


@functools.cache
def _text(name: str, plain: bool) -> tuple[tuple[str, ...], str]:
    """Tables, and a function."""
    content = Cache().put(key("device", name, plain, state()), ".device", lambda: "\0".join(_made(name)).encode())
    *tables, text = content.decode().split("\0")
    return tuple(tables), text


def _made(name: str) -> list[str]:
    kernel = through(lowered(name), [("propagate", propagate)])
    taken = [r for r in kernel.regions if r.storage == "bulk"]
    p = _FunctionText(taken[:-1], taken[-1], name)
    last = kernel.body[-1]
    assert isinstance(last, Store) and not any(isinstance(s, Store) for s in statements(kernel.body[:-1]))
    p.declare(kernel.body)
    p.block(kernel.body)
    result, parameters = FUNCTIONS[name]
    given = ", ".join(f"{type_name(t)} {p.parameter(r)}" for r, t in zip(p.parameters, parameters))
    arguments, t = ", ".join(p.parameter(r) for r in p.parameters), type_name(result)
    rare = []
    if p.is_rare:
        rare.append(f"__device__ static __noinline__ {t} {RARE}{name}({given}) {{ return ::{name}({arguments}); }}")
    head = f"__device__ static INLINED {t} {PREFIX}{name}({given}) {{"
    tables = [_table(r) for r in kernel.regions if r.storage == "shared" and r.init is not None]
    return [*tables, "\n".join([*rare, head, *p.lines, "}"])]


def _table(r: Region) -> str:
    values = "\n    ".join(listed(literal(v, r.type) for v in r.init or ()))
    return f"__device__ static const {element_name(r.type)} {region_name(r)}[{r.count}] = {{\n    {values}}};"


class _FunctionText(CudaText):
    """Prints a kernel of one result as a function."""

    def __init__(self, parameters: list[Region], result: Region, name: str):
        super().__init__()
        self.parameters, self.result, self.name, self.is_rare = parameters, result, name, False

    def parameter(self, r: Region) -> str:
        return f"{r.name}_given"

    def element(self, r: Region, index: Expr) -> str:
        return self.parameter(r) if r in self.parameters else super().element(r, index)

    def statement(self, s: Stmt) -> None:
        if isinstance(s, Store):
            self.line(f"return {self.text(s.value)};")
        else:
            super().statement(s)

    def printed(self, e: Expr) -> tuple[str, int]:
        text, level = super().printed(e)
        if isinstance(e, Call) and e.name == self.name:
            self.is_rare = True
            return RARE + text, level
        return text, level
