"""Functions of math.h on a device: the C of the CPU's lanes, so that both have the bits of this machine's library.

Text is printed with calls of ours for all functions that there are. If the bits of one that is called are not this
machine's library's (`gang.same_bits`), the text is printed again with CUDA's own for it. Text for other machines has
ours whatever their libraries are. For rare arguments lanes call the library; here that is a function of its own
(``c2cu/math/rare``), which is not inlined.
"""

from __future__ import annotations

import functools
import re
import struct
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeVar

from ..base.cache import Cache, key
from ..base.ctype import DOUBLE
from ..base.libm import FUNCTIONS, PAIRS
from ..base.mathematics import fused
from ..base.package import state
from ..codegen.contraction import plain_products
from ..codegen.cuda import CudaText, element_name, listed, literal, region_name, type_name
from ..codegen.double_constants import constant_name, constants, is_long
from ..codegen.math_calls import PREFIX, our_functions, rounds_correctly
from ..codegen.precedence import NAME, WHOLE
from ..ir.nodes import Assign, Binary, Call, Const, Expr, Kernel, Region, Select, Stmt, Store, Var, Variable
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


def with_functions(emit: Callable[[], A], fp: str) -> A:
    """What ``emit`` makes, with the functions that its text calls; ``fp`` "fast" asks for CUDA's own. Raises what it
    raises."""
    if fp == "fast":
        return emit()
    if rounds_correctly():
        artifact = emit()
        called = tuple(sorted(set(_CALLED.findall(artifact.text))))
        return replace(artifact, text=with_device_correct(artifact.text), functions=called)
    artifact = _printed(emit, names() - EXACT | PAIRS.keys())
    calls = _CALLED.findall(artifact.text)
    apart = {name for both in calls for name in PAIRS.get(both, ())}
    good = frozenset(calls) | apart if any_library() else equal(frozenset(calls) | apart)
    if not good.issuperset(calls):
        artifact = _printed(emit, good)
        calls = _CALLED.findall(artifact.text)
    if not calls:
        return artifact
    return replace(artifact, text=definitions(calls) + artifact.text, functions=tuple(sorted(set(calls))))


def _printed(emit: Callable[[], A], ours: frozenset[str]) -> A:
    with our_functions(ours):
        return emit()


def definitions(calls: Sequence[str]) -> str:
    """The C++ of functions, and of what they share. ``calls``: their names, once for each call."""
    before: dict[str, None] = {}
    texts = []
    for name in sorted(set(calls)):
        shared, text = _text(name, plain_products())
        before.update(dict.fromkeys(shared))
        inlined = "__noinline__" if calls.count(name) > MANY else "__forceinline__"
        texts.append(text.replace("INLINED", inlined))
    text = "\n".join([*before, *texts, ""])
    return "\n".join([*constants(text, PREFIX), text])


@functools.cache
def _text(name: str, plain: bool) -> tuple[tuple[str, ...], str]:
    """Tables and functions that others may share, and a function."""
    entry = key("device", name, plain, name in fused(), state())
    content = Cache().put(entry, ".device", lambda: "\0".join(_made(name)).encode())
    *shared, text = content.decode().split("\0")
    return tuple(shared), text


def _made(name: str) -> list[str]:
    """What other functions may have too, each a text, and the function."""
    kernel, hosts = _kernel(name), PAIRS.get(name, (name,))
    shared = [_table(r) for r in _tables(kernel)]
    for host in hosts:
        rare = _kernel(host, "rare")
        shared += [_table(r) for r in _tables(rare)]
        shared.append(_printed_function(rare, (host,), "__noinline__", RARE + host))
    return [*dict.fromkeys(shared), _printed_function(kernel, hosts, "INLINED", PREFIX + name)]


def _kernel(name: str, kind: str = "") -> Kernel:
    return through(lowered(name, kind), [("propagate", propagate)])


def _tables(kernel: Kernel) -> list[Region]:
    return [r for r in kernel.regions if r.storage == "shared" and r.init is not None]


