"""What host code may not do: the runs of a translation are one process, and its two parts stand far apart."""

from __future__ import annotations

from collections.abc import Container, Iterator
from dataclasses import dataclass

from pycparser import c_ast as C

from ..base import catalogue
from ..base.diagnostics import Note, UnsupportedError
from ..frontend.parse import loc_of
from ..frontend.symbols import Symbol
from ..frontend.tree import nodes
from ..frontend.typed import Unit

Statements = tuple[C.Node, ...]


@dataclass(frozen=True)
class Mention:
    """A function's name in host code, or ``stdin``; ``call``: whose callee it is."""

    name: str
    node: C.ID
    call: C.FuncCall | None


@dataclass(frozen=True)
class Rule:
    """Library functions that are refused. ``where``: "before" the kernel call, on "both" sides of it, in "two" of these
    and the kernel, or in "any"."""

    message: catalogue.Message[UnsupportedError]
    where: str
    names: tuple[str, ...]


#: Functions that print -> which argument is the file or its number; None: always stdout.
_PRINTS = {
    **dict.fromkeys("printf vprintf puts putchar putchar_unlocked wprintf vwprintf putwchar system".split()),
    **dict.fromkeys("fprintf vfprintf fwprintf vfwprintf dprintf vdprintf write writev pwrite send".split(), 0),
    **dict.fromkeys("fputs fputc putc fputws fputwc putwc putc_unlocked fputc_unlocked fputs_unlocked".split(), 1),
    **dict.fromkeys("fwrite fwrite_unlocked".split(), 3),
}

#: Functions that read -> which argument is the file or its number; None: always stdin.
READS = {
    **dict.fromkeys("scanf vscanf getchar getchar_unlocked gets wscanf vwscanf getwchar".split()),
    **dict.fromkeys(
        "fscanf vfscanf fgetc getc getc_unlocked fgetc_unlocked getw fwscanf vfwscanf fgetwc getwc".split(), 0
    ),
    **dict.fromkeys("read readv recv pread".split(), 0),
    **dict.fromkeys("fgets fgets_unlocked fgetws getline".split(), 2),
    **dict.fromkeys("fread fread_unlocked getdelim".split(), 3),
}

#: Functions that give a file a buffer -> which argument that is.
_BUFFERS = dict.fromkeys(("setvbuf", "setbuf", "setbuffer"), 1)

#: Functions that close a file -> which argument it is.
_CLOSES = dict.fromkeys(("fclose", "close"), 0)

#: Those that go past stdio's buffers: these must be empty where a run ends.
UNBUFFERED = frozenset("system popen dprintf vdprintf write writev pwrite send".split())

#: Ends of a process, which here end one run -> what they are called in a translation.
ENDS = {"exit": "__leave", **dict.fromkeys(("_Exit", "_exit", "quick_exit"), "__leave_at_once"), "abort": "__abort"}

#: Those of them after which stdio's buffers are lost.
LOSE_BUFFERS = frozenset(("__leave_at_once", "__abort"))

_RULES = (
    Rule(catalogue.STACK_BEFORE, "before", ("alloca", "__builtin_alloca")),
    Rule(catalogue.GENERATOR, "two", ("rand", "srand", "random", "srandom")),
    Rule(catalogue.GENERATOR, "two", ("drand48", "lrand48", "mrand48", "srand48")),
    Rule(catalogue.STRTOK, "two", ("strtok",)),
    Rule(catalogue.JUMP_ACROSS, "both", ("setjmp", "_setjmp", "sigsetjmp", "longjmp", "siglongjmp")),
    Rule(catalogue.STDIN_AFTER, "both", (*READS, "stdin")),
    Rule(catalogue.CLOSES_FILE, "any", tuple(_CLOSES)),
    Rule(catalogue.SETS_BUFFER, "any", tuple(_BUFFERS)),
    Rule(catalogue.AT_EXIT, "any", ("atexit", "at_quick_exit", "on_exit")),
    Rule(
        catalogue.PROCESS,
        "any",
        tuple("fork vfork execl execlp execle execv execvp execve pthread_exit".split()),
    ),
    Rule(catalogue.PROCESS, "any", ("chdir", "setenv", "unsetenv", "putenv", "clearenv")),
)


def reach(unit: Unit, statements: Statements) -> tuple[list[Mention], set[str]]:
    """What ``statements`` may name: library functions, and the file's own functions and variables.

    Whatever is named counts: in them, or in a function or in a variable's initialiser that they name.
    """
    mentions: list[Mention] = []
    names: set[str] = set()
    waiting: list[C.Node] = list(statements)
    while waiting:
        top = waiting.pop(0)
        calls = {id(n.name): n for n in nodes(top) if isinstance(n, C.FuncCall)}
        for n in nodes(top):
            symbol = unit.symbols.get(id(n)) if isinstance(n, C.ID) else None
            if symbol is None or not isinstance(n, C.ID):
                continue
            if (symbol.kind == "function" and n.name not in unit.functions) or n.name == "stdin":
                mentions.append(Mention(n.name, n, calls.get(id(n))))
            if n.name not in names and (symbol.kind == "function" or symbol.is_global):
                names.add(n.name)
                waiting += _inside(unit, n.name, symbol.kind)
    return mentions, names


def _inside(unit: Unit, name: str, kind: str) -> Iterator[C.Node]:
    """A function's definition, or a variable's initialiser."""
    if kind == "function" and name in unit.functions:
        yield unit.functions[name].node
    variable = unit.variables.get(name)
    if kind == "variable" and variable is not None and variable.decl is not None and variable.decl.init is not None:
        yield variable.decl.init


