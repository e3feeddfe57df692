"""Vector libraries beside c2cu's own functions of math.h: a loop over arrays for each, all in one piece of C.

A library is asked for the functions that the vector ABI of x86-64 names, ``_ZGVdN4v_exp`` and the like, of the widest
vectors that this processor has: libmvec of glibc has them, and SLEEF. They are called by their address, ours is
inlined, as in a kernel. Ours has as many lanes as doubles fit a vector, of floats too; theirs fill it.
"""

from __future__ import annotations

import contextlib
import ctypes
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from c2cu.base import toolchain
from c2cu.base.libm import FUNCTIONS
from c2cu.base.machine_code import library
from c2cu.runtime.addresses import address
from c2cu.runtime.cpu import FLAGS
from c2cu.schedule.gang import same_bits

FILES = {"libmvec": "libmvec.so.1", "SLEEF": "libsleefgnuabi.so.3"}
LOOPS = """
typedef T vector __attribute__((vector_size(BYTES)));

void scalar(const T *x, const T *y, T *r, long n) {
    for (long k = 0; k < n; k++) r[k] = SCALAR;
}

void ours(const T *x, const T *y, T *r, long n) {
    for (long k = 0; k < n; k += W) {
        LANES_T a, b;
        memcpy(&a, x + k, sizeof a), memcpy(&b, y + k, sizeof b);
        a = OURS;
        memcpy(r + k, &a, sizeof a);
    }
}

void theirs(const T *x, const T *y, T *r, long n, vector (*f)(PARAMETERS)) {
    for (long k = 0; k < n; k += sizeof(vector) / sizeof(T)) {
        vector a, b;
        memcpy(&a, x + k, sizeof a), memcpy(&b, y + k, sizeof b);
        a = f(ARGUMENTS);
        memcpy(r + k, &a, sizeof a);
    }
}
"""
Loop = Callable[[np.ndarray, np.ndarray, np.ndarray], None]


def installed() -> dict[str, ctypes.CDLL]:
    """Those of `FILES` that this machine has."""
    libraries = {}
    for name, file in FILES.items():
        with contextlib.suppress(OSError):
            libraries[name] = ctypes.CDLL(file)
    return libraries


def loops(name: str, libraries: Mapping[str, ctypes.CDLL]) -> dict[str, Loop]:
    """Loops that apply a function to ``x`` and ``y``, whole vectors, and write ``r``: "scalar", of the C library,
    "ours", and one for each vector library that has the function. Raises CompileError."""
    compiler = toolchain.find_compiler()
    loaded = library(toolchain.compiled((*compiler, *FLAGS, *toolchain.generated_flags(compiler)), text(name)))
    theirs = {which: getattr(known, symbol(name), None) for which, known in libraries.items()}
    return {
        "scalar": _loop(loaded.scalar),
        "ours": _loop(loaded.ours),
        **{which: _loop(loaded.theirs, f) for which, f in theirs.items() if f is not None},
    }


def symbol(name: str) -> str:
    """What the vector ABI calls a function of this processor's widest vectors."""
    result, parameters = FUNCTIONS[name]
    nbytes = toolchain.vector_bytes()
    return f"_ZGV{'e' if nbytes == 64 else 'd'}N{nbytes // result.size}{'v' * len(parameters)}_{name}"


def text(name: str) -> str:
    """The loops in C."""
    result, parameters = FUNCTIONS[name]
    arity = len(parameters)
    macros = {
        "T": result.name,
        "LANES_T": f"f{8 * result.size}",
        "BYTES": toolchain.vector_bytes(),
        "SCALAR": f"{name}({', '.join(['x[k]', 'y[k]'][:arity])})",
        "OURS": f"lanes_{name}({', '.join('ab'[:arity])})",
        "PARAMETERS": ", ".join(["vector"] * arity),
        "ARGUMENTS": ", ".join("ab"[:arity]),
    }
    lanes = same_bits.text([name], mask=f"i{8 * result.size}")  # as kernels of this type have them
    return "".join([lanes, *(f"#define {m} {c}\n" for m, c in macros.items()), LOOPS])


def _loop(run: Callable[..., object], *f: object) -> Loop:
    def loop(x: np.ndarray, y: np.ndarray, r: np.ndarray) -> None:
        run(*(ctypes.c_void_p(address(a)) for a in (x, y, r)), ctypes.c_long(r.size), *f)

    return loop


def accuracy(loops: Mapping[str, Loop], x: np.ndarray, y: np.ndarray) -> dict[str, dict[str, Any]]:
    """How the results of each loop differ from those of "scalar". For ``x`` and ``y``, which programs have: ``differ``,
    the share with other bits, and ``apart``, the largest distance. ``anywhere``: the largest for these and for numbers
    of all sizes, those on which ours are compared before a kernel calls them."""
    rng = np.random.default_rng(0)
    usual = _distances(loops, x, y)
    every = _distances(loops, *(same_bits.sample(x.dtype, rng) for _ in range(2)))
    return {
        which: {
            "differ": len(apart) / x.size,
            "apart": (worst := int(apart.max(initial=0))),
            "anywhere": int(every[which].max(initial=worst)),
        }
        for which, apart in usual.items()
    }


def _distances(loops: Mapping[str, Loop], x: np.ndarray, y: np.ndarray) -> dict[str, np.ndarray]:
    results = {which: np.empty_like(x) for which in loops}
    for which, loop in loops.items():
        loop(x, y, results[which])
    right = results.pop("scalar")
    return {which: distances(r, right) for which, r in results.items()}


def distances(results: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Of each result with other bits, in units in the last place: how many numbers of the type lie from it to the right
    one. NaN is NaN whatever its bits; one where a number belongs is far away, as are infinities."""
    signed, unsigned = (f"{kind}{right.itemsize}" for kind in "iu")
    other = (results.view(unsigned) != right.view(unsigned)) & ~(np.isnan(results) & np.isnan(right))
    a, b = (v[other].view(signed) for v in (results, right))
    a, b = (np.where(v < 0, np.iinfo(v.dtype).min - v, v) for v in (a, b))  # in the order of the numbers; both zeros: 0
    return np.maximum(a, b).view(unsigned) - np.minimum(a, b).view(unsigned)
