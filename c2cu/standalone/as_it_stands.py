"""A kernel as it stands, for a library: its functions in C, whose variables each thread has its own of."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pycparser import c_ast as C

from ..base import catalogue, libc
from ..base.diagnostics import Loc, UnsupportedError
from ..base.headers import defines
from ..base.libm import DECLARED
from ..base.templates import render, words
from ..codegen.correct_functions import definitions
from ..frontend.kernel import Parameter
from ..frontend.parse import loc_of
from ..frontend.refuse import refuse_printing
from ..frontend.symbols import Symbol
from ..frontend.tree import evaluated, nodes
from ..frontend.typed import Unit
from ..schedule.artifact import CpuArtifact
from ..schedule.native.emit import BUILTINS, driver_values
from .host_rules import Mention, host_statics, reach
from .host_split import HostPrinter, declarations
from .own_names import macros, refuse_ours, renamed_in_c, rounded_in, spelled_out, undefined_macros
from .tidy import headers

if TYPE_CHECKING:
    from ..schedule.understood import Understood

NO_STATUS = "return a status instead, and leave assertions out with -D NDEBUG"
#: Functions that the text has its own of: what an input leaves allocated is freed after it.
_ALLOCATORS = frozenset("malloc calloc realloc free strdup strndup".split())
_CONSTRUCTOR = re.compile(r"__attribute__\s*\(\([^;{}]*\b(__)?constructor\b")
_TEXTS = tuple(
    f"cpu/{n}.j2" for n in "as_it_stands.c library.c slot.h workers.h start.h native_leave.h native_inputs.h".split()
)


def as_it_stands(front: Understood) -> CpuArtifact:
    """The form of schedule ``native``: one input after the other, by any number of threads. Raises UnsupportedError
    for what the threads of a process share, and for what cannot be printed."""
    try:
        return _printed(front)
    except UnsupportedError as e:
        if e.code == catalogue.THREADS_OWN.code:
            raise
        ends = e.code == catalogue.ENDS_PROCESS.code
        way_on = NO_STATUS if ends else "write that as C of the kernel's own"
        reason = catalogue.NO_NATIVE_LIBRARY.error(e.diagnostic.loc, reason=e.diagnostic.message, way_on=way_on)
        raise reason.with_notes(*e.diagnostic.notes) from None


@dataclass(frozen=True)
class _Variable:
    """What each thread has its own of. ``name``: as printed; ``slot``: the number of the parameter that it is, if it is
    one; ``shared``: a call brings one value for all inputs."""

    number: int
    symbol: Symbol
    name: str
    slot: int | None
    shared: bool


def _printed(front: Understood) -> CpuArtifact:
    program, unit = front.program, front.program.unit
    refuse_printing(program, for_host=True, alone=False)
    refuse_ours(unit)
    mentions, named = reach(unit, (program.kernel.node, *_initialisers(program.parameters)))
    named |= {program.kernel.name, *(b.name for b in program.parameters if b.kind == "global")}
    functions = tuple(f for f in unit.functions if f in named)
    for f in functions:
        unit.require(f)
    _refuse_state(front, mentions, functions)

    reached = [s for n, s in unit.variables.items() if n in named]
    given = {b.symbol for b in program.parameters if b.kind == "global" and b.shared}  # constants too
    statics = host_statics(unit, functions, ())
    variables = _of_threads(unit, reached, statics, given)
    own = (*variables, *statics)
    _refuse_constants(unit, functions, own)
    _refuse_literals([*reached, *statics])

    values = frozenset(spelled_out(unit, False, *_TEXTS))
    printer = _ThreadsPrinter(unit, (), statics, False, values)
    printer.own = frozenset(variables)
    printer.later = frozenset(s for s in own if _address(unit, s, own) is not None)
    renamed = renamed_in_c(unit)
    spelled = dict(renamed)
    names = [*(spelled.get(s.name, s.name) for s in variables), *printer.statics.values()]
    places = {b.name: f"(void *)&{spelled.get(b.name, b.name)}" for b in program.parameters if b.kind == "global"}
    slots = {b.symbol: k for k, b in enumerate(program.parameters) if b.kind == "global"}
    first = [_Variable(k, s, n, slots.get(s), s in given) for k, (n, s) in enumerate(zip(names, own))]
    buffers = {k: b.type.size for k, b in enumerate(program.parameters) if _has_buffer(b)}
    library = {_plain(m.name) for m in mentions}
    allocates = sorted(library & _ALLOCATORS)
    wanted = (n for n in declarations(unit, (*functions, *library)) if _is_wanted(unit, n, named))
    rounded = rounded_in(front)
    text = render(
        "cpu/as_it_stands.c.j2",
        macros=macros(unit, values, undefined_macros(unit), renamed),
        declarations=[*map(printer.top, wanted), *map(printer.static, statics)],
        functions=[printer.function(unit.functions[f].node) for f in functions],
        rounded=rounded,
        rounding=definitions(rounded),
        undefined=sorted(n for n in {*unit.pre.macros, *spelled} & words(*_TEXTS) if not defines(n)),
        addresses=[printer.addresses(v.symbol, v.name) for v in first if v.symbol in printer.later],
        first=first,
        buffers=buffers,
        allocates=allocates,
        fresh=("c2cu_begin_anew(c2cu_own, c2cu_slot);",),
        **BUILTINS,
        **driver_values(front, places, spelled.get(program.kernel.name, program.kernel.name)),
    )
    uses = {
        "stdlib": bool(allocates),
        "string": re.search(r"\b(memcpy|memset|strlen|strnlen)\(", text),
        "math": not DECLARED.isdisjoint(library) and DECLARED.isdisjoint({*unit.variables, *unit.functions}),
    }
    needed = [f"#include <{h}.h>" for h, is_used in uses.items() if is_used]
    included = "\n".join(f"#include <{h}>" for h in headers([*unit.pre.includes, *needed]))
    size = sum(s.type.size for s in own) + sum(buffers.values())
    return CpuArtifact("native", f"{included}\n{text}", front.slots, copy_bytes=size)


def _plain(name: str) -> str:
    return name.removeprefix("__builtin_")


def _refuse_state(front: Understood, mentions: list[Mention], functions: tuple[str, ...]) -> None:
    """Raises UnsupportedError for what a thread keeps from input to input, memory that is not freed after one, and
    functions that nobody calls."""
    for m in mentions:
        if _plain(m.name) in libc.HEAP - _ALLOCATORS:
            raise catalogue.ALLOCATION.error(loc_of(m.node), name=m.name)
        if _plain(m.name) in libc.ERRORS | libc.ROUNDING:
            raise catalogue.OUTSIDE_STATE.error(loc_of(m.node), name=m.name)
    for n in (n for f in functions for n in nodes(front.program.unit.functions[f].node)):
        if isinstance(n, C.ID) and n.name == "errno":
            raise catalogue.OUTSIDE_STATE.error(loc_of(n), name=n.name)
    for file in front.pre.units:
        if _CONSTRUCTOR.search(file.host):
            raise catalogue.UNSUPPORTED_CONSTRUCT.error(Loc(file.name), construct="a function that runs before main")


def _initialisers(parameters: Collection[Parameter]) -> Iterator[C.Node]:
    for b in parameters:
        if b.kind == "global" and b.symbol is not None and b.symbol.decl is not None and b.symbol.decl.init is not None:
            yield b.symbol.decl.init


def _has_buffer(b: Parameter) -> bool:
    return b.kind == "param" and not b.by_value and not b.shared


def _is_wanted(unit: Unit, n: C.Node, named: set[str]) -> bool:
    """Whether a declaration is a type, or of what the kernel reaches."""
    if not isinstance(n, C.Decl) or n.name is None or isinstance(n.type, C.FuncDecl):
        return True
    symbol = unit.variables.get(n.name)
    declares_only = "extern" in n.storage and symbol is not None and n is not symbol.decl
    return n.name in named and not declares_only


def _of_threads(
    unit: Unit, reached: list[Symbol], statics: tuple[Symbol, ...], given: Collection[Symbol | None]
) -> list[Symbol]:
    """The variables that each thread has its own of: those that change, those that calls bring, and those that hold the
    address of another of them."""
    own = [s for s in reached if not s.builtin and (not s.const or s in given)]
    while more := [s for s in reached if s not in own and _address(unit, s, (*own, *statics)) is not None]:
        own += more
    return [s for s in reached if s in own]


def _address(unit: Unit, s: Symbol, own: Collection[Symbol]) -> C.ID | None:
    """Where a variable's initialiser has the address of one of ``own``, which is another one in each thread."""
    if s.decl is None or s.decl.init is None:
        return None
    named = (n for n in evaluated(s.decl.init) if isinstance(n, C.ID) and unit.symbols.get(id(n)) in own)
    return next(named, None)


