"""What stands in the way of a kernel: errors for what nothing can run, the obstacle for what only its own text can."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import TypeVar

from pycparser import c_ast as C

from ..base import catalogue, libc, libm
from ..base.ctype import Array, CType, Function, Pointer, Scalar, Struct, holds_pointers, is_packed
from ..base.diagnostics import Error, Loc, Note, UnsupportedError, did_you_mean
from .ends import Ends, early_ends
from .kernel import KernelProgram, returns_place, touched
from .nesting import ANALYSED, too_deep
from .parse import loc_of
from .symbols import Symbol
from .tree import evaluated, nodes
from .typed import FunctionDef, Unit

E = TypeVar("E", bound=Error)

#: What no run of many inputs at once has.
_IMPOSSIBLE = {
    catalogue.INPUT_OUTPUT: "scanf fscanf vscanf vfscanf getchar getc fgetc gets fgets ungetc fopen freopen fdopen "
    "tmpfile fclose fread fseek ftell rewind feof getline open close read write lseek remove rename socket",
    catalogue.OUTSIDE_STATE: "time clock clock_gettime gettimeofday localtime getenv mmap",
    catalogue.SYSTEM_CALL: "system popen fork vfork execl execv execve signal sigaction kill raise alarm "
    "pthread_create pthread_join thrd_create thrd_join",
}
#: What the program's own text can do, and nothing else.
_TEXT_ONLY = {
    catalogue.ALLOCATION: "malloc calloc realloc free alloca aligned_alloc posix_memalign strdup strndup",
    catalogue.LONG_JUMP: "setjmp longjmp sigsetjmp siglongjmp _setjmp __sigsetjmp",
    catalogue.ENDS_PROCESS: "exit _exit _Exit quick_exit abort atexit __assert_fail",
    catalogue.KEEPS_PLACE: "strtok",
    catalogue.RANDOM_NUMBERS: " ".join(libc.GENERATORS),
    catalogue.CALLBACK: "qsort bsearch",
}


def _by_name(groups: dict) -> dict:
    return {name: message for message, names in groups.items() for name in names.split()}


_ERRORS, _OBSTACLES = _by_name(_IMPOSSIBLE), _by_name(_TEXT_ONLY)

#: Functions that GCC has without a declaration.
_COMPILERS = ("__builtin_", "__atomic_", "__sync_")

#: Library functions that are analysed.
ALLOWED = frozenset(libm.FUNCTIONS) | frozenset(
    "memcpy memmove memset memcmp memchr strlen strcmp strncmp abs labs llabs frexp frexpf modf modff remquo remquof "
    "scalbln scalblnf lgamma_r lgammaf_r sincos sincosf drem dremf finite finitef "
    "isalnum isalpha isblank iscntrl isdigit isgraph islower isprint ispunct isspace isupper isxdigit tolower toupper "
    "inff inf nanf nan huge_val huge_valf".split()
)


#: What lowering takes, or finds out by itself that it does not.
_TRIED = frozenset(
    m.code
    for m in (
        catalogue.RECURSION,
        catalogue.LIBRARY_FUNCTION,
        catalogue.HOST_LAYOUT,
        catalogue.COMPLEX,
        catalogue.ALLOCATION,
        catalogue.VARIABLE_EXTENT,
        catalogue.RANDOM_NUMBERS,
        catalogue.VARIADIC,
    )
)
#: What a run has that is a process of its own.
_PROCESSES = frozenset(m.code for m in (*_IMPOSSIBLE, catalogue.PRINTS))
_NOT_HOSTED = {catalogue.HOST_LAYOUT.code, catalogue.COMPLEX.code, catalogue.VARIABLE_EXTENT.code}

#: What C for this machine's compiler may have.
_HOSTED = {m.code for m in (*_TEXT_ONLY, catalogue.OUTSIDE_STATE, catalogue.PRINTS, catalogue.VARIADIC)}
_HOSTED = (_HOSTED | _TRIED) - _NOT_HOSTED
#: What is the process's, not a thread's.
_OF_THE_PROCESS = {m.code for m in (*_IMPOSSIBLE, catalogue.RANDOM_NUMBERS, catalogue.PRINTS,
                                catalogue.ENDS_PROCESS, catalogue.KEEPS_PLACE)}  # fmt: skip
_PRINTED = {m.code for m in (catalogue.LIBRARY_FUNCTION, catalogue.CALLBACK)}
_OF_A_PROCESS = {catalogue.RECURSION.code, catalogue.ALLOCATION.code, catalogue.ENDS_PROCESS.code,
                 catalogue.KEEPS_PLACE.code, catalogue.RANDOM_NUMBERS.code, catalogue.PRINTS.code}  # fmt: skip


def refuse(program: KernelProgram, stdio: str = "") -> tuple[UnsupportedError | None, UnsupportedError | None]:
    """The obstacle: the first construct that no schedule can print anew; its notes name the others. And the first that
    hides from lowering what the program means. ``stdio``: see `Options`. Raises
    UnsupportedError, or ParseError for a function that is nowhere declared, for the first that nothing can run."""
    bearable = {"": frozenset[str](), "keep": _PROCESSES}.get(stdio, frozenset((catalogue.PRINTS.code,)))
    constructs = [(hard and e.code not in bearable, e) for hard, e in _found(program)]
    impossible = [e for hard, e in constructs if hard]
    if impossible:
        raise _all(impossible)
    obstacles = [unfollowed(e) for _, e in constructs]
    ends = early_ends(program)
    if program.followed and ends.doomed and program.kernel.name not in ends.functions:
        living = [unfollowed(e) for _, e in _found(ends.living(program), ends)]
    else:  # what never returns is done by its own text alone
        living = obstacles
    hidden = [e for e in living if e.code not in _TRIED]
    return _all(obstacles) if obstacles else None, _all(hidden) if hidden else None


def refuse_printing(
    program: KernelProgram, for_host: bool = False, process: bool = False, kernel: bool = True, alone: bool = True
) -> None:
    """Raise UnsupportedError for what cannot be printed anew, for another compiler. The printer itself knows
    which library functions it has. ``for_host``: as C, for a compiler of this machine, with all that a process has.
    ``process``: each thread has what `schedule/private/process.py` makes of a process. ``kernel``: it is printed.
    ``alone``: no other thread of the process runs it."""
    if returns_place(program):
        raise catalogue.RETURNS_POINTER.error(program.kernel.loc, name=program.kernel.name)
    fine = _HOSTED if for_host else _PRINTED | _OF_A_PROCESS if process else _PRINTED
    if all(is_packed(t) for t in program.unit.declarations.structs.values() if t.foreign):
        fine = fine | {catalogue.HOST_LAYOUT.code}
    if not alone:
        fine = fine - _OF_THE_PROCESS
    if not kernel:
        fine = fine | {catalogue.COMPLEX.code, catalogue.RECURSION.code}
    for _, e in _found(program):
        if e.code not in fine:
            raise unfollowed(e)


def refuse_complex(unit: Unit, parts: Iterable[C.Node]) -> None:
    """Raise UnsupportedError for the first complex number among parts that are printed for another compiler."""
    if not unit.declarations.complex:
        return
    for part in parts:
        number = _complex_part(part, unit)
        if number is not None:
            raise _complex(loc_of(number), unit, " in main, or in what it uses,")


def _complex(loc: Loc, unit: Unit, where: str = "") -> UnsupportedError:
    """``where``: in which part of a whole program the number is, if that is not its kernel."""
    main = unit.functions.get("main")
    of_main = where or (main is not None and main.error is None and _complex_part(main.node, unit) is not None)
    way_on = "leave the schedule to auto, or "
    if of_main:
        way_on = "" if where else "main has complex numbers too: "
        way_on += "translate with --target cpu, or "
    return catalogue.COMPLEX.error(loc, where=where, way_on=way_on)


def _all(errors: Sequence[E]) -> E:
    """The first, with a note for each of the others."""
    notes = (Note(e.diagnostic.message, e.diagnostic.loc) for e in errors[1:21])
    return errors[0].with_notes(*notes)


def _found(program: KernelProgram, ends: Ends | None = None) -> Iterator[tuple[bool, Error]]:
    """(whether nothing can run it, error). ``ends``: without what leads to early ends."""
    dead = ends.dead if ends is not None else frozenset[int]()
    unit = program.unit
    if unit.always is not None:
        yield False, unit.always
    for mark in (m for file in unit.pre.units for m in file.marks):
        if "constructor" in mark.attribute:  # what it leaves in variables is what the kernel finds
            yield False, catalogue.UNSUPPORTED_CONSTRUCT.error(mark.loc, construct="a function that runs before main")
    for f in program.functions:
        if (error := f.error or f.sized) is not None:
            yield False, error
    for f in recursive(program):
        yield False, catalogue.RECURSION.error(f.loc, name=f.name)
    for f in program.functions:
        if f.error is None:
            foreign = _foreign(f, program) if unit.declarations.foreign else None
            if foreign is not None:
                yield False, foreign
            if unit.declarations.complex and (number := _complex_part(f.node, unit)) is not None:
                yield False, _complex(loc_of(number), unit)
            deep = too_deep(f.node, ANALYSED)
            if deep is not None:
                loc = loc_of(deep[1])
                yield False, catalogue.NESTED_FOR_ANALYSIS.error(loc, what=deep[0].what, limit=f"{deep[0].most:,}")
            for n in nodes(f.node):
                if isinstance(n, (C.ID, C.FuncDecl)) and id(n) not in dead:
                    yield from _errors(n, program)
    for s in _undefined(program) if program.followed else ():
        message = catalogue.OUTSIDE_STATE if _in_the_library(s.name) else catalogue.UNKNOWN_SOURCE
        yield True, message.error(s.loc, name=s.name)


def _undefined(program: KernelProgram) -> list[Symbol]:
    """The variables of no file that the kernel reaches and no call brings."""
    unit, reached = program.unit, [*touched(program.unit, program.functions)]
    out = [
        s for s in reached if s.is_undefined and not s.builtin and (s in program.constants or holds_pointers(s.type))
    ]
    if not out:
        return out
    parts = [f.node.body for f in program.functions]
    parts += [s.decl.init for s in reached if s.decl is not None and s.decl.init is not None]
    named = {unit.symbols.get(id(n)) for part in parts for n in evaluated(part)}
    return [s for s in out if s in named]


def _foreign(f: FunctionDef, program: KernelProgram) -> Error | None:
    """Why what a function uses is laid out as plain C would not."""
    unit = program.unit
    used = {id(t): t for n in nodes(f.node) if (t := unit.types.get(id(n))) is not None}
    used.update((id(s.type), s.type) for n in nodes(f.node) if (s := unit.symbols.get(id(n))) is not None)
    return next((e for t in used.values() if (e := unit.declarations.why_foreign(t)) is not None), None)


def _complex_part(part: C.Node, unit: Unit) -> C.Node | None:
    """The first expression or variable in a part of a program that is a complex number, or has one."""
    for n in nodes(part):
        t = unit.types.get(id(n)) or (unit.symbols[id(n)].type if id(n) in unit.symbols else None)
        if t is not None and _has_complex(unit.declarations.complete(t)):
            return n
    return None


def _has_complex(t: CType, within: tuple[CType, ...] = ()) -> bool:
    """Whether an object of this type, or what a pointer of it points to, has a complex number in it."""
    match t:
        case Scalar():
            return t.is_complex
        case Array():
            return _has_complex(t.of, within)
        case Pointer():
            return _has_complex(t.to, within)
        case Struct():
            return t not in within and any(_has_complex(m.type, (*within, t)) for m in t.members)
        case Function():
            return any(_has_complex(x, within) for x in (t.returns, *t.params))


def unfollowed(e: Error) -> UnsupportedError:
    """What the parser or the typing ran into, where the compiler may take it."""
    if isinstance(e, UnsupportedError):
        return e
    return catalogue.NOT_FOLLOWED.error(e.diagnostic.loc, reason=e.diagnostic.message)


def recursive(program: KernelProgram) -> Iterator[FunctionDef]:
    """The functions that may call themselves, directly or through others."""
    defined = {f.name: f for f in program.functions if f.error is None}
    position = {name: k for k, name in enumerate(defined)}
    if all(position.get(c, -1) < position[f.name] for f in defined.values() for c in f.calls):
        return  # callees come first: nothing calls what comes after it, or itself
    for f in defined.values():
        reached: set[str] = set()
        pending = [*f.calls]
        while pending:
            name = pending.pop()
            if name in reached or name not in defined:
                continue
            reached.add(name)
            pending += defined[name].calls
        if f.name in reached:
            yield f


def _errors(n: C.Node, program: KernelProgram) -> Iterator[tuple[bool, Error]]:
    unit = program.unit
    match n:
        case C.ID() if id(n) in unit.symbols and unit.symbols[id(n)].kind == "function":
            yield from _function(unit.symbols[id(n)], n, program)
        case C.FuncDecl() if _variadic(n):
            yield False, catalogue.VARIADIC.error(loc_of(n))


def _variadic(n: C.FuncDecl) -> bool:
    return n.args is not None and any(isinstance(p, C.EllipsisParam) for p in n.args.params)


def _function(symbol: Symbol, n: C.ID, program: KernelProgram) -> Iterator[tuple[bool, Error]]:
    name, loc = symbol.name, loc_of(n)
    plain = name.removeprefix("__builtin_")
    if name in program.unit.functions or plain in ALLOWED:
        return
    if name in ("asm", "__asm", "__asm__"):
        yield False, catalogue.ASSEMBLER.error(loc)
    elif plain in libc.PRINTS:
        yield True, catalogue.PRINTS.error(loc, name=name)
    elif plain in _ERRORS:
        yield True, _ERRORS[plain].error(loc, name=name)
    elif plain in _OBSTACLES:
        yield False, _OBSTACLES[plain].error(loc, name=name)
    elif _in_the_library(name) and not (libc.is_pure(name) or name in libc.WRAPPED):
        yield True, catalogue.OUTSIDE_STATE.error(loc, name=name)
    elif name.startswith(_COMPILERS) or symbol.builtin or name in program.unit.declarations.lost:
        yield False, catalogue.LIBRARY_FUNCTION.error(loc, name=name)
    elif _in_the_library(name) or (symbol.implicit and _is_macro(name, program)):
        yield False, catalogue.LIBRARY_FUNCTION.error(loc, name=name)
    elif symbol.implicit:
        like = did_you_mean(name, (*program.unit.functions, *libm.FUNCTIONS))
        yield True, catalogue.UNDECLARED_FUNCTION.error(loc, name=name, meant=f"{like} Or " if like else "")
    else:
        yield True, catalogue.UNKNOWN_SOURCE.error(loc, name=name)


def _is_macro(name: str, program: KernelProgram) -> bool:
    """Whether the host's own headers put something else for a name."""
    texts = [unit.host for unit in program.unit.pre.units]
    return all(texts) and not any(re.search(rf"\b{re.escape(name)}\b", text) for text in texts)


@cache
def _in_the_library(name: str) -> bool:
    """Whether the C library of this machine has such a function."""
    return any(hasattr(library, name) for library in _libraries())


@cache
def _libraries() -> tuple[ctypes.CDLL, ...]:
    libraries = []
    for name in (None, "libm.so.6"):
        try:
            libraries.append(ctypes.CDLL(name))
        except OSError:
            continue
    return tuple(libraries)
