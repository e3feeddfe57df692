"""What a process has beside its variables, for a thread of a standalone program: an end, a heap, the library's state,
a stack that recursion needs, and output.

``exit`` and ``abort`` end the thread, and the host what is left of the run. What the kernel prints is logged, each call
with its arguments; the host makes the calls.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from pycparser import c_ast as C

from ...base import catalogue
from ...base.ctype import DOUBLE, Pointer, Scalar
from ...codegen.c_printer import CPrinter, declare
from ...frontend.kernel import KernelProgram
from ...frontend.parse import loc_of
from ...frontend.refuse import recursive
from ...frontend.tree import nodes
from ...frontend.typed import FunctionDef, Unit

P = "&c2cu_s->c2cu_process"
#: Functions that a thread has through its process -> what they need, how they are called.
_CALLS = {
    **dict.fromkeys(("exit", "_exit", "_Exit", "quick_exit"), ("exit", "c2cu_exit({p}, {a})")),
    "abort": ("exit", "c2cu_abort({p})"),
    "free": ("memory", "c2cu_free((void *)({a}))"),
    **{n: ("memory", f"c2cu_{n}({{p}}, {{a}})") for n in ("malloc", "calloc", "realloc", "strdup", "strndup")},
    "rand": ("random", "c2cu_rand({p})"),
    "random": ("random", "(long)c2cu_rand({p})"),
    "srand": ("random", "c2cu_srand({p}, {a})"),
    "srandom": ("random", "c2cu_srand({p}, {a})"),
    "rand_r": ("rand_r", "c2cu_rand_r({a})"),
    **{n: ("drand48", f"c2cu_{n}({{p}})") for n in ("drand48", "lrand48", "mrand48")},
    "srand48": ("drand48", "c2cu_srand48({p}, {a})"),
    "strtok": ("strtok", "c2cu_strtok_r({a}, &c2cu_s->c2cu_process.token)"),
}
#: Functions that print -> which argument is the file, None: stdout.
_PRINTS = {
    "printf": None, "puts": None, "putchar": None, "putchar_unlocked": None, "perror": None,
    "fprintf": 0, "fputs": 1, "fputc": 1, "putc": 1, "fwrite": 3,
}  # fmt: skip
_CONVERSION = re.compile(r"%[-+ #0']*(\*|\d+)?(\.(\*|\d*))?(hh|h|ll|l|q|j|z|t|L)?([a-zA-Z%])")


@dataclass
class Process:
    """``needs``: parts of the template that the program uses; ``sites``: what the host does for each call that
    prints."""

    needs: set[str] = field(default_factory=set)
    sites: list[str] = field(default_factory=list)
    dropped: frozenset[int] = frozenset()  # ids of expressions whose value nobody takes
    recursive: frozenset[str] = frozenset()

    def entry(self, f: FunctionDef) -> str:
        """What a function begins with."""
        if f.name not in self.recursive:
            return ""
        self.needs.add("recursion")
        return f"    char c2cu_here;\n    c2cu_deep({P}, &c2cu_here);\n"

    def call(self, printer: CPrinter, callee: str, args: list[C.Node], texts: list[str], n: C.FuncCall) -> str | None:
        """The text of a call, None for what is no matter of processes."""
        if callee == "fflush":
            return "((void)0)" if id(n) in self.dropped else "0"
        if callee in _PRINTS:
            return self.printed(printer, callee, args, texts, n)
        if callee not in _CALLS:
            return None
        need, form = _CALLS[callee]
        self.needs.add(need)
        if callee == "strtok":
            printer.helpers["c2cu_strtok_r"] = None
        return form.format(p=P, a=", ".join(texts))

    def printed(self, printer: CPrinter, callee: str, args: list[C.Node], texts: list[str], n: C.FuncCall) -> str:
        """A call that logs its arguments, and in `sites` the host's statement."""
        file = _PRINTS[callee]
        if file is not None and (len(args) <= file or getattr(args[file], "name", "") not in ("stdout", "stderr")):
            raise catalogue.PRINTS.error(loc_of(n), name=callee)
        if id(n) not in self.dropped:
            raise catalogue.PRINTS.error(loc_of(n), name=callee)
        self.needs.add("prints")
        to = "stderr" if callee == "perror" else "stdout" if file is None else args[file].name  # type: ignore[attr-defined]
        logged: list[str] = []
        takes: list[str] = []
        for kind, t, k in self.arguments(printer.unit, callee, args, n):
            a = f"__a{len(takes)}"
            if kind == "text":
                most = "~0UL" if t is None else f"(unsigned long)({t})"
                logged.append(f"c2cu_text{{(const char *)({texts[k]}), {most}, false}}")
                takes.append(f"const char *{a} = __text(&__r, 0)")
            else:
                logged.append(f"({kind})({texts[k]})")
                takes.append(f"{kind} {a} = __number<{kind}>(&__r)")
        names = [f"__a{k}" for k in range(len(takes))]
        match callee:
            case "printf" | "fprintf":
                at = callee == "fprintf"
                call = f"fprintf({', '.join([to, args[at].value, *names])})"  # type: ignore[attr-defined]
            case "puts":
                call = f"puts({names[0]})"
            case "perror":
                call = f'fprintf(stderr, "%s: error\\n", {names[0]})'
            case "fputs":
                call = f"fputs({names[0]}, {to})"
            case "fwrite":
                size = f"(unsigned long)({texts[1]}) * (unsigned long)({texts[2]})"
                logged = [f"c2cu_text{{(const char *)({texts[0]}), {size}, true}}"]
                takes = ["size_t __n", "const char *__a0 = __text(&__r, &__n)"]
                call = f"fwrite(__a0, 1, __n, {to})"
            case _:
                call = f"fputc({names[0]}, {to})"
        self.sites.append(f"{{ {' '.join(f'{t};' for t in takes)} {call}; }}")
        return f"c2cu_print({', '.join([P, str(len(self.sites) - 1), *logged])})"

    def arguments(
        self, unit: Unit, callee: str, args: list[C.Node], n: C.FuncCall
    ) -> Iterator[tuple[str, str | None, int]]:
        """(type or "text", the most characters of a text, position) of what is logged."""
        if callee in ("puts", "fputs", "perror"):
            yield "text", None, 0
        elif callee in ("putchar", "putchar_unlocked", "fputc", "putc"):
            yield "int", None, 0
        elif callee in ("printf", "fprintf"):
            first = 1 + (callee == "fprintf")
            format = args[first - 1]
            if not isinstance(format, C.Constant) or not format.value.startswith('"'):
                raise catalogue.PRINTS.error(loc_of(n), name=callee)
            yield from self.of_format(unit, format.value, args, first, n)

    def of_format(
        self, unit: Unit, format: str, args: list[C.Node], first: int, n: C.FuncCall
    ) -> Iterator[tuple[str, str | None, int]]:
        k = first
        for m in _CONVERSION.finditer(format):
            if m[5] == "%":
                continue
            most = m[3] if m[2] and m[3] != "*" else None
            for star in (m[1] == "*", m[3] == "*"):
                if star and k < len(args):
                    yield "int", None, k
                    k += 1
            if k >= len(args) or m[5] in "nmSC" or (m[5] in "sc" and m[4]) or (m[5] == "s" and m[3] == "*"):
                raise catalogue.PRINTS.error(loc_of(n), name="printf")
            if m[5] == "s":
                yield "text", (most or "0") if m[2] else None, k
            else:
                yield self.number(unit, args[k], n), None, k
            k += 1

    def number(self, unit: Unit, a: C.Node, n: C.FuncCall) -> str:
        match unit.value_type(a):
            case Pointer():
                return "void *"
            case Scalar() as t if not t.is_complex:
                return declare(DOUBLE if t.is_float else t, "").strip()
        raise catalogue.PRINTS.error(loc_of(n), name="printf")


def process_of(program: KernelProgram) -> Process:
    """For a program that is still to be printed."""
    dropped = frozenset(id(x) for f in program.functions for n in nodes(f.node) for x in _dropped(n))
    return Process(dropped=dropped, recursive=frozenset(f.name for f in recursive(program)))


def _dropped(n: C.Node) -> Iterator[C.Node]:
    """The expressions in a node whose values nobody takes."""
    match n:
        case C.Compound():
            parts = list(n.block_items or ())
        case C.If():
            parts = [n.iftrue, n.iffalse]
        case C.For():
            parts = [n.init, n.next, n.stmt]
        case C.While() | C.DoWhile() | C.Label():
            parts = [n.stmt]
        case C.Case() | C.Default():
            parts = list(n.stmts or ())
        case _:
            return
    for part in parts:
        yield from _discarded(part)


def _discarded(n: C.Node | None) -> Iterator[C.Node]:
    match n:
        case C.ExprList():
            for x in n.exprs:
                yield from _discarded(x)
        case C.TernaryOp():
            yield from _discarded(n.iftrue)
            yield from _discarded(n.iffalse)
        case C.Node():
            yield n
