"""The library functions that lowering knows by name: libm, abs, and those of string.h that move memory."""

from __future__ import annotations

import math

from pycparser import c_ast as C

from ..base import catalogue, libm
from ..base.ctype import DOUBLE, FLOAT, INT, LONG, UCHAR, Array, CType, Scalar, Struct
from ..base.diagnostics import Loc
from ..frontend.parse import loc_of
from ..ir.fold import binary, bitcast, cast, unary
from ..ir.nodes import Binary, Call, Const, Expr, Select
from .expressions import Values
from .objects import Ref, Target, leaf_table


class Library(Values):
    """Calls of library functions."""

    def library(self, name: str, node: C.FuncCall) -> Expr | Target:
        """A call of a C library function: pure ones, and memcpy, memmove, memset."""
        loc = loc_of(node)
        args = node.args.exprs if node.args else []
        name = name.removeprefix("__builtin_")
        if name in ("memcpy", "memmove", "memset"):
            return self.memory(name, args, loc)
        if name in libm.CONSTANTS:
            return Const(*libm.CONSTANTS[name], loc)
        if name == "isnormal":
            return self.is_normal(self.value(args[0]), loc)
        if name in ("abs", "labs", "llabs"):
            return self.absolute(self.value(args[0]), {"abs": INT}.get(name, LONG), loc)
        if name not in libm.FUNCTIONS:
            raise catalogue.LIBRARY_FUNCTION.error(loc, name=name)
        returns, params = libm.FUNCTIONS[name]
        values = []
        for a, t in zip(args, params, strict=True):
            values.append(cast(self.value(a), t))
        return Call(name, tuple(values), returns, loc)

    def is_normal(self, x: Expr, loc: Loc) -> Expr:
        """In the argument's own type: a float that is not normal may be so as a double."""
        t, smallest = (FLOAT, 2.0**-126) if x.type == FLOAT else (DOUBLE, 2.0**-1022)
        size = Call("fabsf" if t == FLOAT else "fabs", (cast(x, t),), t, loc)
        large = binary(">=", size, Const(smallest, t), INT, loc)
        return binary("&&", large, binary("<", size, Const(math.inf, t), INT, loc), INT, loc)

    def absolute(self, x: Expr, t: Scalar, loc: Loc) -> Expr:
        x = cast(x, t)
        return Select(binary("<", x, Const(0, t), INT, loc), unary("-", x, t, loc), x, t, loc)

    def memory(self, name: str, args: list[C.Node], loc: Loc) -> Ref:
        """Returns what they return: where they wrote."""
        result = self.pinned(self.followed(args[0], loc), loc)
        to = self.scalars(result, loc)
        if name == "memset":
            value = self.filled(self.temporary(self.value(args[1]), loc), to.type, loc)
            count = self.elements(args[2], to, loc)
            self.each(count, lambda k: self.store(to.moved(k), value, loc), loc)
            return result
        source = self.scalars(self.followed(args[1], loc), loc)
        count = self.elements(args[2], to, loc)
        if source.type.size != to.type.size:
            raise catalogue.COPY_BETWEEN_TYPES.error(loc, function=name, source=source.type, target=to.type)
        source = self.pinned(source, loc)

        def move(k: Expr) -> None:
            assert isinstance(to.type, Scalar)
            self.store(to.moved(k), bitcast(self.load(source.moved(k), loc), to.type, loc), loc)

        if name == "memmove" and to.object is source.object:
            later = binary(">", cast(to.index, LONG), cast(source.index, LONG), INT, loc)
            self.either(
                later, lambda: self.each(count, move, loc, True), lambda: self.each(count, move, loc), loc, False
            )
            return result
        self.each(count, move, loc)
        return result

    def followed(self, node: C.Node, loc: Loc) -> Ref:
        target = self.pointer(node)
        if not isinstance(target, Ref):
            raise catalogue.NULL_FOLLOWED.error(loc)
        return target

    def scalars(self, target: Ref, loc: Loc) -> Ref:
        """The first scalar at a place."""
        while isinstance(target.type, Array):
            target = target.element(loc)
        if isinstance(target.type, Struct):
            table = leaf_table(target.type)
            sizes = {t.size for t, _ in table.values()}
            if len(table) != 1 or len(sizes) != 1:
                raise catalogue.MEMORY_OF_STRUCT.error(loc)
            ((path, (_, count)),) = table.items()
            target = self.below(target, path, count, loc)
        return target

    def elements(self, node: C.Node, ref: Ref, loc: Loc) -> Expr:
        """A byte count as a count of elements."""
        size = ref.type.size
        n = self.value(node)
        if size == 1:
            return n
        if isinstance(n, Const):
            if n.value % size:
                raise catalogue.BYTE_COUNT.error(loc, type=ref.type)
            return Const(int(n.value) // size, LONG)
        if isinstance(n, Binary) and n.op == "*":
            for a, b in ((n.left, n.right), (n.right, n.left)):
                if isinstance(b, Const) and b.value % size == 0:
                    return binary("*", a, Const(int(b.value) // size, a.type), a.type, loc)
        raise catalogue.BYTE_COUNT.error(loc, type=ref.type)

    def filled(self, byte: Expr, t: CType, loc: Loc) -> Expr:
        """An element whose bytes all are ``byte``."""
        assert isinstance(t, Scalar)
        if isinstance(byte, Const) and byte.value == 0:
            return Const(t.wrap(0), t, loc)
        if t.size == 1:
            return cast(cast(byte, UCHAR), t)
        if isinstance(byte, Const) and t.is_integer:
            return Const(t.wrap(int.from_bytes(bytes([int(byte.value) & 255]) * t.size, "little")), t, loc)
        raise catalogue.MEMSET_VALUE.error(loc)
