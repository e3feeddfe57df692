"""Schedule ``private`` (CUDA): the pass-through that takes any C.

The program's text stays; its mutable globals and static locals move into one state struct an input, and every
function gets a pointer to it.
"""

from __future__ import annotations

from pycparser import c_ast as C

from ...base.ctype import Array, CType, Function, Pointer, Struct, align_of
from ...base.templates import render
from ...codegen.alignment import WIDE, loose_types
from ...codegen.c_printer import CPrinter, declare, define_struct, in_order, name, structs_used
from ...codegen.device_library import definitions
from ...frontend.kernel import KernelProgram, Parameter, static_locals
from ...frontend.refuse import refuse_printing
from ...frontend.symbols import Symbol
from ...frontend.tree import nodes
from ...frontend.typed import FunctionDef
from ..artifact import CudaArtifact
from ..slots import Slot
from .process import Process

_WORDS = {1: "char", 2: "short", 4: "int", 8: "long"}  # by bytes
THREADS = 64
LOCAL_BYTES = 4096  # a state up to this size is a local variable of its thread


def private(
    program: KernelProgram,
    slots: tuple[Slot, ...],
    process: Process | None = None,
    spelled_out: frozenset[str] = frozenset(),
) -> CudaArtifact:
    """CUDA text: one thread an input, its state in local memory, or in global memory where it is large. ``process``:
    what a standalone program's threads have beside it; it is told what they need. ``spelled_out``: macros that stand
    there by their values."""
    refuse_printing(program, process=process is not None)
    parts = _PrivateParts(program, slots, process)
    parts.printer.spelled_out = spelled_out
    local = parts.state_bytes() <= LOCAL_BYTES
    values = parts.values()
    needs = sorted(process.needs) if process is not None else []
    text = render("cuda/private.cu.j2", slots=slots, local=local, threads=THREADS, process=needs, **values)
    return CudaArtifact("private", text, slots, inputs=THREADS, threads=THREADS)


class _PassThrough(CPrinter):
    """Globals are members of the state."""

    def __init__(
        self,
        program: KernelProgram,
        members: dict[Symbol, str],
        constants: dict[Symbol, str],
        shared: frozenset[Symbol],
        process: Process | None = None,
    ):
        super().__init__(program.unit)
        self.process = process
        self.members, self.constants, self.shared = members, constants, shared
        self.loose = loose_types(program.unit, program.functions)

    def library(self, callee: str, args: list[C.Node], n: C.FuncCall) -> str:
        t = self.unit.symbol(n.name).type
        if self.process is not None and isinstance(t, Function):
            text = self.process.call(self, callee, args, self.passed(args, t.params), n)
            if text is not None:
                return text
        return super().library(callee, args, n)

    def variable(self, symbol: Symbol) -> str:
        if symbol not in self.members:
            return self.constants.get(symbol, name(symbol.name))
        text = f"c2cu_s->{self.members[symbol]}"
        return f"(*{text})" if symbol in self.shared else text