def _refuse_constants(unit: Unit, functions: tuple[str, ...], own: Collection[Symbol]) -> None:
    """Raises UnsupportedError for a function's constant that holds such an address."""
    inside = {id(n) for f in functions for n in nodes(unit.functions[f].node)}
    for s in unit.statics:
        other = _address(unit, s, own) if s.const and id(s.decl) in inside else None
        if other is not None:
            raise catalogue.THREADS_OWN.error(loc_of(other), name=s.name, other=other.name)


def _refuse_literals(variables: list[Symbol]) -> None:
    """Raises UnsupportedError for an object without a name, of which each thread would need its own."""
    for s in variables:
        for n in nodes(s.decl.init) if s.decl is not None and s.decl.init is not None else ():
            if isinstance(n, C.CompoundLiteral):
                raise catalogue.COMPOUND_LITERAL.error(loc_of(n))


class _ThreadsPrinter(HostPrinter):
    """Functions are the file's own, and so are variables, of which each thread has its own where they can change."""

    own: frozenset[Symbol] = frozenset()  # variables that each thread has its own of
    later: frozenset[Symbol] = frozenset()  # what starts as the address of such a one
    storage: list[str] | None = None  # in place of its own, of the declaration that is printed next, which takes it

    def _generate_decl(self, n: C.Decl) -> str:
        storage, self.storage = self.storage, None
        if storage is None:
            return super()._generate_decl(n)
        declared, n.storage = n.storage, storage
        try:
            return super()._generate_decl(n)
        finally:
            n.storage = declared

    def top(self, n: C.Node) -> str:
        if isinstance(n, C.Decl) and n.name in self.unit.functions:
            self.storage = ["static"]
        symbol = self.unit.variables.get(n.name or "") if isinstance(n, C.Decl) else None
        if symbol is not None and isinstance(n, C.Decl) and not isinstance(n.type, C.FuncDecl):
            if symbol in self.later:
                return f"static __thread {self.member(symbol)};"
            if symbol in self.own and (symbol.const or "extern" in n.storage):  # nobody defines it, or calls do
                start = ""
                if n.init is not None:
                    start = f" = {self.initial(n.init, symbol.type) or self._visit_expr(n.init)}"
                return f"static __thread {self.member(symbol)}{start};"
            self.storage = ["static", "__thread"] if symbol in self.own else ["static"]
        return super().top(n)

    def addresses(self, s: Symbol, name: str) -> str:
        """Statements that give a variable its first value, in each thread."""
        assert s.decl is not None
        self.storage = []
        text = self.assigned(s.decl, name, s.type)
        self.storage = None
        return text + ";"

    def static(self, s: Symbol) -> str:
        if s in self.later:
            return f"static __thread {self.member(s)};"
        self.storage = ["static", "__thread"]
        return super().static(s)

    def function(self, n: C.FuncDef) -> str:
        self.storage = ["static"]
        return super().function(n)

    def visit_Decl(self, n: C.Decl, no_type: bool = False) -> str:
        if "extern" in n.storage and self.storage is None and n.name in self.unit.variables:
            self.storage = ["extern", "__thread"] if self.unit.variables[n.name] in self.own else ["extern"]
        return super().visit_Decl(n, no_type)

    def visit_ID(self, n: C.ID) -> str:
        symbol = self.unit.symbols.get(id(n))
        plain = n.name.removeprefix("__builtin_")
        if plain in _ALLOCATORS and symbol is not None and symbol.kind == "function":
            if n.name not in self.unit.functions:
                return f"c2cu_{plain}"
        return super().visit_ID(n)
