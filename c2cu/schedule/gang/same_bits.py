"""Whether a function's bits in lanes are those of this machine's library: compared once, on a sample."""

from __future__ import annotations

import ctypes
import functools
import zlib
from typing import Any

import numpy

from ...base import toolchain
from ...base.cache import Cache, key
from ...base.diagnostics import Error
from ...base.libm import FUNCTIONS
from ...base.machine_code import library
from ...base.mathematics import mathematics
from ...base.package import state
from ...base.templates import render
from ...codegen.lanes import extreme_text, fused_text, gather_text, mask_texts, pair_text, vectors
from .functions import lanes_functions, texts

FLAGS = ("-O2", "-march=native", "-std=gnu11", "-fPIC", "-shared", "-w", "-fno-builtin")
COUNT = 1 << 20  # arguments
NEEDS = {"avx2", "fma"}  # of the processor: the library's own functions for it are those that ours are like


@functools.cache
def is_equal(name: str) -> bool:
    """Whether ``lanes_NAME`` gives what NAME gives, bit for bit, on all arguments that were tried. Raises CompileError
    where there is no compiler."""
    if not toolchain.cpu_features() >= NEEDS:
        return False
    compiler = toolchain.find_compiler()
    version = toolchain.compiler_version(compiler), toolchain.cpu_key(), FLAGS
    answer = Cache().put(key("bits", name, state(), *version, mathematics()), ".equal", lambda: _compared(name))
    return answer == b"equal"


def _compared(name: str) -> bytes:
    result, parameters = FUNCTIONS[name]
    compiler = toolchain.find_compiler()
    flags = (*FLAGS, *toolchain.generated_flags(compiler))
    try:
        run: Any = library(toolchain.compiled((*compiler, *flags), _text(name))).c2cu_different
    except Error:
        return b"not compiled"
    run.restype = ctypes.c_long
    rng = numpy.random.default_rng(zlib.crc32(name.encode()))
    arguments = [_sample(numpy.dtype(f"f{p.size}"), rng) for p in parameters]
    different = run(*(a.ctypes.data_as(ctypes.c_void_p) for a in arguments), ctypes.c_long(COUNT))
    return b"equal" if different == 0 else b"different"


def _text(name: str) -> str:
    """A program that counts differences."""
    (function,) = lanes_functions([name])
    lanes = toolchain.vector_bytes() // 8
    result, parameters = FUNCTIONS[name]
    return render(
        "cpu/math_check.c.j2",
        name=name,
        type=result.name,
        arity=len(parameters),
        rep=f"f{8 * result.size}",
        lanes=lanes,
        vectors=vectors(lanes, 8),
        narrowest=4,
        masks=mask_texts(lanes, 8),
        mask_bits=toolchain.vector_bytes() == 64,
        refill=False,
        complex_parts=[],
        wide_multiply=False,
        roots=function.roots,
        fused=[fused_text(rep, lanes) for rep in function.fused],
        pairs=[pair_text(rep, lanes) for rep in function.pairs],
        gathers=[gather_text(*g, lanes) for g in function.gathers],
        functions=texts([function], lanes),
        bytes=[],
        unsigned=function.unsigned,
        extremes=[extreme_text(e, lanes) for e in function.extremes],
    )


def _sample(t: numpy.dtype, rng: numpy.random.Generator) -> numpy.ndarray:
    """Arguments of all sizes: bits at random, numbers as programs have them, small ones, and special ones."""
    n = COUNT // 4
    bits = rng.integers(0, 1 << 8 * t.itemsize, n, dtype=f"u{t.itemsize}", endpoint=False).view(t)
    usual = rng.uniform(-20, 20, n)
    wide = numpy.copysign(numpy.exp(rng.uniform(-40, 40, n)), rng.uniform(-1, 9, n))
    near = rng.integers(-40, 40, n) * rng.choice([0.25, numpy.pi / 4, 1.0]) * (1 + rng.normal(size=n) * 1e-7)
    limits = numpy.finfo(t)
    special = [0.0, -0.0, 1.0, -1.0, 2.0, 0.5, numpy.inf, -numpy.inf, numpy.nan, limits.tiny, limits.max]
    with numpy.errstate(invalid="ignore"):  # NaNs among the bits
        out = numpy.concatenate([bits, *(x.astype(t) for x in (usual, wide, near))])
    out[rng.integers(0, COUNT, 64 * len(special))] = special * 64
    return rng.permutation(out)