def prints(mentions: list[Mention]) -> bool:
    """Whether some of them may print to stdout."""
    return any((m.name in _PRINTS or m.name in UNBUFFERED) and not _is_harmless(m) for m in mentions)


def refuse_host(unit: Unit, before: Statements, after: Statements, kernel: Statements = ()) -> None:
    """Raise UnsupportedError for what would not do in p runs of main what it does in one process a run. ``kernel``: its
    definition, where it runs apart from main."""
    _refuse_jumps(before, after)
    parts = [reach(unit, part)[0] for part in (before, kernel, after)]
    for rule in _RULES:
        first, inside, second = ([m for m in part if m.name in rule.names and not _is_harmless(m)] for part in parts)
        match rule.where:
            case "before" if first:
                raise _refused(rule, first[0])
            case "any" if first or second:
                raise _refused(rule, [*first, *second][0])
            case "both" | "two" if first and second:
                raise _refused(rule, second[0], (first[0], "before"), where="on both sides of the kernel call")
            case "two" if inside and (first or second):
                outside = (first[0], "before") if first else (second[0], "after")
                raise _refused(rule, inside[0], outside, where=f"in the kernel and {outside[1]} its call")


def _refused(rule: Rule, m: Mention, *others: tuple[Mention, str], where: str = "") -> UnsupportedError:
    """``others``: what else is named, before or after the kernel call."""
    notes = tuple(Note(f"'{x.name}' {side} the kernel call", loc_of(x.node)) for x, side in others)
    return rule.message.error(loc_of(m.node), notes, name=m.name, where=where)


def _is_harmless(m: Mention) -> bool:
    """A call that prints to stderr, reads or closes what is not named stdin or so, or sets no buffer of its own."""
    args = m.call.args.exprs if m.call is not None and m.call.args else []
    position = {**_PRINTS, **READS, **_BUFFERS, **_CLOSES}.get(m.name)
    if position is None:
        return False
    if position >= len(args):
        return m.name in READS
    file = args[position]
    while isinstance(file, C.Cast):
        file = file.expr
    file_name = getattr(file, "name", None) or getattr(file, "value", "")
    if m.name in READS:
        return file_name not in ("stdin", "0")
    if m.name in _CLOSES:
        return file_name not in ("stdin", "stdout", "stderr", "0", "1", "2")
    return file_name == "0" if m.name in _BUFFERS else file_name in ("stderr", "2")


def _refuse_jumps(before: Statements, after: Statements) -> None:
    for part in (before, after):
        labels = [n.name for s in part for n in nodes(s) if isinstance(n, C.Label)]
        for n in (n for s in part for n in nodes(s)):
            if isinstance(n, C.Goto) and n.name not in labels:
                raise catalogue.GOTO_ACROSS.error(loc_of(n), name=n.name)


def host_statics(unit: Unit, functions: tuple[str, ...], device: Container[Symbol]) -> tuple[Symbol, ...]:
    """The static locals of ``functions`` that every run starts anew: they become variables of the file.
    ``device``: those that the kernel has too, as its own. Raises UnsupportedError where that cannot be."""
    bodies = [unit.functions[f].node for f in functions]
    inside = {id(n) for body in bodies for n in nodes(body)}
    statics = tuple(s for s in unit.statics if not s.const and id(s.decl) in inside)
    local = {name for body in bodies for n in nodes(body) if (name := _defined_type(n))} if statics else set()
    for s in statics:
        declared = nodes(s.decl) if s.decl is not None else ()
        if s in device or not all(_means_the_same_outside(unit, n, statics, local) for n in declared):
            raise catalogue.STATIC_IN_HOST.error(s.loc, name=s.name)
    return statics


def _defined_type(n: C.Node) -> str:
    """The type, tag or enumerator that a node defines."""
    if isinstance(n, (C.Struct, C.Union)) and n.decls is None:
        return ""
    return (n.name or "") if isinstance(n, (C.Typedef, C.Struct, C.Union, C.Enum, C.Enumerator)) else ""


def _means_the_same_outside(unit: Unit, n: C.Node, moved: tuple[Symbol, ...], local: set[str]) -> bool:
    """Whether what a declaration names is known at file scope. ``local``: the types that functions define."""
    match n:
        case C.IdentifierType():
            return not local & set(n.names)
        case C.Struct() | C.Union() | C.Enum():
            return n.name not in local
        case C.ID():
            symbol = unit.symbols.get(id(n))
            return n.name not in local and (symbol is None or symbol.storage != "static-local" or symbol in moved)
    return True


_FRESH = (
    (("rand", "srand"), "srand(1);"),
    (("random", "srandom"), "srandom(1);"),
    (("drand48", "lrand48", "mrand48"), "{ unsigned short __zero[3] = {0, 0, 0}; seed48(__zero); }"),
    (("getopt", "getopt_long"), "optind = 1;"),
)


def fresh_library(unit: Unit, before: Statements, after: Statements) -> tuple[list[str], list[str]]:
    """Statements before each part, by which the library's state starts as in a fresh process."""
    first, second = ({m.name for m in reach(unit, part)[0]} for part in (before, after))
    start = [text for names, text in _FRESH if first & set(names)]
    return start, [text for names, text in _FRESH if second & set(names) and text not in start]
