"""The arguments of the kernel call: where a run keeps each, how they get there, and back to where main has them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pycparser import c_ast as C

from ..analysis.effects import pointers_set
from ..base import catalogue
from ..base.ctype import Array, Pointer, Struct, extents
from ..codegen.c_printer import declare
from ..frontend.kernel import Parameter, static_locals
from ..frontend.parse import loc_of
from ..frontend.symbols import Symbol
from ..frontend.tree import nodes
from ..ir.nodes import Store
from ..ir.walk import expressions, loads_in, statements
from .host_split import HostPrinter, HostSplit, addressed, holds_pointer

#: Functions whose memory the part before the kernel knows the length of, and what ends that.
ALLOCATORS = ("malloc", "calloc", "realloc", "aligned_alloc", "free")

if TYPE_CHECKING:
    from ..schedule.understood import Understood


def is_pointed_to(b: Parameter) -> bool:
    """Whether main passes a parameter's address."""
    return b.kind == "param" and b.symbol is not None and isinstance(b.symbol.type, Pointer)


class Arguments:
    """``where``: the member of ``struct __run`` that holds each parameter, by name. ``pointers``: parameters whose
    argument is an address that is no variable's; a run keeps it, and a copy of what lies there. ``called``: functions
    that the host has for a run whose arguments cannot be copies."""

    def __init__(
        self,
        front: Understood,
        split: HostSplit,
        printer: HostPrinter,
        parameters: tuple[Parameter, ...],
        globals_: list[Symbol],
    ):
        self.front, self.split, self.printer = front, split, printer
        self.program, self.unit = front.program, front.program.unit
        self.parameters, self.globals = parameters, globals_
        self.where = {b.name: self.place(b) for b in parameters}
        self.pointers = [b for b in parameters if is_pointed_to(b) and self.where[b.name].startswith("__argument_")]
        self.called: tuple[str, ...] = ()
        self.memcpy = printer.aliases.get("memcpy", "memcpy")
        self.refuse_two_ways()
        self.refuse_moved_pointers()
        if self.pointers and not self.keeps_inside():
            first = self.pointers[0]
            raise catalogue.ARGUMENT_PLACE.error(loc_of(self.argument(first)), name=first.name)
        if self.pointers and not printer.cplusplus:
            if any(not s.const for s in static_locals(self.program)):
                first = self.pointers[0]
                raise catalogue.ARGUMENT_PLACE.error(loc_of(self.argument(first)), name=first.name)
            self.called = self.unit.reachable(self.program.kernel.name)

    def place(self, b: Parameter) -> str:
        """The member of ``struct __run`` that holds a parameter."""
        if b.kind == "global":
            return f"__globals.{b.name}"
        if b.kind == "return":
            return "__result"
        named = self.named_place(b) if is_pointed_to(b) else ""
        if is_pointed_to(b) and not named and holds_pointer(self.unit, b.type):
            raise catalogue.ARGUMENT_PLACE.error(loc_of(self.argument(b)), name=b.name)
        return named or f"__argument_{b.name}"

    def named_place(self, b: Parameter) -> str:
        """The variable of a run that main passes the address of, by its name; "" for any other address."""
        node = self.argument(b)
        inner = node.expr if isinstance(node, C.UnaryOp) and node.op == "&" else node
        symbol = self.unit.symbols.get(id(inner)) if isinstance(inner, C.ID) else None
        if symbol is None or not (node is not inner or isinstance(symbol.type, Array)):
            return ""
        if symbol not in self.globals and symbol not in self.split.carried and symbol not in self.printer.statics:
            return ""
        declared = b.type.size if isinstance(b.type, Array) else 0
        if isinstance(symbol.type, Array) and declared and symbol.type.size > declared:
            if self.keeps_inside():
                return ""
            raise catalogue.ARGUMENT_LONGER.error(loc_of(node), variable=symbol.name, name=b.name, type=b.type)
        if symbol in self.split.carried:
            return f"__locals.{symbol.name}"
        return f"__globals.{self.printer.statics.get(symbol, symbol.name)}"

    def keeps_inside(self) -> bool:
        """Whether the kernel is known to touch of its parameters what they declare alone."""
        u = self.front.analysis
        if u is None:
            return False
        addressed = {b.name for b in self.parameters if is_pointed_to(b)}
        every = list(statements(u.kernel.body))
        places = [(s.region, s.index) for s in every if isinstance(s, Store)]
        places += [(x.region, x.index) for s in every for e in expressions(s) for x in loads_in(e)]
        return not any(r.variable in addressed and u.is_varying(index) for r, index in places)

    def refuse_two_ways(self) -> None:
        """What the kernel writes must reach it one way only: each parameter is a copy of its own."""
        parameters, writes = self.parameters, {s.name: s.writes for s in self.front.slots}
        for k, b in enumerate(parameters):
            twins = [o for o in parameters[:k] if self.where[o.name] == self.where[b.name]]
            if not any(writes[o.name] or writes[b.name] for o in twins):
                continue
            what = self.where[b.name].split(".")[-1]
            ways = "twice" if twins[0].kind == "param" else "as an argument and as a global"
            raise catalogue.TWO_WAYS.error(loc_of(self.argument(b)), name=what, ways=ways)

    def refuse_moved_pointers(self) -> None:
        """A global pointer that the kernel sets does not come back: the host must not look at it after the kernel."""
        moved = pointers_set(self.program)
        holders = [b for b in self.parameters if b.symbol in moved and holds_pointer(self.unit, b.type)]
        if not holders:
            return
        functions = (self.unit.functions[f].node for f in self.split.functions)
        result = () if self.split.result is None else (self.split.result,)
        host = (n for part in (*self.split.after, *result, *functions) for n in nodes(part))
        looked_at = {self.unit.symbols[id(n)] for n in host if isinstance(n, C.ID) and id(n) in self.unit.symbols}
        for b in holders:
            if b.symbol in looked_at:
                raise catalogue.POINTER_IN_MEMORY.error(b.loc, name=b.name)

    def argument(self, b: Parameter) -> C.Node:
        """What main passes for a parameter."""
        return self.split.arguments[[q.name for q in self.program.kernel.params].index(b.name)]

    def set(self) -> list[str]:
        """Statements that keep the arguments: values, addresses that have no name, and what lies there; the last one
        first, as gcc evaluates them. A run whose arguments are no copies of their own, or whose objects are not known
        to be as long as the parameters, calls the kernel by itself on a CPU; on a GPU it ends the program."""
        kept = [b for b in reversed(self.parameters) if self.where[b.name].startswith("__argument_")]
        values = [
            f"__r->__pointer_{b.name} = (void *)({self.address(b)});"
            if b in self.pointers
            else f"__r->{self.where[b.name]} = {self.printer.visit(self.argument(b))};"
            for b in kept
        ]
        into = self.into()
        if into:
            values.append(f"__r->__into = (void *)({into[0]});")
        if not self.pointers:
            return values
        copies = [
            f"{self.memcpy}((void *)&__r->__argument_{b.name}, __r->__pointer_{b.name}, {b.type.size});"
            for b in self.pointers
        ]
        if self.printer.cplusplus:
            alone = ["__refuse_arguments();"]
        else:
            result = "__r->__result = " * any(b.kind == "return" for b in self.parameters)
            alone = [
                "__r->__alone = 1;",
                f"{result}{self.program.kernel.name}({', '.join(self.again())});",
                "return 0;",
            ]
        return [*values, f"if ({' || '.join(self.together())}) {{", *(f"    {line}" for line in alone), "}", *copies]

    def again(self) -> list[str]:
        """The arguments of the kernel call, as they are kept."""
        by = {b.name: b for b in self.parameters}
        where = {
            n: f"__r->__pointer_{n}" if b in self.pointers else f"__r->__argument_{n}"
            for n, b in by.items()
            if self.where[n].startswith("__argument_")
        }
        return [
            where.get(q.name) or self.printer.visit(n) for q, n in zip(self.program.kernel.params, self.split.arguments)
        ]

    def together(self) -> list[str]:
        """Conditions, one of which holds where an object may be too short, or what the kernel writes reaches it two
        ways."""
        writes = {s.name for s in self.front.slots if s.writes}
        places = [b for b in self.parameters if b.kind == "global" or is_pointed_to(b)]
        overlaps = [
            f"__overlap(__r->__pointer_{b.name}, {b.type.size}, {at}, {o.type.size})"
            for k, b in enumerate(self.pointers)
            for o in (*self.pointers[:k], *(o for o in places if o not in self.pointers))
            if {b.name, o.name} & writes
            for at in [f"__r->__pointer_{o.name}" if o in self.pointers else self.address(o)]
        ]
        return [*(f"{self.room(b)} < {b.type.size}" for b in self.pointers), *overlaps]

    def room(self, b: Parameter) -> str:
        """How many bytes there are from an address to the end of its object, 0 where nobody knows."""
        at, root = f"__r->__pointer_{b.name}", self.argument(b)
        while isinstance(root, (C.ArrayRef, C.Cast, C.BinaryOp, C.UnaryOp)):
            match root:
                case C.ArrayRef():
                    root = root.name
                case C.BinaryOp(op="+" | "-"):
                    root = root.left
                case C.Cast() | C.UnaryOp(op="&"):
                    root = root.expr
                case _:
                    break
        symbol = self.unit.symbols.get(id(root)) if isinstance(root, C.ID) else None
        if symbol is None or not isinstance(symbol.type, (Array, Struct)):
            return f"__room(__r, {at})"
        text = self.printer.visit(root)
        return f"__rest(&{text}, sizeof {text}, {at})"

    def allocators(self) -> list[str]:
        """The library's allocating functions, in host code that has no other use for their names."""
        every = [x for n in self.unit.ast.ext for x in nodes(n)]
        called = {n.name.name for n in every if isinstance(n, C.FuncCall) and isinstance(n.name, C.ID)}
        variables = (n for n in every if isinstance(n, C.Decl) and not isinstance(n.type, C.FuncDecl))
        taken = {n.name for n in variables} | {n.field.name for n in every if isinstance(n, C.StructRef)}
        return [f for f in ALLOCATORS if f in called and f not in taken and f not in self.unit.functions]

    def address(self, b: Parameter) -> str:
        """The address of what a parameter is a copy of."""
        return f"&{b.name}" if b.kind == "global" else self.printer.visit(self.argument(b))

    def get_result(self) -> list[str]:
        """Statements that bring what the kernel wrote at an address, and its value, where main has them."""
        writes = {s.name for s in self.front.slots if s.writes}
        written = [b.name for b in self.pointers if b.name in writes]
        alone = "" if self.printer.cplusplus else "if (!__r->__alone) "
        back = [
            f"{alone}{self.memcpy}(__r->__pointer_{n}, (void *)&__r->__argument_{n}, sizeof __r->__argument_{n});"
            for n in written
        ]
        into = self.into()
        match self.split.result:
            case C.Assignment(op=op, lvalue=left):
                place = f"*({into[1]} *)__r->__into" if into else self.printer.visit(left)
                return [*back, f"{place} {op} __r->__result;"]
            case C.Decl() as d:
                return [*back, f"{self.printer.without_value(d, d.name)} = __r->__result;"]
        return back

    def into(self) -> tuple[str, str] | None:
        """The address of the object that the kernel's value goes to, and its type's name, where the kernel may change
        what leads there. gcc finds it after the arguments and before the call; after the call where it is a part of
        ``+=`` or the value is converted."""
        result = self.split.result
        if not isinstance(result, C.Assignment) or result.op != "=" or self.is_named(result.lvalue):
            return None
        if self.unit.type(result.lvalue) != self.unit.type(result.rvalue) or id(result.lvalue) in self.unit.bits:
            return None
        text = self.printer.visit(result.lvalue)
        return f"&{text}", f"__typeof__({text})"

    def is_named(self, n: C.Node) -> bool:
        """Whether an lvalue is the same object before the kernel and after it, whatever that writes."""
        match n:
            case C.ArrayRef():
                index = self.unit.symbols.get(id(n.subscript))
                same = isinstance(n.subscript, C.Constant) or (index is not None and self.keeps_value(index))
                return same and isinstance(self.unit.type(n.name), Array) and self.is_named(n.name)
            case C.StructRef(type="."):
                return self.is_named(n.name)
        return isinstance(n, C.ID)

    def keeps_value(self, s: Symbol) -> bool:
        """Whether a variable is a local of main that no pointer leads to."""
        return s in self.split.carried and s not in addressed(self.unit, (*self.split.before, *self.split.arguments))

    def members(self) -> list[str]:
        """The arguments as members of a run, and where its value goes."""
        passed = {b.name: b for b in self.pointers}
        out = ["void *__into"] * (self.into() is not None)
        for q in self.program.kernel.params:
            if not self.where.get(q.name, "").startswith("__argument_") or q.decl is None:
                continue
            if q.name in passed:
                out += [self.pointed_to(passed[q.name], q.decl.type), f"void *__pointer_{q.name}"]
            else:
                out.append(self.printer.parameter(q.decl.type, f"__argument_{q.name}"))
        return out

    def pointed_to(self, b: Parameter, head: C.Node) -> str:
        """The declaration of what a parameter points to; a struct without a tag by the typedef that it has."""
        text = declare(b.type, f"__argument_{b.name}")
        if "__anonymous" not in text:
            return text
        if not isinstance(head, (C.PtrDecl, C.ArrayDecl)):
            raise catalogue.ARGUMENT_PLACE.error(loc_of(self.argument(b)), name=b.name)
        inner = "".join(f"[{n}]" for n in extents(b.type))
        while isinstance(head, (C.PtrDecl, C.ArrayDecl)):
            head = head.type
        return self.printer.parameter(head, f"__argument_{b.name}") + inner
