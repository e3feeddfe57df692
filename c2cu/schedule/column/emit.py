"""Schedule ``thread`` (CUDA): the paper's form. One input on each thread, every array in column storage.

At run time p may be anything, so the input dimension is a tile as wide as a block: ``struct c2cu_tile`` holds all
bulk variables of the block's inputs, and a warp's accesses still coalesce.
"""

from __future__ import annotations

from ...base import catalogue
from ...base.ctype import Array, CType, Leaf, Pointer, Scalar, Struct, extents, leaf_element, leaves
from ...base.templates import render
from ...codegen.c_printer import declare, define_struct, in_order, name, structs_used
from ...codegen.device_library import definitions
from ...frontend.kernel import KernelProgram, Parameter, static_locals
from ...frontend.symbols import Symbol
from ...frontend.tree import nodes
from ..artifact import CudaArtifact
from ..slots import Slot
from .columns import COLUMN, PLAIN, Columns, define_column_struct

THREADS = 64
_WORDS = {1: "unsigned char", 2: "unsigned short", 4: "unsigned int", 8: "unsigned long long"}


def thread(program: KernelProgram, slots: tuple[Slot, ...], threads: int = THREADS) -> CudaArtifact:
    """CUDA text of a program whose pointers stay within one storage. Raises UnsupportedError for others."""
    parts = _ColumnParts(program, slots)
    text = render("cuda/thread.cu.j2", name=program.kernel.name, slots=slots, threads=threads, **parts.values())
    return CudaArtifact("thread", text, slots, inputs=threads, threads=threads)


def constant_names(program: KernelProgram) -> dict[Symbol, str]:
    """How const variables are spelled: those of functions may have one name."""
    statics = {s: f"{name(s.name)}_static{k}" for k, s in enumerate(static_locals(program))}
    return {s: statics.get(s) or name(s.name) for s in program.constants}


def constant_tables(program: KernelProgram, printer: Columns) -> list[str]:
    """Const variables as constants of the device."""
    return [printer.device_constant(s, printer.plain[s]) for s in in_order(program.unit, program.constants)]


