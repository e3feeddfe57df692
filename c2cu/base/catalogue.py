"""The catalogue of errors: each code, what it means, its wording, and the way on. Wording stands here, nowhere else.

A place that finds a mistake writes ``raise catalogue.RECURSION.error(loc, name=f.name)``: it passes values, not
sentences. One code has one meaning. docs/errors.md is printed from this file (``make errors``), with the output of an
example for every code (tests/error_examples.py).

Codes: 001-009 and 100-119 reading and parsing, 010-029 and 130-199 C that is not supported, 030-039 obliviousness,
040-059, 200-239 and 420-439 inputs, 060-069 and 240-259 compilers and devices, 070-078 and 260-279 splitting ``main``,
080-099 and 280-399 what single schedules cannot take, 120-129 paths from tables, 400-419 states that stay from step to
step.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

from .diagnostics import (
    CompileError,
    Diagnostic,
    Error,
    ExitError,
    InputError,
    InputTypeError,
    Loc,
    MismatchError,
    Note,
    NotObliviousError,
    ParseError,
    UnsupportedError,
)

E = TypeVar("E", bound=Error)


@dataclass(frozen=True)
class Message(Generic[E]):
    """One code. ``text`` and ``hint`` are templates whose fields the place that raises fills in.

    ``kind``: the class that is raised. ``meaning``: what is wrong, whatever the program. ``fix``: how to go on, where
    ``hint`` alone does not say it in general.
    """

    code: str
    kind: type[E]
    meaning: str
    text: str
    hint: str = ""
    fix: str = ""

    def error(self, loc: Loc | None = None, notes: tuple[Note, ...] = (), **values: object) -> E:
        """The error to raise. Lists among ``values`` are printed with commas between."""
        shown = {name: _shown(v) for name, v in values.items()}
        return self.kind(self.code, self.text.format(**shown), loc, self.hint.format(**shown).strip(), notes)

    def diagnostic(self, severity: str, loc: Loc | None = None, **values: object) -> Diagnostic:
        """The same as a warning or a note that is printed."""
        shown = {name: _shown(v) for name, v in values.items()}
        return Diagnostic(severity, self.code, self.text.format(**shown), loc, self.hint.format(**shown).strip())

    def says(self, **values: object) -> str:
        """The text alone."""
        return self.text.format(**{name: _shown(v) for name, v in values.items()})


def _shown(value: object) -> object:
    return ", ".join(map(str, value)) if isinstance(value, list) else value


# Reading and parsing

CANNOT_READ_SOURCE = Message(
    "C2CU001",
    ParseError,
    "The C file cannot be read.",
    "cannot read '{path}': {reason}",
    "{meant}",
    "Check the path and its permissions.",
)
NEITHER_FILE_NOR_TEXT = Message(
    "C2CU100",
    ParseError,
    "The source is neither the name of a file nor C text.",
    "cannot read '{path}': {reason}",
    "C text needs a newline or a brace; anything else is taken for a file's name",
)
BINARY_SOURCE = Message(
    "C2CU101",
    ParseError,
    "The source is binary data.",
    "'{name}' is binary data, not C text",
    "give a C source file, or C text",
)
EMPTY_SOURCE = Message("C2CU102", ParseError, "The source is empty.", "'{name}' is empty", "it should hold a C program")
PREPROCESSOR = Message(
    "C2CU103",
    ParseError,
    "The C preprocessor rejects the source; the message is its own.",
    "{message}",
    fix="Correct the directive. The source must pass through your own C compiler first.",
)
HEADER_NOT_FOUND = Message(
    "C2CU104",
    ParseError,
    "An included header is not found.",
    "{message}",
    "give the header's folder with -I",
)
SYNTAX_ERROR = Message(
    "C2CU002",
    ParseError,
    "The text is not C.",
    "syntax error{detail}",
    "correct it until gcc or clang accepts the file as it stands",
)
ENDS_TOO_EARLY = Message(
    "C2CU105",
    ParseError,
    "The file ends inside a function or a declaration.",
    "syntax error: the file ends too early",
    "is a brace or a semicolon missing?",
)
NESTED_TOO_DEEPLY = Message(
    "C2CU106",
    ParseError,
    "Expressions, statements or declarations are nested too deeply.",
    "{what} are nested more than {limit} deep",
    "put the inner part into a statement, or a function, of its own",
)
OTHER_LANGUAGE = Message(
    "C2CU183",
    ParseError,
    "The source is C++ or CUDA, and not C.",
    "this is {language}, but c2cu takes C",
    "{way_on}",
    'Put what runs for each input into a .c file of its own, which C++ calls as a function that is extern "C":'
    " examples/from_cpp shows both. What a CUDA kernel does for one input is a C function; c2cu writes the CUDA code"
    " for all of them.",
)
GNU_EXTENSION = Message(
    "C2CU107",
    UnsupportedError,
    "The compiler accepts the source, but the parser does not know this GNU extension of C.",
    "this GNU extension of C is not supported{which}",
    "write it in standard C; on the CPU, schedule 'native' runs it as it stands",
)
NOT_FOLLOWED = Message(
    "C2CU166",
    UnsupportedError,
    "The compiler accepts the source, but c2cu does not understand it.",
    "c2cu does not understand this: {reason}",
    "write it with other constructs: docs/language.md lists the supported subset of C",
)
INVALID_C = Message(
    "C2CU008",
    ParseError,
    "The host's C compiler rejects the source; the message is its own.",
    "{message}",
    "{way_on}",
    fix="Correct the C until your compiler accepts it.",
)
DEFINED_TWICE = Message(
    "C2CU114",
    ParseError,
    "Two files of a program define the same variable or function, which the linker refuses.",
    "'{name}' is defined in two files",
    "make one of them 'static', or declare it 'extern' in all files but one",
)
DECLARED_OTHERWISE = Message(
    "C2CU009",
    ParseError,
    "A file declares a variable or function with another type than the file that defines it.",
    "'{name}' is declared as '{declared}', and defined as '{defined}'",
    "declare it in a header that both files include",
)
TOO_MANY_INITIALISERS = Message(
    "C2CU003",
    UnsupportedError,
    "An initialiser in braces has more elements than the object it initialises.",
    "too many initialisers for '{type}'",
    "remove the surplus ones, or enlarge the array",
)
UNKNOWN_TYPE = Message(
    "C2CU108",
    ParseError,
    "A type is not declared, or its words do not name a type together.",
    "unknown type '{type}'",
    "declare it before this line, or include the header that does",
)
NEGATIVE_EXTENT = Message(
    "C2CU109",
    ParseError,
    "An array has a negative extent.",
    "the extent of an array is negative ({value})",
    "an extent is at least 0",
)
NOT_CONSTANT = Message(
    "C2CU110",
    ParseError,
    "C requires a constant expression at this place.",
    "expected a constant expression",
    "use a literal, an enumerator, a macro or sizeof",
)
BAD_LITERAL = Message(
    "C2CU111",
    ParseError,
    "A literal is not one of C's.",
    "{reason}",
    fix="Write the literal as C defines it.",
)
UNKNOWN_SIZE = Message(
    "C2CU112",
    ParseError,
    "The size of a type is needed where the type is not complete.",
    "sizeof of a type whose size is not known here",
    "define the type before this line",
)
CONSTANT_DIVISION_BY_ZERO = Message(
    "C2CU113",
    ParseError,
    "A constant expression divides by zero.",
    "division by zero in a constant expression",
    "correct the divisor",
)
NOT_SUBSCRIPTABLE = Message(
    "C2CU115",
    ParseError,
    "Something that is neither an array nor a pointer is subscripted.",
    "the subscripted value is neither an array nor a pointer",
    "check the declaration: it has fewer dimensions than this expression uses",
)
NOT_A_POINTER = Message(
    "C2CU116",
    ParseError,
    "Something that is not a pointer is dereferenced.",
    "the operand of '*' is not a pointer",
    "remove the '*', or declare a pointer",
)
NOT_ARITHMETIC = Message(
    "C2CU117",
    ParseError,
    "An operator needs a number.",
    "expected a number, but this is of type '{type}'",
    "name the member or the element that holds the number",
)
NOT_A_FUNCTION = Message(
    "C2CU118",
    ParseError,
    "Something that is not a function is called.",
    "the called value is not a function",
    "check the name before the parenthesis",
)
NOTHING_TO_DESIGNATE = Message(
    "C2CU119",
    ParseError,
    "A designator names a part of something that has no parts.",
    "this designator names a part of '{type}', which has no parts",
    "initialise it with a value",
)
UNDECLARED = Message(
    "C2CU004",
    ParseError,
    "A name is used that is not declared.",
    "'{name}' is not declared",
    "declare it before this line, or include the header that does",
)
UNDECLARED_FUNCTION = Message(
    "C2CU130",
    ParseError,
    "A function is called that is not declared.",
    "function '{name}' is not declared",
    "{meant}include the header that declares it, or put its definition before this line",
    "Include the header that declares it, or put its definition before this line.",
)
NOT_A_STRUCT = Message(
    "C2CU132",
    ParseError,
    "A member is taken of something that is not a struct.",
    "'.{member}' is taken of something that is not a struct",
    "check the declaration of what stands before the member's name",
)
NO_MEMBER = Message(
    "C2CU133",
    ParseError,
    "A struct has no member of this name.",
    "{struct} has no member '{member}'",
    "{meant}",
    "Check the member's name against the definition of the struct.",
)
UNKNOWN_MACRO = Message(
    "C2CU005",
    ParseError,
    "-D or defines= names a macro that the file does not use.",
    "unknown macro '{name}' (-D): the file does not use it",
    "{meant} the file's macros: {macros}",
    "Name one of the macros that the file uses.",
)
BAD_MACRO_NAME = Message(
    "C2CU134",
    ParseError,
    "-D or defines= names something that cannot be the name of a macro.",
    "'{name}' is not the name of a macro (-D)",
    "write -D NAME=VALUE",
)
DEFINE_WITHOUT_EFFECT = Message(
    "C2CU135",
    ParseError,
    "The program redefines a macro that -D or defines= sets.",
    "-D {name} has no effect: the program says '{directive}' here",
    "write '#ifndef {name}' around it",
    "Write `#ifndef NAME` around the definition in the file.",
)
NO_KERNEL = Message(
    "C2CU006",
    ParseError,
    "The source has no function that could be the kernel.",
    "no kernel function found",
    "move what runs for each input into a function, and put '#pragma kernel' before its call in main; where the source "
    "only declares that function, give the file that defines it too",
)
SEVERAL_KERNELS = Message(
    "C2CU136",
    ParseError,
    "Several functions could be the kernel.",
    "several functions could be the kernel: {names}",
    "put '#pragma kernel' before its call in main, or name it with fn= / --fn",
)
UNKNOWN_FUNCTION = Message(
    "C2CU137",
    ParseError,
    "--fn or fn= names a function that the source does not define.",
    "there is no function '{name}'",
    "{meant} functions of this file: {functions}",
    "Name one of the functions that the file defines.",
)
PRAGMA_CLAUSE = Message(
    "C2CU007",
    ParseError,
    "The words after '#pragma kernel' or '#pragma c2cu' are none that it has.",
    "'#pragma {words}' is not understood",
    "write {right}",
    "Write `#pragma kernel`, `#pragma kernel shared(name, ...)` or `#pragma c2cu declassify(name)`.",
)
OUTSIDE_FUNCTIONS = Message(
    "C2CU185",
    ParseError,
    "A pragma that ends secrecy from there on stands outside of functions.",
    "'#pragma c2cu declassify' stands outside of functions",
    "write it among the statements of a function, where what it names is no secret from there on",
)
PRAGMA_MISSPELT = Message(
    "C2CU138",
    ParseError,
    "A pragma looks like a misspelt '#pragma kernel'.",
    "'#pragma {word}' is not known",
    "did you mean '#pragma kernel'?",
)
TWO_PRAGMAS = Message(
    "C2CU139",
    ParseError,
    "The function main has more than one '#pragma kernel'.",
    "there are two '#pragma kernel'",
    "keep one, or name the function with fn= / --fn",
)
PRAGMA_WITHOUT_CALL = Message(
    "C2CU140",
    ParseError,
    "'#pragma kernel' does not stand before the call of a function of the source.",
    "'#pragma kernel' is not followed by a call of a function of this file",
    "put it right before the call: f(..); or x = f(..); or T x = f(..);",
)

# C that no schedule takes

COMPLEX = Message(
    "C2CU011",
    UnsupportedError,
    "The schedule prints the program's own text for another compiler, and that text has complex numbers.",
    "complex numbers{where} are not printed for another compiler",
    "{way_on}keep real and imaginary parts in a struct or in two arrays",
    "Take schedule 'auto', or keep real and imaginary parts in a struct or in two arrays. Of a whole program whose"
    " `main` has complex numbers, `translate --target cpu` takes them as they stand.",
)
VARIABLE_EXTENT = Message(
    "C2CU012",
    UnsupportedError,
    "Arrays of variable length are not supported.",
    "the extent of an array is not a constant",
    "give it a constant extent that is large enough for every input, or let it come from a number that all inputs "
    "share; of a kernel's parameter, say it by shapes= / --shape; on the CPU, schedule 'native' runs it as it stands",
)
UNSUPPORTED_CONSTRUCT = Message(
    "C2CU014",
    UnsupportedError,
    "A construct of C is not supported.",
    "{construct} is not supported",
    "write it with other constructs: docs/language.md lists the supported subset of C",
)
RETURNS_POINTER = Message(
    "C2CU015",
    UnsupportedError,
    "All that comes out of the kernel is a pointer that it returns, and no array goes in that it could point into; or "
    "the schedule prints the program's own text, to which only the pointer is known.",
    "kernel '{name}' returns a pointer, and writes nothing",
    "return a number, or write the result to an array parameter",
)
KERNEL_PARAMETER = Message(
    "C2CU142",
    UnsupportedError,
    "A parameter of the kernel is a pointer to pointers of which no shape says how many they are.",
    "parameter '{name}' of the kernel is a '{type}'",
    "give the shape of its rows: shapes={{'{name}': (2, 3)}} / --shape {name}=2,3 for two rows of three",
    "Give the shape of the rows that a `T **` points to, with `shapes=` / `--shape`.",
)
UNNAMED_TYPE = Message(
    "C2CU184",
    UnsupportedError,
    "A parameter of the kernel is a struct or a union that has no name, which the schedule has to spell.",
    "parameter '{name}' of the kernel is a '{type}', whose type has no name",
    "declare the type before the kernel, with a name: struct s {{ ... }};",
    "Declare the type before the kernel, with a name.",
)
THREADS_OWN = Message(
    "C2CU186",
    UnsupportedError,
    "In a library of schedule 'native', a function's constant is the address of a variable, of which each thread has"
    " its own.",
    "constant '{name}' has the address of '{other}', of which each thread of a library has its own",
    "leave out 'static'",
)
NO_NATIVE_LIBRARY = Message(
    "C2CU187",
    UnsupportedError,
    "As it stands, the kernel has what a library cannot have: state that the threads of a process share, or that a"
    " thread keeps from input to input, or C that is not printed again.",
    "as it stands, the kernel cannot be in a library: {reason}",
    "{way_on}; c2cu run and c2cu.bulk run it as it stands",
    "Write that as C of the kernel's own: a status that is returned in place of an early end, say. `c2cu run` and"
    " `c2cu.bulk` run it as it stands.",
)
INDIRECT_PARAMETER = Message(
    "C2CU177",
    UnsupportedError,
    "A parameter of the kernel is a pointer to a function, or to pointers to pointers: no array has that form.",
    "parameter '{name}' of the kernel is a '{type}'",
    "write a function that calls '{kernel}' with it, and has arrays of numbers for what it leads to; name it with"
    " fn= / --fn",
    "Write a function that has arrays of numbers, sets up the pointers and calls the kernel; name it with `--fn`.",
)
RECURSION = Message(
    "C2CU020",
    UnsupportedError,
    "A function of the kernel calls itself, directly or through others.",
    "'{name}' is recursive",
    "rewrite it with a loop, or with an explicit stack in an array; on the CPU, schedule 'native' runs it as it stands",
)
VARIADIC = Message(
    "C2CU084",
    UnsupportedError,
    "The kernel declares a function with '...'.",
    "a function with '...' is not supported in a kernel",
    "give it a fixed list of parameters",
)
ASSEMBLER = Message(
    "C2CU085",
    UnsupportedError,
    "Inline assembly is not supported.",
    "inline assembly is not supported",
    "write it in C; on the CPU, schedule 'native' runs it as it stands",
)
UNKNOWN_SOURCE = Message(
    "C2CU086",
    UnsupportedError,
    "The kernel uses a function or a variable that is defined in another file.",
    "'{name}', which the kernel uses, is defined in no file that was given",
    "add its definition, or give the file that has it too: c2cu run k.c other.c, c2cu.bulk(['k.c', 'other.c'], ...)",
)
ALLOCATION = Message(
    "C2CU143",
    UnsupportedError,
    "The kernel allocates memory.",
    "the kernel allocates memory with '{name}'",
    "use an array of the largest size that is needed, or a size that comes from a number that all inputs share; on the "
    "CPU, schedule 'native' runs it as it stands",
)
INPUT_OUTPUT = Message(
    "C2CU144",
    UnsupportedError,
    "The kernel reads or prints.",
    "the kernel does input or output with '{name}'",
    "do it in main, before or after the kernel",
)
SYSTEM_CALL = Message(
    "C2CU164",
    UnsupportedError,
    "The kernel starts a process or a thread, or handles signals.",
    "the kernel starts a process or a thread, or handles signals, with '{name}'",
    "do it in main, before or after the kernel",
)
LONG_JUMP = Message(
    "C2CU145",
    UnsupportedError,
    "The kernel jumps out of a function.",
    "the kernel uses '{name}' to jump out of a function",
    "return a status instead",
)
ENDS_PROCESS = Message(
    "C2CU146",
    UnsupportedError,
    "The kernel ends the process, or reads its environment.",
    "the kernel ends the process, or reads its environment, with '{name}'",
    "return a status instead, or make the answer an input; on the CPU, schedule 'native' ends that input alone",
)
ENDS_EARLY = Message(
    "C2CU370",
    UnsupportedError,
    "An input may end early, by exit, abort or a failed assert, which only schedules gang and native (CPU) have.",
    "an input may end early here, which only schedules gang and native have",
    "{way_on}",
    "Leave `schedule=` / `--schedule` out: on the CPU, and in a whole program, the default takes it. A library has no"
    " form of these schedules, so that its kernel is to return a status instead.",
)
NO_ELEMENTS = Message(
    "C2CU371",
    UnsupportedError,
    "A translation to CUDA has an array without elements, which only GNU C has.",
    "'{name}' has no elements, and CUDA has no such arrays",
    "give it a length of at least 1, with -D where a macro has it; --target cpu takes it as it is",
)
OUTSIDE_STATE = Message(
    "C2CU147",
    UnsupportedError,
    "The kernel calls a library function that depends on state outside the program.",
    "'{name}' depends on state outside the program",
    "make its result an input, or write it in C",
)
KEEPS_PLACE = Message(
    "C2CU182",
    UnsupportedError,
    "The kernel calls strtok, which remembers its place in the C library, and this schedule has no such place for each"
    " input.",
    "this schedule does not have '{name}', which remembers its place from call to call",
    "use strtok_r; on the CPU, schedule 'native' runs it as it stands",
)
RANDOM_NUMBERS = Message(
    "C2CU181",
    UnsupportedError,
    "The kernel calls the C library's generator of random numbers, which this schedule does not have.",
    "this schedule does not have the C library's random numbers: '{name}'",
    "choose schedule 'auto': other schedules give every input the numbers that a fresh process would draw",
    "Choose schedule 'auto', or 'native' with a C library other than glibc, or write the generator in C.",
)
NOT_ELF = Message(
    "C2CU258",
    CompileError,
    "The schedule native needs a compiler that makes ELF files, as on Linux.",
    "the compiler makes no ELF files, which the schedule native needs",
    "another schedule runs what can be analysed: see 'c2cu explain'",
)
PRINTS = Message(
    "C2CU170",
    UnsupportedError,
    "The kernel prints.",
    "the kernel prints with '{name}'",
    'print in main, after the kernel; stdio="discard" / --stdio discard drops what it prints; under its default'
    " schedule and 'native', translate prints",
)
STATUS_TAKEN = Message(
    "C2CU172",
    InputError,
    "The exit status is asked for, and a variable of the program has its name.",
    "a variable of the program is called 'status', as the exit status is",
    "call the variable something else",
)
EXITED = Message(
    "C2CU173",
    ExitError,
    "Some inputs ended early, by exit, abort, a failed assert, or a fault such as a division by zero.",
    "{count} of {p} inputs ended early, the first of them input {first} with status {status}{why}",
    "status=True / --out status=FILE makes the status an output",
    "The error's outputs and status are complete: see ExitError.",
)
FAULT_IN_PLACE = Message(
    "C2CU174",
    ExitError,
    "An input faults, and its results would have gone to where the inputs are.",
    "an input divides by zero, or the like, and the inputs that are done with it may be overwritten",
    "give out= arrays of their own, or none",
)
CALLBACK = Message(
    "C2CU148",
    UnsupportedError,
    "The kernel calls a library function that calls a function of the program.",
    "'{name}' calls back a function of the program",
    "write the sort or search as a loop",
)
LAYOUT_ATTRIBUTE = Message(
    "C2CU091",
    UnsupportedError,
    "An attribute or a pragma changes the layout of a type or the meaning of a declaration.",
    "{attribute} is not supported",
    "remove it: sizes and offsets are then those of plain C",
)
HOST_LAYOUT = Message(
    "C2CU176",
    UnsupportedError,
    "An attribute or a pragma moves the members of a struct, and the schedule prints the struct anew.",
    "{attribute} moves members: a schedule that prints the struct anew has no word for it",
    "remove it, or use another schedule",
)
GOTO = Message(
    "C2CU149",
    UnsupportedError,
    "The kernel jumps into a block in which the jump does not stand.",
    "this goto leads into a block in which it does not stand",
    "put the label before that block, or write a loop; on the CPU, schedule 'native' runs it as it stands",
)

# What lowering to the flat IR cannot follow: every schedule needs it but 'native', 'private' and 'thread'

BIT_FIELD = Message(
    "C2CU017",
    UnsupportedError,
    "The kernel uses a bit-field of 33 to 63 bits.",
    "'{name}' is a bit-field of 33 to 63 bits",
    "use a whole integer",
)
UNION_SIZES = Message(
    "C2CU018",
    UnsupportedError,
    "A union of members of different sizes has a pointer or a long double among them.",
    "'{name}' is a union of a pointer and other members",
    "keep one variable for each; on the CPU, schedule 'native' runs it as it stands",
)
UNION_BOOL = Message(
    "C2CU150",
    UnsupportedError,
    "The first member of a union is a _Bool.",
    "'{name}' is a union whose first member is a _Bool",
    "put it last",
)
OTHER_TYPE = Message(
    "C2CU019",
    UnsupportedError,
    "Memory is accessed as another type than its own, and one of the two is not a number, such as a pointer.",
    "'{name}' of type '{type}' is accessed as '{other}'",
    "access it with its own type, and convert the value",
)
TOO_MANY_STATEMENTS = Message(
    "C2CU021",
    UnsupportedError,
    "The kernel is too long when all its calls are inlined.",
    "the kernel has more than {limit} statements after inlining",
    "call a long function in one place, in a loop, instead of in many",
)
NESTED_FOR_ANALYSIS = Message(
    "C2CU016",
    UnsupportedError,
    "Loops, conditions or calls are nested more deeply than the analyses go.",
    "{what} are nested more than {limit} deep",
    "give the inner part statements of its own",
)
POINTER_IN_MEMORY = Message(
    "C2CU022",
    UnsupportedError,
    "A pointer is stored in memory where c2cu cannot follow it.",
    "'{name}' stores a pointer in memory",
    "store an index instead of the pointer; in place of memory from malloc, declare an array, whose length may be a"
    " macro for -D",
)
ADDRESS_IN_INITIALISER = Message(
    "C2CU153",
    UnsupportedError,
    "An initialiser stores an address.",
    "the initialiser of '{name}' stores an address",
    "store an index instead of the address",
)
NAN_BITS = Message(
    "C2CU154",
    UnsupportedError,
    "A union's integer member is initialised with the bits of a NaN.",
    "the bits of a NaN are an initial value",
    "assign the value in the kernel",
)
LONG_DOUBLE = Message(
    "C2CU023",
    UnsupportedError,
    "The kernel computes in long double.",
    "{what} is long double",
    "use double",
)
SHARED_WRITTEN = Message(
    "C2CU024",
    UnsupportedError,
    "The kernel writes a variable that all inputs share.",
    "'{name}' is shared by all inputs and cannot be written",
    "take it out of shared, or write to a copy",
)
STRING = Message(
    "C2CU025",
    UnsupportedError,
    "The kernel uses a string of wide characters.",
    "a string of wide characters is used as data",
    "put them into a const array of integers",
)
NULL_FOLLOWED = Message(
    "C2CU027",
    UnsupportedError,
    "A null pointer is dereferenced, moved or passed to a memory function.",
    "a null pointer is dereferenced",
    "let it point to an object first",
)
FUNCTION_AS_DATA = Message(
    "C2CU155",
    UnsupportedError,
    "A function is read as if it were data.",
    "a function is used as data",
    "call it",
)
POINTER_UNSET = Message(
    "C2CU156",
    UnsupportedError,
    "A pointer is used before it is set.",
    "pointer '{name}' is used before it is set",
    "set it where it is declared",
)
SEVERAL_TARGETS = Message(
    "C2CU028",
    UnsupportedError,
    "A pointer may point into one of very many objects.",
    "pointer '{name}' may point into too many objects here",
    "put the objects into one array, and choose the index; or swap indices instead of pointers",
)
POINTER_AS_NUMBER = Message(
    "C2CU029",
    UnsupportedError,
    "A pointer is used as a number.",
    "a pointer is used as a number",
    "compute with the index, not with the address",
)
POINTER_FROM_NUMBER = Message(
    "C2CU158",
    UnsupportedError,
    "A pointer is made from an integer.",
    "a pointer is made from an integer",
    "point to an element of an array",
)
NULL_COMPARED = Message(
    "C2CU159",
    UnsupportedError,
    "A null pointer is ordered or subtracted.",
    "a null pointer is compared with <, or subtracted",
    "compare it with == or !=",
)
DIFFERENT_OBJECTS = Message(
    "C2CU160",
    UnsupportedError,
    "Pointers into different objects are ordered or subtracted, which C does not define.",
    "pointers into different objects are compared or subtracted",
    "compare indices into one array",
)
LIBRARY_FUNCTION = Message(
    "C2CU080",
    UnsupportedError,
    "The kernel calls a library function that only the C compiler knows.",
    "the library function '{name}' is not supported here",
    "write it as a loop, or leave the schedule to auto",
)
NOT_CORRECT = Message(
    "C2CU178",
    UnsupportedError,
    'With math="correct" (--math correct) the kernel calls a function that c2cu has not rounded correctly.',
    "there is no correctly rounded '{name}'",
    "{other}--math host",
    "Use the function of float, where docs/math.md lists that; or leave all of them to the machine's library, with"
    " --math host.",
)
CALL_IN_INITIALISER = Message(
    "C2CU179",
    UnsupportedError,
    "An initialiser calls a function of the library, which C compilers accept where they know the value themselves.",
    "the initialiser of '{name}' calls '{function}', whose value only the compiler knows",
    "write the value as a number, with all its digits, or compute it in the kernel",
    "Write the value as a number with all its digits (`%.17g` prints those of a double, `%a` its bits), or make the"
    " variable a local one, which the kernel computes. Schedule native of the CPU takes the initialiser as it stands.",
)
MEMORY_OF_STRUCT = Message(
    "C2CU161",
    UnsupportedError,
    "A memory function works on some members of a struct, how many is known only when it runs.",
    "a memory function works on members of a struct, as many as a variable says",
    "assign the struct: a = b, or copy a constant number of bytes",
)
COPIED_GAPS = Message(
    "C2CU165",
    UnsupportedError,
    "The bytes between a struct's members are copied along, and they may be other than zero. Lanes hold members only.",
    "the bytes between the members of '{name}' are copied, and they may be other than zero",
    "set the whole struct to zero before its members are set, or copy the members",
)
DECLASSIFY = Message(
    "C2CU167",
    ParseError,
    "'#pragma c2cu declassify' names no variable.",
    "'#pragma c2cu declassify' takes a variable, or a member of one, in parentheses, not {given}",
    "write '#pragma c2cu declassify(x)': from there on, what x holds is no secret",
)
DECLASSIFIED_PART = Message(
    "C2CU168",
    UnsupportedError,
    "A part of an array is declassified. Secrecy ends for whole arrays.",
    "'{name}' may be a part of '{whole}', of which only the whole can be declassified",
    "name the array, or copy the part to an array of its own first",
)
MEMSET_VALUE = Message(
    "C2CU162",
    UnsupportedError,
    "memset fills pointers with other bytes than 0.",
    "memset of pointers to other bytes than 0",
    "write it as a loop",
)
INDIRECT_CALL = Message(
    "C2CU082",
    UnsupportedError,
    "A function is called through a pointer whose value depends on the run.",
    "the kernel calls a function through a pointer",
    "call the functions by their names, in the arms of an if or a switch",
)
NESTED_CASE = Message(
    "C2CU083",
    UnsupportedError,
    "A case label stands inside another statement of the switch.",
    "a case label stands inside another statement",
    "put the labels at the top level of the switch; on the CPU, schedule 'native' runs it as it stands",
)
BEFORE_FIRST_CASE = Message(
    "C2CU163",
    UnsupportedError,
    "A statement of a switch stands before its first label.",
    "a statement of a switch stands before its first case",
    "put it before the switch",
)

# What the caller gives beside arrays

UNKNOWN_VARIABLE = Message(
    "C2CU041",
    InputError,
    "An argument names a variable that the program does not have in this role.",
    "unknown {role} '{name}'",
    "{meant} the {role}s: {known}",
    "Name one of the variables that the message lists. Names are those of the C source.",
)
MORE_THAN_ONE_ELEMENT = Message(
    "C2CU201",
    InputError,
    "One element is given for a pointer that the kernel steps or subscripts.",
    "input '{name}' has shape {shape}, expected {expected}: more than its first element is used",
    "give an array of shape {expected}{rows}",
    "Give the array one more axis: a[None] makes an array of n elements one input.",
)
UNKNOWN_CHOICE = Message(
    "C2CU051",
    InputError,
    "An option has a value that it does not know.",
    "{option} cannot be {value}",
    "choose one of {choices}",
    "Choose one of the values that the message lists.",
)
FAST_AND_CORRECT = Message(
    "C2CU424",
    InputError,
    'math="correct" asks for each function\'s one correct result, fp="fast" for approximate functions.',
    "--math correct and --fp fast contradict each other",
    "--fp reassociate leaves the functions as they are",
)
WRONG_KIND = Message(
    "C2CU058",
    InputTypeError,
    "An argument is of the wrong Python type.",
    "{argument} cannot be {value}",
    "give {expected}",
    "Give a value of the type that the message names.",
)
BAD_EXTENT = Message(
    "C2CU200",
    InputError,
    "An extent in shapes= or --shape is less than 1.",
    "the shape of '{name}' is given as {extents}",
    "give extents of at least 1",
)

# Compilers and devices

NO_COMPILER = Message(
    "C2CU060",
    CompileError,
    "This machine has no C compiler.",
    "no C compiler found (looked for $CC, cc, gcc, clang and the package ziglang)",
    "install gcc, or run: pip install 'c2cu[zig]'",
)
CC_NOT_FOUND = Message(
    "C2CU240",
    CompileError,
    "The environment variable CC names a compiler that is not installed.",
    "the C compiler '{command}' of $CC is not found",
    "unset CC, or set it to a compiler that is installed",
)
COMPILER_DOES_NOT_START = Message(
    "C2CU241",
    CompileError,
    "The C compiler is found, but cannot be executed.",
    "the C compiler '{command}' does not start: {reason}",
    "set CC to a compiler that works",
)
REJECTED = Message(
    "C2CU061",
    CompileError,
    "The compiler rejects the code that c2cu generated.",
    "{compiler} rejects the generated code: {message}\n{lines}",
    "this is a fault of c2cu: please report it with the C file",
)
COMPILER_FAILED = Message(
    "C2CU242",
    CompileError,
    "The compiler failed without a message about the code.",
    "{compiler} failed: {message}",
    "check that it compiles a simple C file",
)
COMPILER_HANGS = Message(
    "C2CU250",
    CompileError,
    "The C compiler does not say what it is.",
    "the C compiler '{command}' does not answer to --version within {seconds} seconds",
    "set CC to a compiler that works",
)
CACHE_NOT_TRUSTED = Message(
    "C2CU251",
    CompileError,
    "Others could change what is kept in the cache folder. Until the process ends, a private folder is used instead.",
    "compiled programs are not kept in '{folder}': {reason}",
    "set C2CU_CACHE_DIR to a folder of yours that is closed to others (chmod 700)",
)
NO_SCRATCH = Message(
    "C2CU252",
    CompileError,
    "No folder can be written to in which the compiler could leave its output.",
    "there is no room for temporary files: {reason}",
    "set TMPDIR to a folder that can be written to",
)
NOT_EXECUTABLE = Message(
    "C2CU243",
    CompileError,
    "The operating system executes nothing in memory and nothing in the cache folder, or not what the compiler made.",
    "programs in '{folder}' cannot be executed: {reason}",
    "set C2CU_CACHE_DIR to a folder where programs may be executed",
)

# What single schedules cannot take: the others still can
NOT_TRACED = Message(
    "C2CU093",
    UnsupportedError,
    "The schedule needs proofs, and the kernel could not be executed symbolically to get them.",
    "nothing is proved about the loops of the kernel: {reason}",
    "leave the schedule to auto; explain says what was not proved",
)
MAY_LEAVE_ARRAY = Message(
    "C2CU280",
    UnsupportedError,
    "The schedule needs every subscript to be inside its array, and one may not be.",
    "a subscript may leave its array",
    "correct the subscript, or guard it with a condition on the loop counters",
)
PART_OF_STRUCT = Message(
    "C2CU090",
    UnsupportedError,
    "The schedule takes arrays of numbers, and this one is part of a struct.",
    "'{name}' is part of a struct",
    "make it an array of its own",
)
NO_PARALLEL_LOOP = Message(
    "C2CU281",
    UnsupportedError,
    "No loop of the kernel has independent iterations, which 'block' needs.",
    "no loop has independent iterations",
    "leave the schedule to auto",
)
BLOCK_MEMORY = Message(
    "C2CU094",
    UnsupportedError,
    "The arrays of one input are larger than what a block works in.",
    "an input takes {need} bytes, but a block works in at most {most}",
    "use a smaller type or a smaller extent, or leave the schedule to auto",
)
BLOCK_SEQUENTIAL = Message(
    "C2CU092",
    UnsupportedError,
    "Too much of the kernel runs outside the parallel loops.",
    "the sequential part takes more than {most} steps: 'block' needs parallel loops there",
    "leave the schedule to auto",
)
BLOCK_TOO_LONG = Message(
    "C2CU283",
    UnsupportedError,
    "A loop inside a parallel one has too many iterations to be written out.",
    "a loop inside a parallel one is too long to be written out",
    "leave the schedule to auto",
)
BLOCK_RUN_TIME = Message(
    "C2CU284",
    UnsupportedError,
    "A value that decides which iterations run is known only at run time.",
    "'{name}' is known only at run time",
    "make it a constant, for example with -D",
)
BLOCK_SOME_ITERATIONS = Message(
    "C2CU285",
    UnsupportedError,
    "A value is a compile-time constant in some iterations of a parallel loop only.",
    "'{name}' has a compile-time value in some iterations only",
    "set it in every iteration",
)
BLOCK_BRANCH = Message(
    "C2CU286",
    UnsupportedError,
    "A branch that depends on data stands outside the parallel loops.",
    "a branch on data stands outside every parallel loop",
    "move it into the loop",
)
BLOCK_THREADS = Message(
    "C2CU287",
    UnsupportedError,
    "No number of threads divides the arrays evenly.",
    "no number of threads fits these arrays",
    "use extents with a common divisor, or leave the schedule to auto",
)
BLOCK_OWNER = Message(
    "C2CU288",
    UnsupportedError,
    "A parallel loop accesses an array in a way that cannot be distributed over the threads' registers.",
    "the accesses to '{name}' cannot be distributed over the threads' registers",
    "leave the schedule to auto",
)
BLOCK_SIZES = Message(
    "C2CU320",
    UnsupportedError,
    "Some iterations of a parallel loop store only to arrays of another size than the others.",
    "some iterations store only to arrays of another size",
    "give the arrays one size, or split the loop",
)
SCAN_DATA = Message(
    "C2CU095",
    UnsupportedError,
    "Data decides on a subscript or on how often a loop turns: long arrays are streamed for oblivious programs only.",
    "{finding}: long arrays are streamed where nothing but the number of a turn decides what it accesses",
    "leave the schedule to auto",
)
REGISTERS_BYTES = Message(
    "C2CU290",
    UnsupportedError,
    "An input has more bytes than the registers of a thread hold.",
    "{bytes} bytes go {direction}, more than the registers of a thread hold",
    "leave the schedule to auto",
)
REGISTERS_STATEMENTS = Message(
    "C2CU291",
    UnsupportedError,
    "The kernel is too long when all its loops are unrolled.",
    "{count} statements when unrolled, more than {most}",
    "leave the schedule to auto",
)
REGISTERS_ARRAYS = Message(
    "C2CU292",
    UnsupportedError,
    "Subscripts of a large array do not become constants when loops are unrolled.",
    "'{name}' has subscripts that do not become constants: {bytes} bytes of arrays an input, more than {most}",
    "leave the schedule to auto",
)
REGISTERS_LIVE = Message(
    "C2CU293",
    UnsupportedError,
    "More values are needed at the same time than a thread has registers.",
    "{words} words are live at once, more than {most} registers",
    "leave the schedule to auto",
)
SCAN_NO_LOOP = Message(
    "C2CU037",
    UnsupportedError,
    "The kernel has no loop that goes through a long array, which 'scan' needs.",
    "no loop at top level goes through an array element by element",
    "leave the schedule to auto",
)
SCAN_WIDTH = Message(
    "C2CU294",
    UnsupportedError,
    "An iteration of the loop reads and writes more bytes than 'scan' can buffer.",
    "an iteration uses {bytes} bytes of the arrays that the loop goes through; 'scan' can buffer {most}",
    "leave the schedule to auto",
)
SCAN_SUBSCRIPT = Message(
    "C2CU295",
    UnsupportedError,
    "A long array has a subscript that is not the loop counter plus a constant.",
    "the subscript of '{name}' is not the counter of a loop at top level, plus a constant",
    "leave the schedule to auto",
)
SCAN_FAR = Message(
    "C2CU296",
    UnsupportedError,
    "An element is accessed too far from the loop counter.",
    "'{name}' is accessed {distance} elements away from the counter, more than {most}",
    "leave the schedule to auto",
)
SCAN_FAR_OUTSIDE = Message(
    "C2CU297",
    UnsupportedError,
    "Outside the loop that goes through an array, an element far from its ends is accessed.",
    "'{name}[{index}]' is used {where} the loop through '{name}', far from it",
    "leave the schedule to auto",
)
SCAN_WRITTEN_OUTSIDE = Message(
    "C2CU298",
    UnsupportedError,
    "An array is written outside the loop that goes through it.",
    "'{name}' is written outside of the loop that goes through it",
    "leave the schedule to auto",
)
SCAN_UNWRITTEN = Message(
    "C2CU299",
    UnsupportedError,
    "A local array is read and never written.",
    "'{name}' is read and never written",
    "initialise it, or make it an input",
)
SCAN_FIXED_ELEMENT = Message(
    "C2CU300",
    UnsupportedError,
    "An array that the loop writes is also accessed at one fixed element.",
    "'{name}' is written, and accessed at one fixed element in every iteration",
    "keep that element in a variable",
)
SCAN_TWO_LOOPS = Message(
    "C2CU301",
    UnsupportedError,
    "An array that one loop writes is used by a later loop.",
    "'{name}' is written in one loop and used in another",
    "merge the loops",
)
SCAN_NOT_NUMBERS = Message(
    "C2CU302",
    UnsupportedError,
    "A long array is not a plain array of numbers.",
    "'{name}' is not an array of numbers",
    "make it an array of its own",
)
SCAN_INITIAL = Message(
    "C2CU303",
    UnsupportedError,
    "A long array has an initialiser.",
    "'{name}' has initial elements",
    "give it as an input",
)
NO_GEP_LOOPS = Message(
    "C2CU304",
    UnsupportedError,
    "The kernel has no three nested loops that update a matrix, which 'gep' needs.",
    "the kernel has no three nested loops that write a matrix",
    "leave the schedule to auto",
)
NOT_GEP = Message(
    "C2CU038",
    UnsupportedError,
    "The kernel is not of the Gaussian elimination paradigm: step k updates each element from row k and column k.",
    "not of Gaussian-elimination type: {reason}",
    "docs/gep.md says which loops are; or leave the schedule to auto",
)
NOT_CLOSURE = Message(
    "C2CU305",
    UnsupportedError,
    "The kernel is not a transitive closure, which 'gep:bits' needs.",
    "not a transitive closure: {reason}",
    "use schedule gep",
)
GEP_TOO_LARGE = Message(
    "C2CU306",
    UnsupportedError,
    "A matrix has too many rows or columns.",
    "a matrix of {rows} x {columns} is too large",
    "leave the schedule to auto",
)
GEP_STEPS = Message(
    "C2CU307",
    UnsupportedError,
    "The outermost loop has too few or too many iterations.",
    "the outermost loop has {steps} iterations, which is too few or too many",
    "leave the schedule to auto",
)
GEP_INITIAL = Message(
    "C2CU308",
    UnsupportedError,
    "A matrix has an initialiser, but the schedule 'gep:bands' reads matrices from arrays.",
    "'{name}' has an initialiser, but this schedule reads matrices from arrays",
    "give the matrix as an input",
)
GEP_THREADS = Message(
    "C2CU309",
    UnsupportedError,
    "No tile of the matrix gives an input the number of threads that is asked for.",
    "no tile size gives an input {threads} threads",
    "leave the number of threads to c2cu",
)
GEP_ROWS = Message(
    "C2CU310",
    UnsupportedError,
    "The rows of the matrix do not fit the registers of a block.",
    "the rows of the matrix are too long for the registers",
    "leave the schedule to auto",
)
NO_LIBRARY_FORM = Message(
    "C2CU330",
    UnsupportedError,
    "The schedule that takes the program has no form as a library: 'gep:bands' needs memory that only the run tells.",
    "schedule '{schedule}' has no form as a library",
    "name another one with --schedule; c2cu explain FILE.c says what keeps the program from the others",
)
NO_PROGRAM_FORM = Message(
    "C2CU331",
    UnsupportedError,
    "The schedule has no form as a whole program: how many bands 'gep:bands' cuts a matrix into, and on how many"
    " devices, only the run tells.",
    "schedule '{schedule}' has no form as a whole program",
    "name another one with --schedule, or auto; 'c2cu run' does a matrix that is larger than a device's memory",
)
GEP_OWN_MATRIX = Message(
    "C2CU311",
    UnsupportedError,
    "A matrix of the paradigm is not an input or output of its own.",
    "'{name}' is not an input or an output of its own",
    "make it a global array or a parameter of the kernel",
)
GEP_LATE_START = Message(
    "C2CU313",
    UnsupportedError,
    "An inner loop begins more than one after the outermost counter.",
    "a loop begins more than one after the outermost counter",
    "let it begin at the outermost counter, or one after it",
)
TWO_GANGS = Message(
    "C2CU332",
    UnsupportedError,
    "'gang:two' works at two gangs in turn, statement by statement: data must end none of the kernel's loops and"
    " inputs, branches on data must not count, and the kernel must be short enough for one function.",
    "two gangs cannot go side by side: {reason}",
    "use schedule gang, or auto",
)
COLUMN_TYPE = Message(
    "C2CU314",
    UnsupportedError,
    "An object of this type cannot be stored column by column, as 'thread' does it.",
    "an object of type '{type}' cannot be stored column by column",
    "use schedule private",
)
COLUMN_POINTER = Message(
    "C2CU315",
    UnsupportedError,
    "A pointer may point to memory that is stored column by column, and to memory that is not.",
    "'{name}' may point to memory that is stored column by column, or to other memory",
    "use two pointers, or schedule private",
)
COLUMN_VOID = Message(
    "C2CU312",
    UnsupportedError,
    "A 'void *' points to memory that is stored column by column, where its elements' type decides their addresses.",
    "'{name}' of type '{type}' points to memory that is stored column by column",
    "declare the pointer with its elements' type, or use schedule private",
)
STRUCT_BY_VALUE = Message(
    "C2CU316",
    UnsupportedError,
    "A struct is passed or returned by value.",
    "'{name}' is a struct that is passed by value",
    "pass a pointer to it",
)
STRUCT_INITIALISER = Message(
    "C2CU317",
    UnsupportedError,
    "A struct that goes in or out has an initialiser.",
    "struct '{name}' has an initialiser",
    "use schedule 'private', or leave the initialiser out and give it as an input",
)
STATIC_STRUCT = Message(
    "C2CU318",
    UnsupportedError,
    "A static local variable is a struct.",
    "'{name}' is a static struct",
    "make it a global variable",
)
CONSTANT_INITIALISER = Message(
    "C2CU319",
    UnsupportedError,
    "CUDA C++ does not take a constant's initialiser.",
    "'{name}' has an initialiser that CUDA C++ does not take: {reason}",
    "use schedule 'private', which assigns it",
)
NOT_ON_GPU = Message(
    "C2CU087",
    UnsupportedError,
    "The kernel calls a function that device code does not have.",
    "'{name}' is not available in device code",
    "write the function in C, in the file of the kernel",
)

# Arrays, devices and options of a call
MISSING_INPUT = Message(
    "C2CU040",
    InputError,
    "An input of the program is not given.",
    "input '{name}' is missing",
    "{how}",
    "Give an array, of the shape and dtype that the message names, under the variable's C name.",
)
STARTS_AT_ZERO = Message(
    "C2CU430",
    InputError,
    "Inputs that the kernel reads on some paths, or that may be written first, are not given, and the C does not say "
    "their first values.",
    "inputs that are not given start at zero: {names}",
    "give '{first}' with --in {first}=FILE{how}",
    "Nothing is wrong if zero is meant: a global starts so in C. `c2cu run` alone says so; in Python, each `Slot` of "
    "`Program.slots` has the attribute `zero`.",
)
BARE_ARRAY = Message(
    "C2CU042",
    InputError,
    "One array is given without a name, but the program has several inputs, or none.",
    "one array is given without a name, but the program does not have exactly one input",
    "{how}",
    "Give a dict of arrays by name.",
)
BARE_OUT = Message(
    "C2CU202",
    InputError,
    "out= is one array without a name, but the program has several outputs, or none.",
    "out= is one array without a name, but the program does not have exactly one output",
    "give a dict by name; the outputs: {names}",
    "Give a dict of arrays by name.",
)
WRONG_DTYPE = Message(
    "C2CU043",
    InputTypeError,
    "An array's dtype is not that of the C variable; c2cu never converts in silence.",
    "{role} '{name}' has dtype {dtype}, expected {expected}",
    "{how}",
    "Convert the array with `astype`, or declare the C variable with the array's type.",
)
NOT_AN_ARRAY = Message(
    "C2CU044",
    InputTypeError,
    "Something that is not an array is given for a variable.",
    "{role} '{name}' is of type {type}, not an array",
    "{how}",
    "Give a NumPy or CuPy array, or anything with `__dlpack__`; a number is enough for what all inputs share.",
)
WRONG_DIMENSIONS = Message(
    "C2CU045",
    InputError,
    "An array has too few or too many dimensions.",
    "{role} '{name}' has shape {shape}, expected {expected}: {dimensions} dimensions, not {actual}",
    "{how}",
    "Give an array whose first axis counts inputs, with one axis more for each extent in the C declaration.",
)
WRONG_SHAPE = Message(
    "C2CU046",
    InputError,
    "An extent of an array is not the one that the C declares.",
    "{role} '{name}' has shape {shape}, expected {expected}",
    "give an array of this shape, or change the extent in the C (a macro: with -D or defines=)",
)
DOES_NOT_FIT = Message(
    "C2CU047",
    InputError,
    "A number does not fit the type of the C variable.",
    "'{name}' is {value}, which does not fit {type}",
    "give a number that the C type can hold",
)
READ_ONLY = Message(
    "C2CU203",
    InputError,
    "An array in out= cannot be written.",
    "out '{name}' is read-only",
    "give an array that can be written",
)
DISAGREE_ON_P = Message(
    "C2CU048",
    InputError,
    "Two arrays bring different numbers of inputs.",
    "{first} '{name}' has {count}",
    "give arrays of one length along their first axis",
)
NO_P = Message(
    "C2CU049",
    InputError,
    "Nothing says how many inputs there are.",
    "no input says how many inputs there are",
    "give p, or an array of shape (p, ...)",
)
UNKNOWN_DASK_SHAPE = Message(
    "C2CU204",
    InputError,
    "A Dask array does not know its shape before it is computed.",
    "Dask does not know the shape of {which}: {shape}",
    "call its compute_chunk_sizes()",
)
EXTENTS_DISAGREE = Message(
    "C2CU052",
    InputError,
    "Two arrays bind one macro of the C to different numbers.",
    "'{one}' wants {macro} = {first}, but '{name}' wants {macro} = {second}",
    "give arrays whose extents agree",
)
NOT_SQUARE = Message(
    "C2CU236",
    InputError,
    "Two extents of one array bind one macro of the C to different numbers.",
    "an input's '{name}' has extents {first} and {second}, which are both {macro} in the C",
    "give an array whose extents agree",
)
ON_DEVICE = Message(
    "C2CU053",
    InputError,
    "An array lies on a CUDA device, but the backend is cpu.",
    "an array lies on a CUDA device, but the backend is cpu",
    "use backend='cuda', or copy it: cupy.asnumpy(a)",
)
BANDS_ON_DEVICE = Message(
    "C2CU205",
    InputError,
    "An array lies on a CUDA device, but the schedule 'gep:bands' computes a matrix in parts, from the host's memory.",
    "an array lies on a CUDA device, but a matrix that is computed in parts (schedule gep:bands) must lie on the host",
    "use schedule='gep', or copy it: cupy.asnumpy(a)",
)
NOT_A_STREAM = Message(
    "C2CU054",
    InputError,
    "stream= is not a CUDA stream.",
    "stream has type {type}",
    "pass a cupy.cuda.Stream",
)
BANDS_STREAM = Message(
    "C2CU206",
    InputError,
    "stream= is given, but the schedule 'gep:bands', which computes a matrix in parts, makes its own streams.",
    "a matrix that is computed in parts (schedule gep:bands) cannot run on a given stream",
    "leave stream out",
)
BAD_DEVICES = Message(
    "C2CU207",
    InputError,
    "devices= names a GPU that is not there, or one twice.",
    "devices={devices} does not name GPUs of this machine",
    "the last GPU is number {last}: name each at most once",
    "Name each GPU at most once, by its number from 0.",
)
DEVICES_ON_CPU = Message(
    "C2CU208",
    InputError,
    "devices= is given, but the backend is cpu.",
    "devices are GPUs, but the backend is cpu",
    "leave devices out",
)
DEVICES_FOR_ONE = Message(
    "C2CU209",
    InputError,
    "devices= names GPUs for one input, but the schedule runs an input on one GPU.",
    "schedule {schedule} runs an input on one GPU; only {names} spreads one over several",
    "leave devices out, or use c2cu.stream for many inputs",
)
OUT_TWICE = Message(
    "C2CU210",
    InputError,
    "out= names arrays for two outputs that are the same, or share memory.",
    "out '{first}' and '{second}' share memory",
    "give each output an array of its own",
)
OUT_OVERLAPS_ITSELF = Message(
    "C2CU237",
    InputError,
    "Several elements of an array in out= are the same place in memory.",
    "elements of out '{name}' share memory: its strides are {strides}",
    "give an array of its own: numpy.empty(shape, dtype)",
)
MASKED_ARRAY = Message(
    "C2CU238",
    InputTypeError,
    "An array is a masked array of NumPy's. C has no masks.",
    "{role} '{name}' is a masked array",
    "{name}.filled(value) fills the gaps, and {name}.data takes the data as it is",
    "Give plain arrays.",
)
ADDRESS_VARIABLE = Message(
    "C2CU259",
    InputError,
    "An array or a shape is given for a global that is a pointer.",
    "'{name}' is a pointer, and what it leads to cannot be given",
    "hand the array to the kernel as a parameter, or give the global a fixed size in the C: {name}[N]; 'c2cu run --p'"
    " and 'c2cu translate' run main too, which may allocate it",
    "Hand the array to the kernel as a parameter.",
)
BAD_COUNT = Message(
    "C2CU239",
    InputError,
    "The number of inputs is negative, or larger than what can be counted.",
    "p cannot be {p}",
    "give a number from 0 to {most}",
    "Give the number of inputs there are.",
)
OUT_LENGTH = Message(
    "C2CU211",
    InputError,
    "An array in out= has another number of inputs than the call.",
    "out '{name}' has shape {shape}, but p is {p}",
    "give an array for p inputs",
)
NOT_BATCHES = Message(
    "C2CU212",
    InputTypeError,
    "c2cu.stream is given something that is neither arrays nor an iterable of them.",
    "batches are of type {type}, not arrays",
    "give arrays, or an iterable of them",
)
BATCH_LACKS = Message(
    "C2CU213",
    InputError,
    "A batch lacks an input that the first batch had.",
    "input '{name}' is missing",
    "the first batch had it: pass it in all batches",
)
SHARED_CHANGED = Message(
    "C2CU214",
    InputError,
    "A batch changes a variable that all inputs share.",
    "'{name}' is shared by all inputs, but differs from the first batch's",
    "start a new stream for the new value",
)
BATCH_ADDS = Message(
    "C2CU215",
    InputError,
    "A batch has an input that the first batch lacked.",
    "the first batch had no '{name}'",
    "pass it in all batches",
)
BAD_QUANTITY = Message(
    "C2CU216",
    InputError,
    "A size or a time is not written as one.",
    "{reason}",
    "write 2G or 512M for a size, 5ms or 0.5s for a time",
)
LESS_THAN_ONE = Message(
    "C2CU217",
    InputError,
    "A count is less than 1.",
    "{argument} is {value}, which is less than 1",
    "give at least 1",
)
TOO_DEEP_A_STREAM = Message(
    "C2CU425",
    InputError,
    "A stream is to have more groups in flight than a device has any use for.",
    "depth is {depth}",
    "give at most {most}; a few groups keep a device busy",
    "Give a smaller depth: a few groups keep a device busy.",
)
NOT_SECONDS = Message(
    "C2CU218",
    InputError,
    "A time is not a positive number of seconds.",
    "{argument} is {value}, which is not a positive number of seconds",
    "give seconds, more than 0",
)
GROUP_AND_LATENCY = Message(
    "C2CU219",
    InputError,
    "group and latency_target are both given, and each decides the group.",
    "group and latency_target are both given",
    "the target chooses the group: leave one out",
)
GROUP_TOO_LARGE = Message(
    "C2CU220",
    InputError,
    "The memory limit does not hold a group of this size.",
    "groups of {group} inputs take {need} bytes of buffers, but the memory limit is {memory}",
    "at most {most} inputs a group fit",
    "Ask for a smaller group, or allow more memory.",
)
MEMORY_TOO_SMALL = Message(
    "C2CU221",
    InputError,
    "The memory limit does not hold one input.",
    "a memory limit of {memory} bytes is not enough",
    "with one input in a group and {depth} groups in flight, buffers take {need} bytes",
    "Allow more memory, or a smaller depth.",
)
BANDS_GROUP = Message(
    "C2CU222",
    InputError,
    "group or interval is given for a matrix that is computed in parts: the schedule 'gep:bands' runs one at a time.",
    "matrices that are computed in parts (schedule gep:bands) run one at a time",
    "leave group and interval out",
)
INTERVAL_ON_DEVICE = Message(
    "C2CU223",
    InputError,
    "interval and latency_target do not apply to arrays that are on a device already.",
    "interval and latency_target are for arrays on the host",
    "leave them out",
)
NOT_PATHS = Message(
    "C2CU224",
    InputError,
    "pack= is given for a program that does not compute shortest paths of integers.",
    "pack={bits} is for shortest paths of integers: D[i][j] = min(D[i][j], D[i][k] + D[k][j])",
    "leave pack out; 'c2cu explain' says why these loops are not of that form",
)
OUTSIDE_PACK = Message(
    "C2CU225",
    InputError,
    "An element is larger than pack= allows, or negative.",
    "'{name}'[{index}] is {value}, but pack allows 0 to {most}",
    "let {most} stand for no edge, or leave pack out",
    "Let the largest number stand for no edge, or leave pack out.",
)
UNKNOWN_LENGTH = Message(
    "C2CU050",
    InputError,
    "The length of an array is not declared in the C, and cannot be inferred from an input.",
    "the length of '{name}' is not known",
    "give an array for it, or shapes={{'{name}': (LENGTH,)}} / --shape {name}=LENGTH",
    "Give the extents with shapes= or --shape.",
)
SURPLUS_EXTENTS = Message(
    "C2CU226",
    InputError,
    "shapes= or --shape gives more extents than the C declaration has.",
    "the shape of '{name}' is given as {shape}, but in the C it has {extents}",
    "shapes are those of one input: leave p out",
)
CONTRADICTED_SHAPE = Message(
    "C2CU227",
    InputError,
    "shapes= or --shape contradicts an extent that the C declares.",
    "the shape of '{name}' is given as {shape}, but the C says {expected}",
    "shapes are for extents that the C leaves open",
)
OTHER_BACKEND = Message(
    "C2CU228",
    InputError,
    "The schedule is one of the other backend.",
    "schedule '{schedule}' is for backend {owner}, but the backend is {backend}",
    "choose {owner} (--backend, of translate --target), or another schedule",
    "Choose the backend that has the schedule, or another schedule.",
)
NOT_A_SCALAR = Message(
    "C2CU229",
    InputError,
    "A value is given for a variable that is not a scalar of the kernel.",
    "'{name}' is not a scalar of the kernel",
    "write --shared {name}",
    "Write --shared NAME without a value.",
)
NOT_A_NUMBER = Message(
    "C2CU230",
    InputError,
    "A value for a scalar is not a number of its type.",
    "'{text}' is not a number of type {type} for '{name}'",
    "give a number",
)
NOT_EXTENTS = Message(
    "C2CU231",
    InputError,
    "--shape is not a list of extents.",
    "--shape {name}={value} is not a list of numbers up to 2^62",
    "write numbers: --shape {name}=16,16",
    "Give the extents as numbers.",
)
LIBRARY_NAME = Message(
    "C2CU420",
    InputError,
    "A library's function is called as its file, whose name is no name in C, or one that the library's text needs.",
    "'{name}' cannot be the function's name",
    "write to a file with a name such as fw_bulk.cu",
)
LIBRARY_FILE = Message(
    "C2CU421",
    InputError,
    "A library is a source file and a header beside it: neither stdout nor a header can be both.",
    "a library cannot be written to '{path}'",
    "write to a file with --output, such as fw_bulk.{suffix}; the header goes beside it",
    "Write to a file with --output, such as fw_bulk.cu; the header goes beside it.",
)
CMAKE_LISTS = Message(
    "C2CU422",
    InputError,
    "The CMakeLists.txt beside a library is not one that was written for it.",
    "'{path}' is there already, and is not this library's",
    "write the library to a folder of its own, such as bulk/fw_bulk.c, and name that in add_subdirectory()",
    "Write the library to a folder of its own, and name that in add_subdirectory().",
)
CMAKE_SUFFIX = Message(
    "C2CU423",
    InputError,
    "CMake knows a file's language by its name.",
    "'{path}' does not end in '{suffix}', by which CMake knows its language",
    "write to '{stem}{suffix}', or give another --target",
    "Write to a file whose name ends in .cu, or with --target cpu in .c.",
)
TOO_MANY_VARIABLES = Message(
    "C2CU096",
    UnsupportedError,
    "The kernel reads and writes more variables than a CUDA kernel has parameters for.",
    "the kernel reads and writes {count} variables, but CUDA takes at most {most}",
    "put them in arrays, or use backend cpu",
)
TOO_MANY_FOR_DEVICE = Message(
    "C2CU244",
    CompileError,
    "The kernel reads and writes more variables than an old CUDA version or GPU takes.",
    "the kernel reads and writes {count} variables, but this machine takes at most {most}",
    "put them in arrays, or use CUDA 12.1 and a GPU of compute capability 7.0, or later ones",
)
NO_CUPY = Message(
    "C2CU062",
    CompileError,
    "The backend cuda needs CuPy, which is not installed.",
    "backend cuda needs CuPy",
    "run: pip install 'c2cu[cuda12]', or 'c2cu[cuda13]' if the driver is for CUDA 13",
)
NO_DEVICE = Message(
    "C2CU063",
    CompileError,
    "No CUDA device is visible.",
    "no CUDA device is visible",
    "use backend='cpu', or check nvidia-smi",
)
NO_HOST_MEMORY = Message(
    "C2CU245",
    CompileError,
    "The host has no memory for a working copy of an input.",
    "there is no memory for the working copy of an input",
    "free some memory, or use a smaller extent",
)
OVERSIZED = Message(
    "C2CU254",
    InputError,
    "A variable is larger than any memory, or than compilers place in a program.",
    "'{name}' has {bytes} bytes for each input, but can have at most {most}",
    "use a smaller extent: -D NAME=N replaces the one in the C",
)
MISMATCH = Message(
    "C2CU255",
    MismatchError,
    "A schedule gave another result than the C as the host's compiler takes it: a fault of c2cu or of a compiler. "
    "Unless verify is strict, the call's results are those of schedule native, and so are later ones'.",
    "schedule {schedule}: '{name}' of input {input} is {first}, but the C gives {second}",
    "this is a fault of c2cu or of a compiler: please send the report, {report}",
    "Please send the report that the message names; verify=False turns the comparison off.",
)
MISMATCH_LATE = Message(
    "C2CU257",
    MismatchError,
    "Results that a call has returned differ from those of the C as the host's compiler takes it. They were compared "
    "after the call, as it would not wait for schedule native's compilation.",
    "an earlier call has returned wrong results: of schedule {schedule}, '{name}' of input {input} is {first}, but the "
    "C gives {second}",
    "run that call again: schedule native runs it now; and please send the report, {report}",
    'Run the call again: schedule native runs it from now on. verify="strict" waits for the comparison.',
)
NO_MEMORY = Message(
    "C2CU253",
    CompileError,
    "The inputs, the outputs or the working storage of a call need more memory than there is.",
    "there is not enough memory: {reason}",
    "run fewer inputs at a time: c2cu.stream does, and so does 'c2cu run' with --group",
)
DEVICE_MEMORY = Message(
    "C2CU064",
    CompileError,
    "The device has not enough memory.",
    "the device has not enough memory for {what}",
    "run fewer inputs in a call, or use c2cu.stream",
)
BANDS_MEMORY = Message(
    "C2CU246",
    CompileError,
    "The device's memory does not hold a few rows of the matrix.",
    "{limit} bytes of device memory do not hold a few rows of {columns} elements",
    "free some of it, or use backend='cpu'",
)
DEVICE_FAILED = Message(
    "C2CU247",
    CompileError,
    "The device cannot run the kernel.",
    "the device cannot run the kernel: {reason}",
    "try another schedule",
)
KERNEL_FAULT = Message(
    "C2CU256",
    CompileError,
    "The kernel accessed memory that is not its own, or its address was not aligned.",
    "{name} failed on the device under schedule {schedule}: {reason}; nothing more runs on the device in this process",
    "start a new process; backend='cpu' says which access it is, or runs it",
)
WORKER_FAILED = Message(
    "C2CU248",
    CompileError,
    "The last device of a stream fails.",
    "{device} fails: {reason}",
    "try another schedule or device",
)
BANDS_ORDER = Message(
    "C2CU068",
    CompileError,
    "A matrix is computed in parts, by the schedule 'gep:bands', but its values need the order of the C program.",
    "{reason}: a matrix that is computed in parts (schedule gep:bands) cannot keep the order of the C program",
    "if the matrix fits into the device's memory, use schedule='gep:staged'; else use backend='cpu'",
)
BANDS_OVERWRITTEN = Message(
    "C2CU249",
    CompileError,
    "A matrix that is computed in parts must be computed again, but the output has overwritten the input.",
    "{reason}: it must be computed again, but the output has overwritten the input",
    "pass another array as out=, or use backend='cpu'",
)
NO_DASK = Message(
    "C2CU069",
    CompileError,
    "c2cu.dask needs Dask, which is not installed.",
    "c2cu.dask needs Dask",
    "run: pip install 'c2cu[dask]'",
)
NO_MATPLOTLIB = Message(
    "C2CU066",
    InputError,
    "--plot needs matplotlib, which is not installed.",
    "--plot needs matplotlib",
    "run: pip install 'c2cu[plot]'",
)
NOTHING_TO_PLOT = Message(
    "C2CU067",
    InputError,
    "There is no memory access to plot.",
    "there is nothing to plot: {reason}",
    "plot a kernel whose array accesses 'c2cu explain' lists",
)
NOT_A_PICTURE = Message(
    "C2CU232",
    InputError,
    "The name of a plot has an ending that is not a picture's.",
    "'{path}' does not end in {endings}",
    "give the picture a name with one of these endings",
)
TABLE_VERTEX = Message(
    "C2CU120",
    InputError,
    "A table of middle vertices names a vertex that does not exist.",
    "the table has vertex {vertex} at [{i}][{j}], but {n} vertices",
    "check that the table is the one that the kernel wrote",
)
PATHS_SHAPES = Message(
    "C2CU121",
    InputError,
    "Weights or distances do not have the shape of the table.",
    "the {what} have shape {shape}, but the table has {table}",
    "give arrays of one graph",
)
NOT_A_TABLE = Message(
    "C2CU122",
    InputTypeError,
    "The table is not a square matrix of integers.",
    "the table has shape {shape} and dtype {dtype}",
    "give one graph's (n, n) integers",
)
VERTEX_TYPE = Message(
    "C2CU123",
    InputTypeError,
    "A vertex is not an integer.",
    "{argument} is {value}, which is not an integer",
    "give the number of a vertex",
)
NO_SUCH_VERTEX = Message(
    "C2CU124",
    InputError,
    "A vertex is outside the graph.",
    "{argument} is {value}, which is not a vertex of the graph",
    "the vertices are 0 to {last}",
    "Give a number from 0 to n - 1.",
)
NO_PATH = Message(
    "C2CU125",
    InputError,
    "The graph has no path between the two vertices.",
    "there is no path from {source} to {target}",
    "test the distance first: it is infinite, or the largest number",
)
PATH_CIRCLE = Message(
    "C2CU126",
    InputError,
    "The table leads in a circle.",
    "the table leads in a circle from {source} to {target}{vertices}",
    "check for a negative cycle, and that the table is of the kind you name (next, predecessor or middle)",
)
THREADS_RANGE = Message(
    "C2CU055",
    InputError,
    "--threads is not a number of threads that a block can have.",
    "threads is {threads}, but a CUDA block has 1 to 1024 threads",
    "give a number from 1 to 1024",
)

# The verdict, and what C does not define
NOT_OBLIVIOUS = Message(
    "C2CU030",
    NotObliviousError,
    "The program is not oblivious, and strict asks for that.",
    "the program is not oblivious: {reason}",
    "it runs without strict, but lanes will wait for each other",
)
ADDRESS_DEPENDS = Message(
    "C2CU031",
    NotObliviousError,
    "A subscript depends on input data, so that inputs access different addresses: the program is not oblivious.",
    "subscript of '{name}' depends on input data",
    "",
    "Read all elements and select one, or accept that the program is not oblivious: it still runs correctly.",
)
LOOP_DEPENDS = Message(
    "C2CU032",
    NotObliviousError,
    "The number of a loop's iterations depends on input data: the program is not oblivious.",
    "{what} depends on input data",
    "",
    "Run the largest number of iterations, with a condition inside, or accept that lanes wait for each other.",
)
BRANCH_DEPENDS = Message(
    "C2CU033",
    NotObliviousError,
    "A branch depends on input data. The program may still be oblivious, but it is not constant-time.",
    "branch depends on input data",
    "",
    "Nothing is wrong unless the program must run in constant time: then select with arithmetic or ?:.",
)
OPERATION_DEPENDS = Message(
    "C2CU039",
    NotObliviousError,
    "Input data reaches an operation whose time depends on its operands: the program is not constant-time.",
    "the time that {what} takes depends on input data",
    "",
    "Nothing is wrong unless the program must run in constant time: then multiply by a reciprocal and shift.",
)
NOT_ANALYSED = Message(
    "C2CU034",
    UnsupportedError,
    "The program cannot be analysed, so nothing is proved of it. It still runs correctly.",
    "cannot be analysed, so nothing is proved: {reason}",
    "on the CPU it runs as it stands, under schedule 'native'",
    "Change what the message names, or run the program without a proof.",
)
OUT_OF_BOUNDS = Message(
    "C2CU035",
    UnsupportedError,
    "A subscript is outside its array: undefined behaviour in C.",
    "{fault}",
    "undefined behaviour: fix the subscript or the loop bound",
)
READ_UNSET = Message(
    "C2CU036",
    UnsupportedError,
    "A variable or an element is read before anything is written to it: undefined behaviour in C.",
    "{fault}",
    "undefined behaviour: give it a value first",
)

# Splitting main into what runs before the kernel call and what runs after it
NO_MAIN = Message(
    "C2CU070",
    UnsupportedError,
    "A standalone program needs a main that calls the kernel once.",
    "there is no main that calls the kernel once",
    "write '#pragma kernel' before the call in main; with --fn NAME another function is the kernel. For a function "
    "alone there are 'c2cu run', c2cu.bulk and 'c2cu translate --library'",
)
ONE_NAME = Message(
    "C2CU089",
    UnsupportedError,
    "A parameter of the kernel has the name of a global that the kernel touches in another function.",
    "parameter '{name}' has the name of a global that the kernel touches: inputs go by their names",
    "give one of them another name",
)
ROWS_OF_MAIN = Message(
    "C2CU272",
    UnsupportedError,
    "main passes rows by pointers, an array of variable length or memory of no type to its kernel, which is no array.",
    "main passes what is no array to kernel '{name}': rows by pointers, an array of variable length or 'void *'",
    "pass arrays of constant extents, translate with --target cpu and without --schedule, or write a --library",
)
CALL_INSIDE_STATEMENT = Message(
    "C2CU260",
    UnsupportedError,
    "The kernel call stands inside another statement of main.",
    "the kernel call is inside another statement of main",
    "give it a statement of its own at the top level of main, as in 'x = f(...);': one call runs all inputs",
)
STACK_BEFORE = Message(
    "C2CU073",
    UnsupportedError,
    "main allocates on its stack before the kernel call.",
    "'{name}' before the kernel call: its memory ends before the kernel runs",
    "use malloc",
)
COMPOUND_LITERAL = Message(
    "C2CU261",
    UnsupportedError,
    "A pointer to a compound literal of main may be used after the kernel call.",
    "a pointer to a compound literal of main's may be kept until after the kernel call",
    "make it a variable",
)
GENERATOR = Message(
    "C2CU075",
    UnsupportedError,
    "Two of the kernel and main's parts before and after its call draw random numbers.",
    "'{name}' {where}: all runs would share the generator's state",
    "draw the numbers in one of these, or write the generator in C",
)
STRTOK = Message(
    "C2CU262",
    UnsupportedError,
    "strtok is called in two of the kernel and main's parts before and after its call.",
    "'{name}' {where}: all runs would share the place that it remembers",
    "use strtok_r",
)
JUMP_ACROSS = Message(
    "C2CU263",
    UnsupportedError,
    "setjmp and longjmp stand on both sides of the kernel call.",
    "'{name}' on both sides of the kernel call: a jump cannot cross the kernel call",
    "return a status instead",
)
STDIN_AFTER = Message(
    "C2CU264",
    UnsupportedError,
    "Both sides of the kernel call read standard input.",
    "'{name}' on both sides of the kernel call: standard input holds the inputs of all runs, one after the other",
    "read the whole input before the call",
)
CLOSES_FILE = Message(
    "C2CU265",
    UnsupportedError,
    "main closes a file that all runs share.",
    "'{name}' closes a file that all runs share",
    "leave it open",
)
SETS_BUFFER = Message(
    "C2CU266",
    UnsupportedError,
    "main gives a file a buffer of its own.",
    "'{name}' gives the file a buffer whose contents would change from run to run",
    "pass a null pointer for the buffer",
)
AT_EXIT = Message(
    "C2CU267",
    UnsupportedError,
    "main registers a function that runs when the process ends.",
    "'{name}' registers a function that would run once, after all runs",
    "call the function at the end of main",
)
PROCESS = Message(
    "C2CU268",
    UnsupportedError,
    "main changes or ends the process, which all runs share.",
    "'{name}' changes or ends the process, which all runs share",
    "do it outside the program",
)
GOTO_ACROSS = Message(
    "C2CU076",
    UnsupportedError,
    "A goto crosses the kernel call.",
    "'goto {name}' crosses the kernel call, which runs once for all inputs",
    "jump within one side of the call, or return",
)
STATIC_IN_HOST = Message(
    "C2CU072",
    UnsupportedError,
    "A static local variable of host code cannot become a variable of the file: its type is known in one "
    "function alone, or the kernel has the variable too.",
    "static local '{name}' in host code would be shared by all runs",
    "make it a global variable",
)
HIDDEN_NAME = Message(
    "C2CU077",
    UnsupportedError,
    "A variable of main hides another one of the same name.",
    "'{name}' of main hides another '{name}'",
    "rename one of them",
)
LIBRARY_WORD = Message(
    "C2CU270",
    UnsupportedError,
    "The program has something of its own by a name of the C library that the translation needs.",
    "the translation needs '{name}' of the C library, and the program has another",
    "give the program's another name",
)
OUR_NAME = Message(
    "C2CU275",
    UnsupportedError,
    "A name of a whole program begins with `c2cu_` or `C2CU_`, as those of its translation do.",
    "'{name}' may be a name of the translation's own",
    "give it a name that does not begin with c2cu_",
)
CUDA_NAME = Message(
    "C2CU271",
    UnsupportedError,
    "A variable or a function has a name that CUDA uses.",
    "'{name}' is CUDA's own, and cannot stand for something else beside it",
    "give it another name, or translate with --target cpu",
)
ARGUMENT_PLACE = Message(
    "C2CU074",
    UnsupportedError,
    "What an argument of the kernel call points to cannot be copied: it holds pointers, or is no variable of a run.",
    "what argument '{name}' of the kernel call points to cannot be copied",
    "pass a variable's address, or an array by its name, also in place of memory from malloc; its length may be a macro"
    " for -D",
)
UNTOLD_LENGTH = Message(
    "C2CU269",
    InputError,
    "main passes memory to its kernel, such as malloc returns, whose length is not known before the program runs.",
    "the length of '{name}' is not known before the program runs",
    "say how long it is in every run: --shape {name}=LENGTH; or let main pass an array, whose length may be a macro for"
    " -D",
    "Give the length with --shape, or let main pass an array.",
)
ARGUMENT_LONGER = Message(
    "C2CU273",
    UnsupportedError,
    "An array in the kernel call is longer than the parameter declares.",
    "'{variable}' is longer than the parameter '{name}', of which only {type} is copied",
    "declare the parameter as long as '{variable}'",
    "Declare the parameter as long as the array.",
)
TWO_WAYS = Message(
    "C2CU274",
    UnsupportedError,
    "A variable that the kernel writes reaches it in two ways.",
    "'{name}' reaches the kernel {ways}, and the kernel writes it",
    "pass a copy, or let the kernel take it once",
)
MAIN_PARAMETERS = Message(
    "C2CU078",
    UnsupportedError,
    "main takes more than argc and argv.",
    "main takes '{name}' beside argc and argv",
    "use getenv",
)
FEW_RUNS = Message(
    "C2CU233",
    InputError,
    "--p is less than 1.",
    "p is {p}: a standalone program needs at least one run",
    "give --p 1 or more",
)
GROUP_RANGE = Message(
    "C2CU234",
    InputError,
    "--group is less than 1.",
    "group is {group}: a group has at least one input",
    "give --group 1 or more",
)
TOO_MANY_RUNS = Message(
    "C2CU235",
    InputError,
    "A standalone program is to run more inputs at a time than a kernel can have threads.",
    "{count:,} inputs at a time are more than the {most:,} threads that a kernel can have",
    "give --group {most} or less: the program then runs so many at a time",
    "Give --group, with at most the number that the message names.",
)

# Files
CANNOT_READ = Message(
    "C2CU056",
    InputError,
    "A file cannot be read.",
    "cannot read '{path}': {reason}",
    "{how}",
    "Check the path and its permissions.",
)
ARRAY_NOT_IN_FILE = Message(
    "C2CU340",
    InputError,
    "An .npz file does not hold the array that is asked for.",
    "'{path}' holds {names}, and no array '{name}'",
    "save it there by this name: numpy.savez('{path}', {name}=...)",
    "Save the array under the variable's C name.",
)
NOT_A_VARIABLE = Message(
    "C2CU431",
    InputError,
    "An .npz file is given without a name, and an array in it has the name of no variable.",
    "'{path}' holds an array '{name}', and no variable of the kernel is called so",
    "{meant} name what is to be read: --in NAME={path}",
    "Name what is to be read, each with --in NAME=FILE.",
)
NOT_AN_ARRAY_FILE = Message(
    "C2CU341",
    InputError,
    "A file is not a whole array file: it is cut short, or something else.",
    "'{path}' is not a whole array file: {reason}",
    "{how}",
    "Write the file again with numpy.save.",
)
DAMAGED_FILE = Message(
    "C2CU342",
    InputError,
    "A file is damaged.",
    "'{path}' is damaged: {reason}",
    "write it again",
)
RAW_LENGTH = Message(
    "C2CU343",
    InputError,
    "A .bin file carries no shape, and the C does not declare the length either.",
    "'{path}' is raw, and the length of its array is not known",
    "name it: --in NAME=FILE, with --shape NAME=n if the C does not say",
)
RAW_SIZE = Message(
    "C2CU344",
    InputError,
    "A .bin file for a shared variable does not have the variable's size.",
    "'{path}' has {size} bytes, but '{name}' takes {expected}",
    "write the whole array, in the C type",
)
RAW_INPUTS = Message(
    "C2CU345",
    InputError,
    "A .bin file does not hold a whole number of inputs.",
    "'{path}' has {size} bytes, which is no multiple of the {one} of one input",
    "write whole inputs, in the C type",
)
BAD_ENDING = Message(
    "C2CU346",
    InputError,
    "A file's name does not end in one of the formats that are known.",
    "'{path}': files are .npy, .npz, .bin or .zarr, not {ending}",
    "give the file one of these endings; for a scalar, give a number instead of a file",
)
FILE_CHANGED = Message(
    "C2CU347",
    InputError,
    "An input file was changed while it was read.",
    "{message}",
    "run it again when nothing writes to it: the results are discarded",
)
CUT_SHORT = Message(
    "C2CU348",
    InputError,
    "A pipe ended before all of the array came.",
    "'{path}' was cut short: {count} of {total} inputs came",
    "did the program that writes to the pipe end early?",
)
NO_ZARR = Message(
    "C2CU349",
    InputError,
    "A .zarr array needs the package zarr.",
    "a .zarr array needs zarr, which is not installed",
    "{how}",
    "Install c2cu[zarr].",
)
NOT_A_ZARR = Message(
    "C2CU350",
    InputError,
    "A .zarr folder is not a whole zarr array.",
    "'{path}' is not a whole zarr array: {reason}",
    "write it again",
)
ZARR_STRUCTS = Message(
    "C2CU351",
    InputError,
    "zarr cannot hold arrays of structs as C lays them out.",
    "zarr has no structs with C's layout",
    "write .npy or .bin instead",
)
CANNOT_WRITE = Message(
    "C2CU057",
    InputError,
    "A file cannot be written.",
    "cannot write '{path}': {reason}",
    "{how}",
    "Check the folder, its permissions and the space on the disk. An old file of that name is still whole.",
)
OCCUPIED_FOLDER = Message(
    "C2CU352",
    InputError,
    "The name of a .zarr output is that of a folder that holds something else.",
    "'{path}' is a directory that holds something other than a zarr array",
    "give another name: this run would replace the folder",
)
STDOUT_CLOSED = Message(
    "C2CU353",
    InputError,
    "A result is to go to standard output, which is closed.",
    "cannot write to stdout: it is closed",
    "give a file's name",
)
ANOTHER_RUN = Message(
    "C2CU354",
    InputError,
    "Another run is writing the same file.",
    "another run is writing '{path}'",
    "wait for it, or give another name",
)
CANNOT_GO_ON = Message(
    "C2CU355",
    InputError,
    "The operating system interrupts a run.",
    "cannot continue: {reason}",
    "free what the message names, and run it again with --resume",
)
SAME_OUTPUT = Message(
    "C2CU356",
    InputError,
    "Two outputs go to one file.",
    "--out: '{first}' and '{second}' are one file",
    "give each output a file of its own",
)
NESTED_OUTPUTS = Message(
    "C2CU357",
    InputError,
    "One output lies within the folder of another.",
    "--out: of '{first}' and '{second}' one lies within the other",
    "give each output a folder of its own",
)
IN_WITHOUT_NAME = Message(
    "C2CU358",
    InputError,
    "Several files are given with --in, and one has no name.",
    "--in {file} has no name",
    "with several inputs write --in NAME=FILE",
)
OPTION_TWICE = Message(
    "C2CU359",
    InputError,
    "An option names one variable twice.",
    "{option} has '{name}' twice",
    "give it once",
)
NO_OUT = Message(
    "C2CU360",
    InputError,
    "No --out says where a result goes.",
    "no --out says where a result goes",
    "write --out NAME=FILE; {known}",
    "Write --out NAME=FILE.",
)
OUT_WITHOUT_NAME = Message(
    "C2CU361",
    InputError,
    "The program has several outputs, and --out has no name.",
    "--out {file} has no name",
    "write --out NAME=FILE; {known}",
    "Write --out NAME=FILE.",
)
OVER_SOURCE = Message(
    "C2CU362",
    InputError,
    "A translation would replace its own source.",
    "'{path}' is the source itself",
    "give another name with -o",
)
PACK_FROM_PIPE = Message(
    "C2CU363",
    InputError,
    "--pack is given for an array that comes from a pipe.",
    "--pack reads the whole input before the run starts, but a pipe can be read only once",
    "give a .npy file, or leave --pack out",
)
PACK_FROM_ZARR = Message(
    "C2CU364",
    InputError,
    "--pack is given for a .zarr array.",
    "--pack cannot read .zarr arrays",
    "give a .npy file, or leave --pack out",
)
NOT_RESUMABLE = Message(
    "C2CU059",
    InputError,
    "This run cannot be resumed.",
    "--resume: {reason}",
    "runs from files to .npy, .bin or .zarr can be resumed",
)
RESUME_REFUSED = Message(
    "C2CU365",
    InputError,
    "A run cannot go on from what an earlier one left, because something has changed since.",
    "'{path}' cannot be resumed: {reason}",
    "{how}",
    "Run it without --resume to start anew.",
)
RESUMES = Message(
    "C2CU366",
    InputError,
    "A run goes on where an earlier one stopped.",
    "{done:,} inputs are done: the run continues after them",
    "",
    "Nothing is wrong.",
)
NOTHING_TO_RESUME = Message(
    "C2CU367",
    InputError,
    "--resume is given, but no earlier run has left anything.",
    "nothing to resume for '{path}': the run starts at the beginning",
    "",
    "Nothing is wrong.",
)
INTERRUPTED = Message(
    "C2CU368",
    InputError,
    "A run is interrupted.",
    "interrupted: {what}",
    "",
    "Run it again with --resume.",
)
STREAM_NOTICE = Message(
    "C2CU369",
    CompileError,
    "A stream goes on, but not as asked: a group is smaller, or a device is left out.",
    "{message}",
    "",
    "Look at the device that the message names.",
)
NO_NVCC = Message(
    "C2CU065",
    CompileError,
    "Running a whole program on a GPU needs nvcc.",
    "running a whole program on a GPU needs nvcc",
    "use --backend cpu, or arrays with --in and --out",
)
INTERNAL = Message(
    "C2CU099",
    CompileError,
    "c2cu itself has failed.",
    "internal error: {reason}",
    "this is a fault of c2cu: please report it with the C file and the output under C2CU_DEBUG=1",
)


# States that stay from step to step

NO_STATE = Message(
    "C2CU400",
    UnsupportedError,
    "A program without state is asked for one.",
    "'{kernel}' leaves nothing for its next call",
    "a state is what may be read before it is written, and is written; of a program without one, call the program",
    "Call the program itself, or have the kernel keep what lasts in globals.",
)
LOST_STATE = Message(
    "C2CU401",
    UnsupportedError,
    "A program keeps something from call to call that is no variable of its state.",
    "{what} would be lost from one step to the next",
    "{how}",
    "Keep what lasts in globals of numbers, arrays and structs.",
)
STATE_MASK = Message(
    "C2CU402",
    InputError,
    "What says which inputs are to be reset is no array of truth values, one for each.",
    "the mask has shape {shape} and dtype {dtype}, expected ({p},) and bool",
    "give an array of p truth values, such as done != 0",
)
IN_STATE = Message(
    "C2CU403",
    InputError,
    "A step is given a variable that is part of the state.",
    "'{name}' is a variable of the state",
    "write to it between steps: state['{name}'] = ...",
    "Write to the state's variable before the step.",
)


#: Every message by its code.
CATALOGUE = {m.code: m for m in list(globals().values()) if isinstance(m, Message)}