def _printed_function(kernel: Kernel, hosts: Sequence[str], inlined: str, name: str) -> str:
    """A kernel as a function of what it takes. ``hosts``: the library's functions that it does, a result each: the one
    is returned, two are stored in references."""
    taken = [r for r in kernel.regions if r.storage == "bulk"]
    p = _FunctionText(taken[: -len(hosts)], taken[-len(hosts) :], hosts)
    body, stores = kernel.body[: -len(hosts)], kernel.body[-len(hosts) :]
    assert all(isinstance(s, Store) for s in stores) and not any(isinstance(s, Store) for s in statements(body))
    assigned = [s for s in statements(kernel.body) if isinstance(s, Assign)]
    times = Counter(s.var for s in assigned)
    of = {s.var: _of_size(s.value) for s in assigned if times[s.var] == 1}
    p.sizes = {v: x for v, x in of.items() if x is not None and times[x.var] == 1}
    p.declare(kernel.body)
    p.block(kernel.body)
    result, parameters = FUNCTIONS[hosts[0]]
    t = type_name(result)
    given = [f"{type_name(of)} {p.parameter(r)}" for r, of in zip(p.parameters, parameters)]
    given += [f"{t} &{p.parameter(r)}" for r in p.results] if len(hosts) > 1 else []
    head = f"__device__ static {inlined} {t if len(hosts) == 1 else 'void'} {name}({', '.join(given)}) {{"
    return "\n".join([head, *p.lines, "}"])


def _table(r: Region) -> str:
    values = "\n    ".join(listed(literal(v, r.type) for v in r.init or ()))
    name = f"{element_name(r.type)} {region_name(r)}[{r.count}]"  # aligned: an instruction loads neighbours
    return f"__device__ __align__(16) static const {name} = {{\n    {values}}};"


def _of_size(e: Expr) -> Var | None:
    """The variable that ``e`` is the absolute value of."""
    operand = e.args[0] if isinstance(e, Call) and e.name == "fabs" else None
    return operand if isinstance(operand, Var) else None


class _FunctionText(CudaText):
    """Prints a kernel as a function. ``hosts``: what it calls for rare arguments."""

    def __init__(self, parameters: list[Region], results: list[Region], hosts: Sequence[str]):
        super().__init__()
        self.parameters, self.results, self.hosts = parameters, results, hosts
        self.chosen: set[int] = set()  # arms of choices, by id
        self.sizes: dict[Variable, Var] = {}  # absolute values, and of what

    def parameter(self, r: Region) -> str:
        return f"{r.name}_given"

    def element(self, r: Region, index: Expr) -> str:
        return self.parameter(r) if r in (*self.parameters, *self.results) else super().element(r, index)

    def statement(self, s: Stmt) -> None:
        if isinstance(s, Store) and len(self.results) == 1:
            self.line(f"return {self.text(s.value)};")
        else:
            super().statement(s)

    def compared(self, e: Expr) -> str | None:
        """Whether an absolute value is below a constant, by the upper half of its bits, where that tells: instructions
        that compare doubles are as slow as those that add them."""
        if not (isinstance(e, Binary) and e.op == "<" and isinstance(e.right, Const) and e.left.type == DOUBLE):
            return None
        of = self.sizes.get(e.left.var) if isinstance(e.left, Var) else _of_size(e.left)
        low, high = struct.unpack("<II", struct.pack("<d", e.right.value))
        if of is None or low or e.right.value <= 0:
            return None
        return f"(int)(__double_as_longlong({self.text(of)}) >> 32 & 0x7fffffff) < {high:#x}"

    def printed(self, e: Expr) -> tuple[str, int]:
        if (size := self.compared(e)) is not None:
            return size, WHOLE
        if isinstance(e, Select):  # threads that load two places of constant memory wait for each other
            self.chosen |= {id(e.yes), id(e.no)}
        if isinstance(e, Const) and is_long(e) and id(e) not in self.chosen:
            return constant_name(e.value, PREFIX), NAME
        text, level = super().printed(e)
        return (RARE + text, level) if isinstance(e, Call) and e.name in self.hosts else (text, level)