class _ColumnParts:
    def __init__(self, program: KernelProgram, slots: tuple[Slot, ...]):
        self.program, self.slots = program, slots
        self.members: list[tuple[str, CType]] = []
        names: dict[Symbol, str] = {}
        plain = constant_names(program)
        self.statics = {s: f"{name(s.name)}_static{k}" for k, s in enumerate(static_locals(program)) if not s.const}
        for b in program.parameters:
            if b.kind == "global" and b.symbol is not None:
                (plain if b.shared else names)[b.symbol] = (
                    f"(*__m->{name(b.name)})" if b.shared else f"__m->{name(b.name)}"
                )
        names.update((s, f"__m->{member}") for s, member in self.statics.items())
        self.columns = Columns(program, names, plain, [("struct c2cu_tile *__m", "__m"), ("int __id__", "__id__")])

    def values(self) -> dict[str, object]:
        kernel = self.program.kernel
        parameters = {b.name: b for b in self.program.parameters if b.kind == "param"}
        storages = tuple(
            PLAIN if parameters[p.name].shared or not isinstance(p.type, Pointer) else COLUMN for p in kernel.params
        )
        entry = self.columns.instance(kernel, storages)
        members = self.member_list()
        tables = constant_tables(self.program, self.columns)
        types = [s.type for s in self.program.constants] + [b.type for b in self.program.parameters]
        structs = structs_used(self.program.unit, self.program.functions, types)
        macros = self.program.unit.pre.macros
        pack, unpack, initial = self.packing()
        return {
            "macros": [f"#define {m} {macros[m].value}" for m in self.columns.macros],
            "undefined": [f"#undef {m}" for m in self.columns.macros],
            "helpers": definitions(self.columns.helpers),
            "structs": [define_struct(s) for s in structs]
            + [define_column_struct(s) for s in structs if s.tag in self.columns.column_structs],
            "members": members,
            "constants": tables + initial,
            "prototypes": [f.head + ";" for f in self.columns.finished],
            "functions": [f.text for f in self.columns.finished],
            "call": self.call(entry.name),
            "pack": pack,
            "unpack": unpack,
        }

    def member_list(self) -> list[str]:
        out = []
        for b in self.program.parameters:
            if b.shared and b.kind == "global":
                out.append(declare(Pointer(b.type), name(b.name)))
            elif not b.shared:
                out.append(declare(self.columns.columned(b.type, b.loc), self.member(b)))
        return out + [declare(self.columns.columned(s.type, s.loc), member) for s, member in self.statics.items()]

    @staticmethod
    def member(b: Parameter) -> str:
        return name(b.name) if b.kind == "global" else f"c2cu_{name(b.name)}"

    def call(self, kernel: str) -> str:
        args = []
        for k, b in enumerate(self.program.parameters):
            if b.kind != "param" or b.symbol is None:
                continue
            pointer = isinstance(b.symbol.type, Pointer)
            if b.shared:
                t = declare(b.symbol.type if pointer else Pointer(b.type), "")
                args.append(f"{'' if pointer else '*'}({t})c2cu_table[{k}].in")
            elif not pointer:
                if not isinstance(b.type, Scalar):
                    raise catalogue.STRUCT_BY_VALUE.error(b.loc, name=b.name)
                args.append(f"__m->{self.member(b)}[__id__]")
            else:
                at = "&" if not extents(b.type) else ""
                args.append(f"{at}__m->{self.member(b)}")
        call = f"{kernel}({', '.join([*args, '__m', '__id__'])})"
        result = next((b for b in self.program.parameters if b.kind == "return"), None)
        if result is None:
            return f"{call};"
        if not isinstance(result.type, Scalar):
            raise catalogue.STRUCT_BY_VALUE.error(result.loc, name="return")
        return f"__m->{self.member(result)}[__id__] = {call};"

    def packing(self) -> tuple[list[str], list[str], list[str]]:
        pack: list[str] = []
        unpack: list[str] = []
        initial: list[str] = []
        for k, b in enumerate(self.program.parameters):
            if b.shared and b.kind == "global":
                pack.append(
                    f"if (threadIdx.x == 0) __m->{name(b.name)} = ({declare(Pointer(b.type), '')})c2cu_table[{k}].in;"
                )
            elif not b.shared:
                self.pack_parameter(k, b, pack, unpack, initial)
        for s, member in self.statics.items():
            self.start_static(member, s, pack, initial)
        return pack, unpack, initial

    def pack_parameter(self, k: int, b: Parameter, pack: list[str], unpack: list[str], initial: list[str]) -> None:
        start = self.initial(b.symbol, initial) if b.kind == "global" and b.symbol is not None else "0"
        if start != "0" and isinstance(leaf_element(b.type), Struct):
            raise catalogue.STRUCT_INITIALISER.error(b.loc, name=b.name)
        for leaf in leaves(b.type):
            to = f"__m->{self.member(b)}{leaf.path}"
            if not isinstance(leaf.type, Scalar):
                raise catalogue.POINTER_IN_MEMORY.error(b.loc, name=b.name + leaf.path)
            word = _WORDS[leaf.type.size]
            plain = not isinstance(leaf_element(b.type), Struct)
            if plain:
                first = f"({word} *)&{to}"
                pack.append(
                    f"c2cu_to_columns<{word}>({first}, c2cu_table[{k}], {leaf.count}, c2cu_p, ({word} const *){start});"
                )
                unpack += (
                    [f"c2cu_to_rows<{word}>({first}, c2cu_table[{k}], {leaf.count}, c2cu_p);"]
                    if self.slots[k].writes
                    else []
                )
                continue
            pack.append(self.struct_move(k, b, leaf, True))
            if self.slots[k].writes:
                unpack.append(self.struct_move(k, b, leaf, False))

    def struct_move(self, k: int, b: Parameter, leaf: Leaf, inwards: bool) -> str:
        """Loops over one leaf of a struct: each thread moves its own input's elements."""
        path, offset, loops = f"__m->{self.member(b)}", [str(leaf.offset)], []
        for d, (step, (extent, stride)) in enumerate(zip(_steps(b.type, leaf.path), _padded(b.type, leaf))):
            path += step
            if extent:
                loops.append(f"for (int i{d} = 0; i{d} < {extent}; i{d}++)")
                path, offset = path + f"[i{d}]", [*offset, f"i{d} * {stride}"]
        column = f"{path}[threadIdx.x]"
        side, type_ = ("in", f"{leaf.type} const") if inwards else ("out", str(leaf.type))
        slot = f"c2cu_table[{k}]"
        row = f"*({type_} *)((char *){slot}.{side} + c2cu_id * {slot}.{side}_stride + {' + '.join(offset)})"
        move = f"{column} = {slot}.in ? {row} : 0;" if inwards else f"{row} = {column};"
        guard = "if (c2cu_id < c2cu_p)" if inwards else f"if (c2cu_id < c2cu_p && {slot}.out)"
        start = "{ long long c2cu_id = (long long)blockIdx.x * __P__ + threadIdx.x;"
        return " ".join([start, guard, *loops, move, "}"])

    def initial(self, symbol: Symbol, constants: list[str]) -> str:
        """The name of a constant that holds a variable's initial value, or 0."""
        init = symbol.decl.init if symbol.decl is not None else None
        if init is None:
            return "0"
        if any(id(n) in self.program.unit.symbols and self.program.unit.symbols[id(n)].storage for n in nodes(init)):
            raise catalogue.ADDRESS_IN_INITIALISER.error(symbol.loc, name=symbol.name)
        where = f"initial_{name(symbol.name)}"
        constants.append(self.columns.device_constant(symbol, where))
        return f"&{where}"

    def start_static(self, member: str, s: Symbol, pack: list[str], constants: list[str]) -> None:
        start = self.initial(s, constants)
        if isinstance(leaf_element(s.type), Struct):
            raise catalogue.STATIC_STRUCT.error(s.loc, name=s.name)
        element = leaf_element(s.type)
        assert isinstance(element, Scalar)
        word = _WORDS[element.size]
        pack.append(
            f"c2cu_first<{word}>(({word} *)&__m->{member}, {s.type.size // element.size}, (const {word} *){start});"
        )


def _steps(t: CType, path: str) -> list[str]:
    """For each array extent and member on the way to a leaf, the text before its subscript."""
    steps: list[str] = []
    names = path.strip(".").split(".")
    while True:
        match t:
            case Array():
                steps.append("")
                t = t.of
            case Struct():
                member = t.member(names.pop(0))
                assert member is not None
                steps.append(f".{name(member.name)}")
                t = member.type
            case _:
                return steps


def _padded(t: CType, leaf: Leaf) -> list[tuple[int, int]]:
    """The leaf's dims, with (0, 0) for steps that are members and have no subscript."""
    dims = list(leaf.dims)
    return [dims.pop(0) if step == "" else (0, 0) for step in _steps(t, leaf.path)]
