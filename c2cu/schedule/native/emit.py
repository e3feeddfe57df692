"""Schedules ``private`` (CUDA) and ``scalar`` (CPU): the pass-through that takes any C.

The program's text stays; its mutable globals and static locals move into one state struct an input, and every
function gets a pointer to it.
"""

from __future__ import annotations

from ...base import catalogue
from ...base.ctype import Array, CType, Pointer, Struct
from ...base.templates import render
from ...codegen.c_printer import CPrinter, declare, define_struct, name, structs_used, undefined
from ...frontend.kernel import KernelProgram, Parameter, nodes
from ...frontend.symbols import Symbol
from ..artifact import CpuArtifact, CudaArtifact
from ..slots import Slot

THREADS = 64
LOCAL_BYTES = 4096  # a state up to this size is a local variable of its thread


def scalar(program: KernelProgram, slots: tuple[Slot, ...]) -> CpuArtifact:
    """C text for the host compiler: one input after the other."""
    parts = _NativeParts(program, slots, False)
    return CpuArtifact("scalar", render("cpu/scalar.c.j2", **parts.values()), slots)


def private(program: KernelProgram, slots: tuple[Slot, ...]) -> CudaArtifact:
    """CUDA text: one thread an input, its state in local memory, or in global memory where it is large."""
    parts = _NativeParts(program, slots, True)
    local = parts.state_bytes() <= LOCAL_BYTES
    text = render("cuda/private.cu.j2", slots=slots, local=local, threads=THREADS, **parts.values())
    return CudaArtifact("private", text, slots, inputs=THREADS, threads=THREADS)


class _PassThrough(CPrinter):
    """Globals are members of the state."""

    def __init__(self, program: KernelProgram, members: dict[Symbol, str], shared: frozenset[Symbol], cuda: bool):
        super().__init__(program.unit, cuda)
        self.members, self.shared = members, shared

    def variable(self, symbol: Symbol) -> str:
        if symbol not in self.members:
            return name(symbol.name)
        text = f"c2cu_s->{self.members[symbol]}"
        return f"(*{text})" if symbol in self.shared else text