class _PrivateParts:
    """The pieces that the template is filled with."""

    def __init__(self, program: KernelProgram, slots: tuple[Slot, ...], process: Process | None = None):
        self.program, self.slots, self.process = program, slots, process
        statics = static_locals(program)
        self.members: dict[Symbol, str] = {}
        self.numbers = {s: k for k, s in enumerate(statics)}
        for b in program.parameters:
            if b.kind == "global" and b.symbol is not None:
                self.members[b.symbol] = name(b.name)
        self.statics = [s for s in statics if not s.const]
        for s in self.statics:
            self.members[s] = self.static_name(s)
        shared = frozenset(
            b.symbol for b in program.parameters if b.shared and b.kind == "global" and b.symbol is not None
        )
        constants = program.constants
        names = {s: self.static_name(s) if s in self.numbers else name(s.name) for s in constants}
        self.printer = _PassThrough(program, self.members, names, shared, process)
        self.constants = [s for s in constants if not self.in_state(s)]
        for s in constants:
            if s not in self.constants:  # a constant that each input has its own of
                self.statics.append(s)
                self.members[s] = names[s]
        self.constants = in_order(program.unit, self.constants)

    def static_name(self, s: Symbol) -> str:
        return f"{name(s.name)}_static{self.numbers[s]}"

    def in_state(self, s: Symbol, visited: tuple[Symbol, ...] = ()) -> bool:
        """Whether a constant's value is known only where the state lies, or C++ has no initialiser for it."""
        init = s.decl.init if s.decl is not None else None
        if init is None:
            return False
        if s in visited or any(isinstance(n, C.CompoundLiteral) for n in nodes(init)):
            return True
        if any(x in self.members or self.in_state(x, (*visited, s)) for x in self.variables_in(init)):
            return True
        return bool(self.printer.by_statements(init, s.type))

    def variables_in(self, init: C.Node) -> list[Symbol]:
        """The global variables that an initialiser names."""
        symbols = self.program.unit.symbols
        named = [symbols[id(n)] for n in nodes(init) if id(n) in symbols]
        return [x for x in map(self.printer.whole, named) if x.is_global and x.kind == "variable"]

    def values(self) -> dict[str, object]:
        functions = [self.function(f) for f in self.program.functions]
        prototypes = [self.head(f) + ";" for f in self.program.functions]
        initial, start = self.initial_values()
        literals = [f"{d};" for d in self.printer.function.literals]
        constants = [self.printer.device_constant(s, self.printer.constants[s]) for s in self.constants]
        adapters = [*self.printer.adapters.values(), *self.printer.dispatchers()]  # after all that names functions
        macros = self.program.unit.pre.macros
        types = [b.type for b in self.program.parameters] + [s.type for s in (*self.constants, *self.statics)]
        return {
            "name": self.program.kernel.name,
            "structs": [define_struct(s) for s in structs_used(self.program.unit, self.program.functions, types)],
            "macros": [f"#define {m} {macros[m].value}" for m in self.printer.macros],
            "undefined": [f"#undef {m}" for m in self.printer.macros],
            "helpers": definitions(self.printer.helpers),
            "adapters": adapters,
            "members": self.member_list(),
            "constants": constants,
            "prototypes": prototypes,
            "functions": functions,
            "initial": initial,
            "start": literals + start,
            "enter": self.enter(),
            "call": self.call(),
            "leave": self.leave(),
        }

    def state_bytes(self) -> int:
        total = sum(self.slots[k].nbytes for k, b in enumerate(self.program.parameters) if not b.shared)
        return total + sum(s.type.size for s in self.statics)

    def member_list(self) -> list[str]:
        out = []
        for b in self.program.parameters:
            if b.kind == "global" and b.symbol is not None:
                volatile = b.symbol.volatile and not b.shared
                t: CType = Pointer(b.type, False, b.symbol.volatile) if b.shared else b.type
                out.append(self.member(t, self.members[b.symbol], volatile))
            elif b.kind == "param" and not b.shared and _is_object(b):
                out.append(self.member(b.type, _argument(b)))
        return out + [self.member(s.type, self.members[s], s.volatile) for s in self.statics]

    def member(self, t: CType, what: str, volatile: bool = False) -> str:
        """A member of the state; arrays lie as they would for gcc, which programs that view bytes as words build on."""
        text = declare(t, what, volatile=volatile)
        wide = isinstance(t, Array) and align_of(t) < WIDE <= t.size
        return f"alignas({WIDE}) {text}" if wide else text

    def head(self, f: FunctionDef) -> str:
        params = ["struct c2cu_state *c2cu_s"]
        params += [declare(p.type, name(p.name), p.const, volatile=p.volatile) for p in f.params]
        head = declare(f.returns, f"{name(f.name)}({', '.join(params)})")
        return f"__device__ static {head}"

    def function(self, f: FunctionDef) -> str:
        body = self.printer.body(f)
        if self.process is not None:
            body = f"{{\n{self.process.entry(f)}{body.partition('{')[2].lstrip(chr(10))}"
        return f"{self.head(f)}\n{body}"

    def initial_values(self) -> tuple[list[str], list[str]]:
        """Constants that hold initial values, and lines that start ``c2cu_s`` for one input."""
        constants: list[str] = []
        lines: list[str] = []
        for s, member in self.members.items():
            if s in self.printer.shared:
                continue
            init = s.decl.init if s.decl is not None else None
            target = f"c2cu_s->{member}"
            at = f"(void *)&{target}"
            if init is None:
                lines.append(f"memset({at}, 0, sizeof {target});")
            elif self.in_state(s) or self.variables_in(init):
                if isinstance(s.type, (Array, Struct)):
                    lines.append(f"memset({at}, 0, sizeof {target});")
                    lines += [
                        f"{x};" for x in self.printer.leaf_values(target, s.type, self.printer.tree(s.type, init))
                    ]
                else:
                    lines.append(f"{target} = {self.printer.initial_value(init, s.type)};")
            else:
                constants.append(self.printer.device_constant(s, f"initial_{member}"))
                lines.append(f"memcpy({at}, &initial_{member}, sizeof {target});")
        return constants, lines

    def enter(self) -> list[str]:
        """Lines that bring the slots' inputs into the state, for one input."""
        lines = []
        for k, b in enumerate(self.program.parameters):
            if b.kind == "return":
                continue
            slot = f"c2cu_table[{k}]"
            source = f"(const char *){slot}.in + c2cu_id * {slot}.in_stride"
            if b.kind == "global" and b.symbol is not None:
                member = f"c2cu_s->{self.members[b.symbol]}"
                if b.shared:
                    lines.append(f"{member} = ({declare(Pointer(b.type, False, b.symbol.volatile), '')}){slot}.in;")
                else:
                    lines.append(f"if ({slot}.in) c2cu_enter<{_word(b.type)}>(&{member}, {source}, sizeof {member});")
                continue
            self.enter_param(slot, b, source, lines)
        return lines

    def enter_param(self, slot: str, b: Parameter, source: str, lines: list[str]) -> None:
        local = _argument(b)
        if _is_object(b) and not b.shared:
            member = f"c2cu_s->{local}"
            lines.append(f"if ({slot}.in) c2cu_enter<{_word(b.type)}>(&{member}, {source}, sizeof {member});")
            lines.append(f"else memset((void *)&{member}, 0, sizeof {member});")
        elif not _is_object(b):
            lines.append(f"{declare(b.type, local)};")
            lines.append(f"if ({slot}.in) c2cu_enter<{_word(b.type)}>(&{local}, {source}, sizeof {local});")
            lines.append(f"else memset((void *)&{local}, 0, sizeof {local});")

    def call(self) -> str:
        args = ["c2cu_s"]
        for k, b in enumerate(self.program.parameters):
            if b.kind != "param" or b.symbol is None:
                continue
            local = _argument(b)
            if not _is_object(b):
                args.append(local)
            else:
                address = f"c2cu_table[{k}].in" if b.shared else f"&c2cu_s->{local}"
                args.append(f"({declare(b.symbol.type, '')})({address})")
        call = f"{name(self.program.kernel.name)}({', '.join(args)})"
        if any(b.kind == "return" for b in self.program.parameters):
            return f"{declare(self.program.kernel.returns, 'c2cu_return')} = {call};"
        return f"{call};"

    def leave(self) -> list[str]:
        """Lines that bring the slots' outputs out of the state."""
        lines = []
        for k, b in enumerate(self.program.parameters):
            if not self.slots[k].writes:
                continue
            if b.kind == "return":
                value = "c2cu_return"
            elif b.kind == "global" and b.symbol is not None:
                value = f"c2cu_s->{self.members[b.symbol]}"
            else:
                value = f"c2cu_s->{_argument(b)}"
            slot = f"c2cu_table[{k}]"
            lines.append(
                f"if ({slot}.out) c2cu_leave<{_word(b.type)}>((char *){slot}.out + c2cu_id * {slot}.out_stride, "
                f"&{value}, sizeof {value});"
            )
        return lines


def _argument(b: Parameter) -> str:
    """What holds the kernel's argument for a parameter: no name that generated code has for anything else."""
    return f"c2cu_argument_{name(b.name)}"


def _word(t: CType) -> str:
    """What a variable in the state is moved by: the widest integer that its size and its alignment there have."""
    alignment = WIDE if isinstance(t, Array) and t.size >= WIDE else align_of(t)
    return f"unsigned {_WORDS[max(n for n in _WORDS if alignment % n == 0 and t.size % n == 0)]}"


def _is_object(b: Parameter) -> bool:
    """A parameter that is a pointer: the kernel gets the address of what it points to."""
    return b.symbol is not None and isinstance(b.symbol.type, Pointer)
