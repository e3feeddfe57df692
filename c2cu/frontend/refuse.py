"""What no schedule can take, found before any of them starts."""

from __future__ import annotations

from pycparser import c_ast as C

from ..base import catalogue, libm
from ..base.ctype import Array, Function
from ..base.diagnostics import Note, UnsupportedError
from .kernel import KernelProgram, nodes
from .parse import loc_of

_GROUPS = {
    catalogue.ALLOCATION: "malloc calloc realloc free alloca aligned_alloc strdup",
    catalogue.INPUT_OUTPUT: "printf fprintf sprintf snprintf vprintf vfprintf puts fputs putchar putc fputc scanf "
    "fscanf sscanf getchar getc fgetc gets fgets ungetc fopen freopen fclose fread fwrite fflush fseek ftell rewind "
    "feof ferror perror getline setvbuf setbuf",
    catalogue.LONG_JUMP: "setjmp longjmp sigsetjmp siglongjmp",
    catalogue.ENDS_PROCESS: "exit _exit quick_exit abort atexit system getenv",
    catalogue.OUTSIDE_STATE: "rand srand random srandom drand48 time clock clock_gettime strtok",
    catalogue.CALLBACK: "qsort bsearch",
}
_REFUSED = {name: message for message, names in _GROUPS.items() for name in names.split()}

#: Library functions a kernel may call.
ALLOWED = frozenset(libm.FUNCTIONS) | frozenset(
    "memcpy memmove memset memcmp memchr strlen strcmp strncmp abs labs llabs frexp frexpf modf modff "
    "isalnum isalpha isblank iscntrl isdigit isgraph islower isprint ispunct isspace isupper isxdigit tolower toupper "
    "inff inf nanf nan huge_val huge_valf".split()
)


def refuse(program: KernelProgram) -> None:
    """Raise UnsupportedError for the first construct that no schedule takes; its notes name all the others."""
    errors = [e for f in program.functions for n in nodes(f.node) for e in _errors(n, program)]
    if errors:
        first, rest = errors[0], errors[1:]
        notes = tuple(Note(e.diagnostic.message, e.diagnostic.loc) for e in rest[:20])
        raise first.with_notes(*notes)


def _errors(n: C.Node, program: KernelProgram) -> list[UnsupportedError]:
    unit, loc = program.unit, loc_of(n)
    match n:
        case C.Goto():
            return [catalogue.GOTO.error(loc)]
        case C.ID() if id(n) in unit.symbols and unit.symbols[id(n)].kind == "function":
            return _function(n.name, loc, program)
        case C.Decl() if id(n) in unit.symbols and isinstance(unit.symbols[id(n)].type, Array):
            return []
        case C.FuncDecl() if unit.declarations.type(n, unit.scope) and _variadic(unit.declarations.type(n, unit.scope)):
            return [catalogue.VARIADIC.error(loc)]
    return []


def _variadic(t: object) -> bool:
    return isinstance(t, Function) and t.variadic


def _function(name: str, loc, program: KernelProgram) -> list[UnsupportedError]:
    plain = name.removeprefix("__builtin_")
    if name in program.unit.functions or plain in ALLOWED:
        return []
    if name in ("asm", "__asm", "__asm__"):
        return [catalogue.ASSEMBLER.error(loc)]
    return [_REFUSED.get(plain, catalogue.UNKNOWN_SOURCE).error(loc, name=name)]
