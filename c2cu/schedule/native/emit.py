"""Schedule ``native``: the user's text as the host's preprocessor leaves it, with a function appended that does inputs.

The text is not printed again, so whatever the compiler takes runs as it does in the user's own build. The appended
function brings an input into the program's variables, calls the kernel, and takes the results out. What needs headers
stands in a second text: it is compiled by itself, and the user's text sees none of its names.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from pycparser import c_ast as C

from ...analysis.effects import only_loaded
from ...base import catalogue
from ...base.ctype import CType, Pointer, Scalar
from ...base.diagnostics import Loc
from ...base.templates import render
from ...codegen.correct_functions import replaced_in, replacements
from ...frontend.kernel import KernelProgram, Parameter, returns_place
from ...frontend.parse import loc_of
from ...frontend.symbols import Symbol
from ...frontend.tree import nodes
from ..artifact import CpuNativeArtifact
from ..understood import Understood

#: Functions of which GCC puts calls where loops are. A program that defines one would call it from within.
_MEMORY = frozenset(("memcpy", "memmove", "memset", "strlen", "rawmemchr"))
#: By which the driver moves memory.
BUILTINS = {"copy": "__builtin_memcpy", "fill": "__builtin_memset"}


def native(understood: Understood) -> CpuNativeArtifact:
    """The user's C for the host compiler, one input after the other."""
    program, slots, linked = understood.program, understood.slots, understood.linked
    constants = frozenset(
        linked.spelled(b.name) for b in program.parameters if b.symbol is not None and b.shared and b.symbol.const
    )
    texts = [_without_threads(_writable(unit.host, constants)) for unit in understood.pre.units]
    home = linked.owner(program.kernel.name)
    others = [n for n in range(len(texts)) if n != home]
    for n in others:
        texts[n] += render("cpu/native_unit.c.j2", number=n, variables=_defined(understood, n))
    defines_copies = not program.unit.functions.keys().isdisjoint(_MEMORY)
    copies = {"copy": "c2cu_copy", "fill": "c2cu_fill"} if defines_copies else BUILTINS
    places = {}
    for k, name in _variables(program):
        owner = linked.owner(name)
        places[name] = f"(void *)&{linked.spelled(name)}" if owner == home else f"c2cu_variable_{owner}({k})"
    driver = render(
        "cpu/native_driver.c.j2",
        others=others,
        constants=[{"at": places[s.name], "size": s.type.size} for s in _unwritten(program)],
        fresh=("c2cu_call->id = c2cu_id;", "if (c2cu_call->fresh) c2cu_call->fresh();"),
        **copies,
        **driver_values(understood, places, linked.spelled(program.kernel.name)),
    )
    replaced = replaced_in((texts[home], *(texts[n] for n in others))) if understood.math == "correct" else ()
    return CpuNativeArtifact(
        "native",
        texts[home] + driver,
        slots,
        flags=("-fno-tree-loop-distribute-patterns",) if defines_copies else (),
        support=render("cpu/native_support.c.j2", defines_copies=defines_copies),
        pointers=frozenset(b.name for b in program.parameters if b.kind == "param" and _is_pointer(b) and not b.shared),
        only_read=_only_read(program),
        calls=tuple(calls_out(program)),
        units=tuple(texts[n] for n in others),
        stdio=understood.stdio,
        guessed=frozenset() if program.followed or understood.asked else _globals(program),
        replaced=replaced,
        replacing=replacements(replaced),
    )


def _only_read(program: KernelProgram) -> frozenset[str]:
    loaded = only_loaded(program)
    symbols = (b.symbol for b in program.parameters if b.kind == "global" and b.symbol is not None)
    return frozenset(s.name for s in symbols if s in loaded and not s.volatile)


def _globals(program: KernelProgram) -> frozenset[str]:
    return frozenset(b.name for b in program.parameters if b.kind == "global")


def _defined(understood: Understood, number: int) -> list[dict[str, object]]:
    """The variables that a file defines."""
    linked = understood.linked
    variables = _variables(understood.program)
    return [{"k": k, "name": linked.spelled(name)} for k, name in variables if linked.owner(name) == number]


def _variables(program: KernelProgram) -> list[tuple[int, str]]:
    """The slots' variables, and behind them what is as constant as if the C called it so, each with its number."""
    slots = [(k, b.name) for k, b in enumerate(program.parameters) if b.kind == "global"]
    return slots + [(len(program.parameters) + k, s.name) for k, s in enumerate(_unwritten(program))]


def _unwritten(program: KernelProgram) -> list[Symbol]:
    loaded = only_loaded(program)
    return [s for s in program.constants if s.unwritten and s in loaded and s.storage != "static-local"]


