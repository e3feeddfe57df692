"""Functions of math.h that round correctly, on a device: the C of `codegen.correct_functions` printed as CUDA C++."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ..base.cache import Cache, key
from ..base.package import state
from ..codegen.c_printer import CPrinter, declare
from ..codegen.contraction import plain_products
from ..codegen.correct_functions import CALLED, HEADER, LONG, definitions
from ..codegen.device_library import definitions as helpers
from ..codegen.math_calls import rounding_correctly
from ..frontend.link import link
from ..frontend.preprocess import preprocess, read_source
from ..frontend.typed import FunctionDef, typed

_TABLE = re.compile(r"^static (const \w.*?\};)$", re.S | re.M)
_HELPER = re.compile(r"\bc2cu_\w+(?=(?:<\w+>)?\()")
#: What the two functions on bits are on a device.
_BITS = {"c2cu_as_bits": "(unsigned long)__double_as_longlong(x)", "c2cu_as_bits_f": "__float_as_uint(x)"}
_BITS |= {"c2cu_from_bits": "__longlong_as_double((long long)bits)", "c2cu_from_bits_f": "__uint_as_float(bits)"}


def with_device_correct(text: str) -> str:
    """CUDA that `math_calls` had call these functions, with them in front."""
    return device_correct(CALLED.findall(text)) + text


def device_correct(calls: Iterable[str]) -> str:
    """The C++ of these functions, ``c2cu_math_NAME``; "" for none."""
    names = sorted(set(calls))
    if not names:
        return ""
    name = key("device correct", names, plain_products(), state())
    return Cache().put(name, ".device", lambda: _printed(names).encode()).decode()


def _printed(names: list[str]) -> str:
    text = definitions(names)
    with rounding_correctly(False):  # of functions of the library, they call only what is exact
        pre = preprocess(read_source(text))
        unit = typed(link(pre).parsed, pre)
        printer = _Printer(unit)
        functions = [_function(printer, f) for f in unit.functions.values()]
    tables = [f"__device__ static {table}" for table in _TABLE.findall(text)]
    return "\n\n".join([HEADER, *_apart(helpers(printer.helpers), [*tables, *functions]), ""])


def _apart(helpers: list[str], texts: list[str]) -> list[str]:
    """Helpers and the texts that call them, by names that no other text on the device has for its own."""
    names = {n for h in helpers for n in _HELPER.findall(h)}
    if not names:
        return texts
    own = re.compile(rf"\b({'|'.join(sorted(names))})\b")
    return [own.sub(lambda m: m[1].replace("c2cu_", "c2cu_math_", 1), t) for t in (*helpers, *texts)]


def _function(printer: CPrinter, f: FunctionDef) -> str:
    parameters = ", ".join(declare(p.type, p.name, p.const) for p in f.params)
    apart = "__noinline__ " if LONG.match(f.name) else ""
    body = f"{{ return {_BITS[f.name]}; }}" if f.name in _BITS else printer.body(f).replace("_Bool ", "bool ")
    return f"__device__ static {apart}{declare(f.returns, f'{f.name}({parameters})')} {body}"


class _Printer(CPrinter):
    """Functions that have no state."""

    def passed_first(self) -> list[str]:
        return []