class _NativeParts:
    """The pieces that both templates are filled with."""

    def __init__(self, program: KernelProgram, slots: tuple[Slot, ...], cuda: bool):
        self.program, self.slots, self.cuda = program, slots, cuda
        unit = program.unit
        used = {id(unit.symbols[id(n)]) for f in program.functions for n in nodes(f.node.body) if id(n) in unit.symbols}
        self.statics = [s for s in unit.statics if id(s) in used]
        self.constants = [s for s in program.constants if s.storage != "static-local"]
        self.members: dict[Symbol, str] = {}
        for b in program.parameters:
            if b.kind == "global" and b.symbol is not None:
                self.members[b.symbol] = name(b.name)
        for k, s in enumerate(self.statics):
            self.members[s] = f"{name(s.name)}_static{k}"
        shared = frozenset(
            b.symbol for b in program.parameters if b.shared and b.kind == "global" and b.symbol is not None
        )
        self.printer = _PassThrough(program, self.members, shared, cuda)

    def values(self) -> dict[str, object]:
        functions = [self.function(f) for f in self.program.functions]
        prototypes = [self.head(f) + ";" for f in self.program.functions]
        initial, start = self.initial_values()
        constants = [self.constant(s) for s in self.constants]
        macros = self.program.unit.pre.macros
        return {
            "name": self.program.kernel.name,
            "structs": [
                define_struct(s)
                for s in structs_used(
                    self.program.unit,
                    self.program.functions,
                    [t for b in self.program.parameters for t in (b.type,)] + [s.type for s in self.constants],
                )
            ],
            "macros": [f"#define {m} {macros[m].value}" for m in self.printer.macros],
            "undefined": undefined(self.printer.macros),
            "library": self.library_prototypes(),
            "members": self.member_list(),
            "constants": constants,
            "prototypes": prototypes,
            "functions": functions,
            "initial": initial,
            "start": start,
            "enter": self.enter(),
            "call": self.call(),
            "leave": self.leave(),
        }

    def library_prototypes(self) -> list[str]:
        """Prototypes, not headers: the user's own names may be those of functions that headers declare."""
        unit = self.program.unit
        called = {n: unit.symbol(at) for n, at in self.printer.libraries.items() if not n.startswith("__builtin_")}
        for provided in ("memcpy", "memset", "calloc", "free"):  # which the template has
            called.pop(provided, None)
        return [declare(s.type, n, state=False) + ";" for n, s in called.items()]

    def state_bytes(self) -> int:
        total = sum(self.slots[k].nbytes for k, b in enumerate(self.program.parameters) if not b.shared)
        return total + sum(s.type.size for s in self.statics)

    def member_list(self) -> list[str]:
        out = []
        for b in self.program.parameters:
            if b.kind == "global" and b.symbol is not None:
                t: CType = Pointer(b.type) if b.shared else b.type
                out.append(declare(t, self.members[b.symbol]))
            elif b.kind == "param" and not b.shared and _is_object(b):
                out.append(declare(b.type, _argument(b)))
        out += [declare(s.type, self.members[s]) for s in self.statics]
        return out

    def head(self, f) -> str:
        params = ["struct c2cu_state *c2cu_s"]
        for p in f.params:
            constant = p.const and not isinstance(p.type, Pointer)
            params.append(declare(p.type, name(p.name), constant))
        return (
            "__device__ " if self.cuda else ""
        ) + f"static {declare(f.returns, '')} {name(f.name)}({', '.join(params)})"

    def function(self, f) -> str:
        return f"{self.head(f)}\n{self.printer.body(f)}"

    def constant(self, s: Symbol) -> str:
        qualifiers = "__device__ const " if self.cuda else "static const "
        init = s.decl.init if s.decl is not None else None
        value = f" = {self.printer.initial_value(init)}" if init is not None else " = {}" if self.cuda else ""
        return f"{qualifiers}{declare(s.type, name(s.name))}{value};"

    def initial_values(self) -> tuple[list[str], list[str]]:
        """Constants that hold initial values, and lines that start ``c2cu_s`` for one input."""
        constants: list[str] = []
        lines: list[str] = []
        for s, member in self.members.items():
            if s in self.printer.shared:
                continue
            init = s.decl.init if s.decl is not None else None
            target = f"c2cu_s->{member}"
            if init is None:
                lines.append(f"memset(&{target}, 0, sizeof {target});")
            elif self.has_address(init):
                if isinstance(s.type, (Array, Struct)):
                    raise catalogue.ADDRESSES_INITIAL.error(s.loc, name=s.name)
                lines.append(f"{target} = {self.printer.visit(init)};")
            else:
                qualifiers = "__device__ const " if self.cuda else "static const "
                constants.append(
                    f"{qualifiers}{declare(s.type, f'initial_{member}')} = {self.printer.initial_value(init)};"
                )
                lines.append(f"memcpy(&{target}, &initial_{member}, sizeof {target});")
        return constants, lines

    def has_address(self, init) -> bool:
        symbols = self.program.unit.symbols
        return any(symbols[id(n)] in self.members for n in nodes(init) if id(n) in symbols)

    def enter(self) -> list[str]:
        """Lines that bring the slots' inputs into the state, for input ``id``."""
        lines = []
        for k, b in enumerate(self.program.parameters):
            if b.kind == "return":
                continue
            source = f"(const char *)slot[{k}].in + id * slot[{k}].in_stride"
            if b.kind == "global" and b.symbol is not None:
                member = f"c2cu_s->{self.members[b.symbol]}"
                if b.shared:
                    lines.append(f"{member} = ({declare(Pointer(b.type), '')})slot[{k}].in;")
                else:
                    lines.append(f"if (slot[{k}].in) memcpy(&{member}, {source}, sizeof {member});")
                continue
            self.enter_param(k, b, source, lines)
        return lines

    def enter_param(self, k: int, b: Parameter, source: str, lines: list[str]) -> None:
        local = _argument(b)
        if _is_object(b) and not b.shared:
            member = f"c2cu_s->{local}"
            lines.append(f"if (slot[{k}].in) memcpy(&{member}, {source}, sizeof {member});")
            lines.append(f"else memset(&{member}, 0, sizeof {member});")
        elif not _is_object(b):
            lines.append(f"{declare(b.type, local)};")
            lines.append(f"if (slot[{k}].in) memcpy(&{local}, {source}, sizeof {local});")
            lines.append(f"else memset(&{local}, 0, sizeof {local});")

    def call(self) -> str:
        args = ["c2cu_s"]
        for k, b in enumerate(self.program.parameters):
            if b.kind != "param" or b.symbol is None:
                continue
            local = _argument(b)
            if not _is_object(b):
                args.append(local)
            else:
                address = f"slot[{k}].in" if b.shared else f"&c2cu_s->{local}"
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
            lines.append(
                f"if (slot[{k}].out) memcpy((char *)slot[{k}].out + id * slot[{k}].out_stride, &{value}, "
                f"sizeof {value});"
            )
        return lines


def _argument(b: Parameter) -> str:
    """What holds the kernel's argument for a parameter: no name that generated code has for anything else."""
    return f"c2cu_argument_{name(b.name)}"


def _is_object(b: Parameter) -> bool:
    """A parameter that is a pointer: the kernel gets the address of what it points to."""
    return b.symbol is not None and isinstance(b.symbol.type, Pointer)