def _is_pointer(b: Parameter) -> bool:
    return b.symbol is not None and isinstance(b.symbol.type, Pointer)


def driver_values(understood: Understood, places: Mapping[str, str], kernel: str) -> dict[str, object]:
    """What ``native_inputs.h.j2`` is filled with. ``places``: where each variable is, as C; ``kernel``: its name."""
    program = understood.program
    once, enter, leave, values, variables, arguments, shared = [], [], [], [], [], [], []
    returned = None
    for k, b in enumerate(program.parameters):
        if b.kind == "return":
            returned = k
        elif b.kind == "global":
            place = {"k": k, "at": places[b.name], "size": understood.slots[k].nbytes, "zero": False}
            variables.append(place)
            (once if b.shared else enter).append(place)
            if not b.shared:
                leave.append(place)
        elif not _is_pointer(b):
            values.append({"k": k, "type": _spelled(b)})
            arguments.append(f"c2cu_argument_{k}")
        elif b.shared:
            arguments.append(f"(void *)c2cu_slot[{k}].in")
            shared.append({"k": k, "at": arguments[-1], "size": b.type.size})
        else:
            place = {"k": k, "at": f"c2cu_buffer[{k}]", "size": b.type.size, "zero": True}
            enter.append(place)
            leave.append(place)
            arguments.append(f"c2cu_buffer[{k}]")
    to = program.kernel.returns.to if isinstance(program.kernel.returns, Pointer) else None
    arrays = [*variables, *(x for x in enter if x not in variables), *shared]
    return {
        "slots": max(1, len(understood.slots)),
        "places": arrays if returns_place(program) else None,
        "step": to.size if to is not None and to.size else 1,
        "once": once,
        "enter": enter,
        "leave": leave,
        "values": values,
        "variables": variables,
        "returned": returned,
        "returned_size": program.kernel.returns.size,
        "call": f"{kernel}({', '.join(arguments)})",
    }


def _spelled(b: Parameter) -> str:
    """The type of a parameter that is passed by value, as the user's text has it. Raises UnsupportedError."""
    t: CType = b.type
    if isinstance(t, Scalar):
        return t.name
    node = b.symbol.decl.type if b.symbol is not None and b.symbol.decl is not None else None
    match getattr(node, "type", None):
        case C.IdentifierType(names=names):
            return " ".join(names)
        case C.Struct(name=str(name)):
            return f"struct {name}"
        case C.Union(name=str(name)):
            return f"union {name}"
    raise catalogue.UNNAMED_TYPE.error(b.loc, name=b.name, type=t)


def calls_out(program: KernelProgram) -> Iterator[tuple[str, Loc]]:
    """Functions that the file does not define, and where the kernel, what it calls, or an initialiser names each."""
    visited: set[str] = set()
    unit = program.unit
    initialisers = (d.init for d in unit.ast.ext if isinstance(d, C.Decl) and d.init is not None)
    for part in (*(f.node.body for f in reversed(program.functions)), *initialisers):
        for n in nodes(part):
            if isinstance(n, C.ID) and n.name not in unit.functions and n.name not in visited:
                symbol = unit.symbols.get(id(n))
                if symbol is not None and (symbol.kind == "function" or symbol.storage == "extern"):
                    visited.add(n.name)
                    yield n.name, loc_of(n)


_TOKEN = r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|^[ \t]*#.*|\w+'


def _without_threads(text: str) -> str:
    """The text whose variables of threads are the library's: a library has one thread at a time."""
    if "thread" not in text:
        return text
    words = ("_Thread_local", "__thread")
    return re.sub(_TOKEN, lambda m: " " * len(m[0]) if m[0] in words else m[0], text, flags=re.M)


def _writable(text: str, names: frozenset[str]) -> str:
    """The text without the ``const`` of variables whose values come in with a call: the compiler must not use those
    that the text has."""
    if not names:
        return text
    token = re.compile(_TOKEN + "|[{}();=]", re.M)
    depth, initialiser, constants, named, cuts = 0, False, [], False, []
    for m in token.finditer(text):
        word = m[0]
        if word in "{(":
            depth += 1
        elif word in "})":
            depth -= 1
        if depth:
            continue
        if word == "=":
            initialiser = True
        elif word in ";}":
            if named:
                cuts += constants
            if word == ";" or not initialiser:
                initialiser, constants, named = False, [], False
        elif word in ("const", "__const", "__const__") and not initialiser:
            constants.append(m.span())
        elif word in names and not initialiser:
            named = True
    for start, end in reversed(cuts):
        text = text[:start] + " " * (end - start) + text[end:]
    return text
