"""The catalogue of errors: each code, what it means, its wording, and the way on. Wording stands here, nowhere else.

A place that finds a mistake writes ``raise catalogue.RECURSION.error(loc, name=f.name)``: it passes values, not
sentences. One code has one meaning. docs/errors.md is printed from this file (``make errors``), with the output of an
example for every code (tests/error_examples.py).

Codes: 001-009 and 100-119 reading and parsing, 010-029 and 130-179 C that is not supported, 030-039 obliviousness,
040-059 and 200-239 inputs, 060-069 and 240-259 compilers and devices, 070-078 and 260-279 splitting ``main``, 080-099
and 280-399 what single schedules cannot take, 120-129 paths from tables.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

from .diagnostics import (
    CompileError,
    Diagnostic,
    Error,
    InputError,
    InputTypeError,
    Loc,
    Note,
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
    "the C must compile as it stands: does gcc accept it?",
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
    "An expression or a statement is nested too deeply for the parser.",
    "an expression is nested too deeply",
    "split it into several statements",
)
GNU_EXTENSION = Message(
    "C2CU107",
    UnsupportedError,
    "The compiler accepts the source, but the parser does not know this GNU extension of C.",
    "this GNU extension of C is not supported",
    "write it in standard C",
)
INVALID_C = Message(
    "C2CU008",
    ParseError,
    "The host's C compiler rejects the source; the message is its own.",
    "{message}",
    fix="Correct the C until your compiler accepts it.",
)
TOO_MANY_INITIALISERS = Message(
    "C2CU003",
    ParseError,
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
    "include the header that declares it, or put its definition before this line",
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
    "-D {name} has no effect: the program says '{directive}' later",
    "write '#ifndef {name}' around it",
    "Write `#ifndef NAME` around the definition in the file.",
)
NO_KERNEL = Message(
    "C2CU006",
    ParseError,
    "The source has no function that could be the kernel.",
    "no kernel function found",
    "move what runs for each input into a function, and put '#pragma kernel' before its call in main",
)
SEVERAL_KERNELS = Message(
    "C2CU136",
    ParseError,
    "Several functions could be the kernel.",
    "several functions could be the kernel: {names}",
    "put '#pragma kernel' before its call in main, or name it with --fn",
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
    "The words after '#pragma kernel' are not a clause that it has.",
    "'#pragma kernel {words}' is not understood",
    "write '#pragma kernel' or '#pragma kernel shared(name, ...)'",
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
    "keep one, or name the function with --fn",
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
    "C's complex types are not supported.",
    "complex types are not supported",
    "keep real and imaginary parts in a struct or in two arrays",
)
VARIABLE_EXTENT = Message(
    "C2CU012",
    UnsupportedError,
    "Arrays of variable length are not supported.",
    "the extent of an array is not a constant",
    "give it a constant extent that is large enough for every input",
)
OLD_STYLE = Message(
    "C2CU013",
    UnsupportedError,
    "Functions with parameters in the style before C89 are not supported.",
    "'{name}' is defined in the old style",
    "write the parameters' types inside the parentheses",
)
UNSUPPORTED_CONSTRUCT = Message(
    "C2CU014",
    UnsupportedError,
    "A construct of C is not supported.",
    "{construct} is not supported",
    "write it in other words: docs/language.md lists the supported subset of C",
)
MULTI_CHARACTER = Message(
    "C2CU141",
    UnsupportedError,
    "Constants of several characters, whose value C leaves to the compiler, are not supported.",
    "a constant of several characters is not supported",
    "write its number",
)
RETURNS_POINTER = Message(
    "C2CU015",
    UnsupportedError,
    "The kernel returns a pointer.",
    "kernel '{name}' returns a pointer",
    "return a number, or write the result to an array parameter",
)
KERNEL_PARAMETER = Message(
    "C2CU142",
    UnsupportedError,
    "A parameter of the kernel is a pointer to a pointer, to a function or to void.",
    "parameter '{name}' of the kernel is a '{type}'",
    "a kernel's pointer parameters point to numbers, structs or rows of an array",
)
RECURSION = Message(
    "C2CU020",
    UnsupportedError,
    "A function of the kernel calls itself, directly or through others.",
    "'{name}' is recursive",
    "rewrite it with a loop, or with an explicit stack in an array",
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
    "write it in C",
)
UNKNOWN_SOURCE = Message(
    "C2CU086",
    UnsupportedError,
    "The kernel calls a function whose source is not in the file.",
    "the source of '{name}', which the kernel calls, is not in the file",
    "add its definition to the file",
)
ALLOCATION = Message(
    "C2CU143",
    UnsupportedError,
    "The kernel allocates memory.",
    "the kernel allocates memory with '{name}'",
    "use an array of the largest size that is needed",
)
INPUT_OUTPUT = Message(
    "C2CU144",
    UnsupportedError,
    "The kernel reads or prints.",
    "the kernel does input or output with '{name}'",
    "do it in main, before or after the kernel",
)
LONG_JUMP = Message(
    "C2CU145",
    UnsupportedError,
    "The kernel jumps out of a function.",
    "the kernel jumps out of a function with '{name}'",
    "return a status instead",
)
ENDS_PROCESS = Message(
    "C2CU146",
    UnsupportedError,
    "The kernel ends or asks the process.",
    "the kernel ends the process, or asks its environment, with '{name}'",
    "return a status instead, or make the answer an input",
)
OUTSIDE_STATE = Message(
    "C2CU147",
    UnsupportedError,
    "The kernel calls a library function that depends on state outside the program.",
    "'{name}' depends on state outside the program",
    "make its result an input, or write the generator in C",
)
CALLBACK = Message(
    "C2CU148",
    UnsupportedError,
    "The kernel calls a library function that calls back.",
    "'{name}' calls functions of the program back",
    "write the sort or search as a loop",
)
LAYOUT_ATTRIBUTE = Message(
    "C2CU091",
    UnsupportedError,
    "An attribute or a pragma changes the layout of a type or the meaning of a declaration.",
    "{attribute} is not supported",
    "remove it: sizes and offsets are then those of plain C",
)
GOTO = Message(
    "C2CU149",
    UnsupportedError,
    "The kernel uses goto.",
    "goto is not supported in a kernel",
    "write a loop, or use break and continue",
)

# What lowering to the canonical statements cannot follow: every schedule but 'native' and 'column' needs it

BIT_FIELD = Message(
    "C2CU017", UnsupportedError, "The kernel uses a bit-field.", "'{name}' is a bit-field", "use a whole integer"
)
UNION_SIZES = Message(
    "C2CU018",
    UnsupportedError,
    "A union has members of different sizes.",
    "'{name}' is a union of members of different sizes",
    "give its members one size, or keep one variable for each",
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
    "Memory of one type is accessed as another type of a different size.",
    "'{name}' of type '{type}' is accessed as '{other}'",
    "access it with its own type, and convert the value",
)
LEAVES_MEMBER = Message(
    "C2CU151",
    UnsupportedError,
    "A pointer to one member of a struct is moved to the next member.",
    "a pointer to '{name}' leaves it for the next member",
    "name the member, or make the members an array",
)
COPY_BETWEEN_TYPES = Message(
    "C2CU152",
    UnsupportedError,
    "memcpy or memmove copies between elements of different sizes.",
    "'{function}' copies elements of type '{source}' to elements of type '{target}'",
    "copy between arrays of one type",
)
TOO_MANY_STATEMENTS = Message(
    "C2CU021",
    UnsupportedError,
    "The kernel is too long when all its calls are inlined.",
    "the kernel has more than {limit} statements after inlining",
    "call a long function in one place, in a loop, instead of in many",
)
POINTER_IN_MEMORY = Message(
    "C2CU022",
    UnsupportedError,
    "A pointer is stored in an array, a struct or a global variable.",
    "'{name}' stores a pointer in memory",
    "store an index instead of the pointer",
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
    "The kernel uses a string constant as data.",
    "a string constant is used as data",
    'put it into a const array: static const char text[] = "..."',
)
POINTER_TO_POINTER = Message(
    "C2CU026",
    UnsupportedError,
    "The kernel takes the address of a pointer variable.",
    "the address of the pointer '{name}' is taken",
    "return the new pointer, or pass an index",
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
    "A pointer may point into one of several objects.",
    "pointer '{name}' may point into different objects here",
    "put the objects into one array, and choose the index; or swap indices instead of pointers",
)
TARGET_CHANGES_IN_LOOP = Message(
    "C2CU157",
    UnsupportedError,
    "A pointer points into another object in the next iteration of a loop.",
    "pointer '{name}' moves to another object inside a loop",
    "put the objects into one array with two rows, and swap the row's index",
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
BYTE_COUNT = Message(
    "C2CU081",
    UnsupportedError,
    "A memory function's byte count is not a multiple of the element's size.",
    "the byte count is not written as a multiple of sizeof({type})",
    "write n * sizeof({type})",
    "Write the count as n * sizeof(element).",
)
MEMORY_OF_STRUCT = Message(
    "C2CU161",
    UnsupportedError,
    "A memory function works on a struct of several members.",
    "a memory function works on a struct of several members",
    "assign the struct: a = b",
)
MEMSET_VALUE = Message(
    "C2CU162",
    UnsupportedError,
    "memset fills elements wider than a byte with a value that is not a constant.",
    "memset of elements wider than a byte",
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
    "put the labels at the top level of the switch",
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
    "input '{name}' has shape {shape}, wanted {expected}: more than its first element is used",
    "give an array of shape {expected}{rows}",
    "Give the array one more axis: a[None] makes an array of n elements one input.",
)
UNKNOWN_CHOICE = Message(
    "C2CU051",
    InputError,
    "An option has a value that it does not know.",
    "{option} is {value}",
    "choose one of {choices}",
    "Choose one of the values that the message lists.",
)
WRONG_KIND = Message(
    "C2CU058",
    InputTypeError,
    "An argument is of the wrong Python type.",
    "{argument} is {value}",
    "expected {expected}",
    "Give a value of the type that the message names.",
)
BAD_EXTENT = Message(
    "C2CU200",
    InputError,
    "An extent in shapes= or --shape is less than 1.",
    "shape of '{name}' is {extents}",
    "extents are at least 1",
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
    "does it compile a simple C file?",
)
NOT_EXECUTABLE = Message(
    "C2CU243",
    CompileError,
    "The operating system executes no program in the cache folder, or not what the compiler wrote there.",
    "programs in '{folder}' cannot be executed: {reason}",
    "set C2CU_CACHE_DIR to a folder where programs may be executed",
)

#: Every message by its code.
CATALOGUE = {m.code: m for m in list(globals().values()) if isinstance(m, Message)}
