"""Whether functions' bits in lanes are those of this machine's library: compared once, on a sample.

As they nearly always are, text that relies on it may be made, and compiled, while they are compared: `taken_as_equal`.
"""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy

from ...analysis.uniform import uniform
from ...base import toolchain
from ...base.aside import Aside
from ...base.cache import Cache, key
from ...base.diagnostics import Error
from ...base.libm import FUNCTIONS, OPPOSITE, PAIRS
from ...base.machine_code import library
from ...base.mathematics import mathematics
from ...base.package import state
from ...base.templates import render
from ...codegen.lanes import mask_texts, vectors
from ...codegen.simd import Printer
from ...ir.nodes import Kernel
from .functions import is_correct, lanes_functions, used

FLAGS = ("-O2", "-march=native", "-std=gnu11", "-fPIC", "-shared", "-w", "-fno-builtin")
COUNT = 1 << 20  # arguments
NEEDS = {"avx2", "fma"}  # of the processor: the library's own functions for it are those that ours are like
EQUAL = b"equal"
#: Arguments at which builds of one library differ, as compilers fuse other operations: of Debian 12's glibc and Ubuntu
#: 24.04's one in some 100,000 beyond 16.
TELLING = {
    "atan": ("-0x1.858eb80d0f19ap+4", "-0x1.05387bae0388bp+4", "-0x1.3d42ec81d1924p+4", "0x1.1475cba60b8fdp+4"),
}


class Comparison:
    """What is compared while it is taken as equal already."""

    def __init__(self) -> None:
        self._parts: list[Aside[dict[str, bytes]]] = []
        self._names: set[str] = set()

    def begin(self, entries: Mapping[str, str]) -> None:
        """``entries``: where the cache keeps the answer for each name."""
        new = {name: entry for name, entry in entries.items() if name not in self._names}
        if new:
            self._names |= new.keys()
            lanes_functions(new)  # made once, as whoever asks prints them next
            self._parts.append(Aside(lambda: _kept(new)))

    @property
    def begun(self) -> bool:
        """Whether anything was taken as equal."""
        return bool(self._parts)

    def holds(self) -> bool:
        """Whether all of it is equal, once that is known."""
        return all(answer == EQUAL for part in self._parts for answer in part.result().values())


_comparison: ContextVar[Comparison | None] = ContextVar("c2cu_comparison", default=None)


@contextmanager
def taken_as_equal() -> Iterator[Comparison]:
    """While this lasts, `equal` does not wait for what has yet to be compared. What it said is right if the comparison
    `holds`; if not, it says the truth from then on."""
    comparison = Comparison()
    token = _comparison.set(comparison)
    try:
        yield comparison
    finally:
        _comparison.reset(token)


def equal(names: frozenset[str]) -> frozenset[str]:
    """The functions of which ``lanes_NAME`` gives what NAME gives, bit for bit, on all arguments that were tried; and
    those that round correctly. Raises CompileError where there is no compiler."""
    if not names or not toolchain.cpu_features() >= NEEDS:
        return frozenset()
    if correct := frozenset(filter(is_correct, names)):
        return correct | equal(names - correct)
    compiler = toolchain.find_compiler()
    machine = compiler, toolchain.compiler_version(compiler), toolchain.cpu_key(), FLAGS, mathematics()
    entries = {name: key("bits", name, state(), *machine) for name in names}
    cache = Cache()
    answers = {name: cache.get(entry, ".equal") for name, entry in entries.items()}
    new = {name: entries[name] for name in sorted(names) if answers[name] is None}
    comparison = _comparison.get()
    if new and comparison is not None:
        comparison.begin(new)
        answers |= dict.fromkeys(new, EQUAL)
    elif new:
        answers |= _kept(new)
    return frozenset(name for name, answer in answers.items() if answer == EQUAL)


def _kept(entries: Mapping[str, str]) -> dict[str, bytes]:
    """`compared`, of these names; the answers go to their entries in the cache."""
    answers, cache = compared(list(entries)), Cache()
    for name, entry in entries.items():
        cache.store(entry, ".equal", answers[name])
    return answers


def compared(names: Sequence[str]) -> dict[str, bytes]:
    """What comes out of it: `EQUAL`, or why not, for each."""
    compiler = toolchain.find_compiler()
    flags = (*FLAGS, *toolchain.generated_flags(compiler))
    try:
        loaded = library(toolchain.compiled((*compiler, *flags), text(names)))
    except Error:
        return dict.fromkeys(names, b"not compiled")
    samples = functools.cache(lambda size, n: sample(numpy.dtype(f"f{size}"), numpy.random.default_rng((size, n))))
    return {name: EQUAL if _different(loaded, name, samples) == 0 else b"different" for name in names}


def _different(loaded: Any, name: str, samples: Callable[[int, int], numpy.ndarray]) -> int:
    result, parameters = FUNCTIONS[_done(name)[0]]
    run = loaded[f"different_{name}"]
    run.restype = ctypes.c_long
    arguments = [samples(result.size, n) for n in range(len(parameters))]
    if name in TELLING:
        arguments[0] = arguments[0].copy()
        arguments[0][: len(TELLING[name])] = [float.fromhex(x) for x in TELLING[name]]
    return run(*(a.ctypes.data_as(ctypes.c_void_p) for a in arguments), ctypes.c_long(COUNT))


def text(names: Sequence[str], mask: str = "i64") -> str:
    """A program that counts differences. ``mask``: the vectors that are one, where it has no bits for lanes."""
    lanes = toolchain.vector_bytes() // 8
    return render(
        "cpu/same_bits.c.j2",
        compared=[(n, _done(n), *_types(_done(n)[0])) for n in names],
        opposite=OPPOSITE,
        lanes=lanes,
        vectors=vectors(lanes, 8),
        narrowest=4,
        masks=mask_texts(lanes, 8),
        mask_bits=toolchain.vector_bytes() == 64,
        mask_rep=mask,
        refill=False,
        complex_parts=[],
        wide_multiply=False,
        **used(Printer(uniform(Kernel("", (), ()))), lanes_functions(names), lanes),
    )


def _done(name: str) -> tuple[str, ...]:
    """The library's functions that one in lanes does."""
    return PAIRS.get(name, (name,))


def _types(name: str) -> tuple[str, str, int]:
    """The type of a library's function, its vector's name, and how many arguments it takes."""
    result, parameters = FUNCTIONS[name]
    return result.name, f"f{8 * result.size}", len(parameters)


def sample(t: numpy.dtype, rng: numpy.random.Generator) -> numpy.ndarray:
    """Arguments of all sizes: bits at random, numbers as programs have them, small ones, and special ones."""
    n = COUNT // 4
    bits = rng.integers(0, 1 << 8 * t.itemsize, n, dtype=f"u{t.itemsize}", endpoint=False).view(t)
    usual = rng.uniform(-20, 20, n)
    wide = numpy.copysign(numpy.exp(rng.uniform(-40, 40, n)), rng.uniform(-1, 9, n))
    near = rng.integers(-40, 40, n) * rng.choice([0.25, numpy.pi / 4, 1.0], n) * (1 + rng.normal(size=n) * 1e-7)
    limits = numpy.finfo(t)
    special = [0.0, -0.0, 1.0, -1.0, 2.0, 0.5, numpy.inf, -numpy.inf, numpy.nan, limits.tiny, limits.max]
    with numpy.errstate(invalid="ignore"):  # NaNs among the bits
        out = numpy.concatenate([bits, *(x.astype(t) for x in (usual, wide, near))])
    out[rng.integers(0, COUNT, 64 * len(special))] = special * 64
    return rng.permutation(out)
