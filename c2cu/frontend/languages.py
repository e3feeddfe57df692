"""Sources that are not C at all, but C++ or CUDA: an error that says so."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import PurePath

from ..base import catalogue
from ..base.diagnostics import Error, Loc, Note, SourceMap
from .pieces import Lines, without_text

#: Words and forms that C does not have, where nothing is left of comments, strings and what #if leaves out.
_CUDA = re.compile(r"\b__(?:global|device|host|shared|constant)__\b|<<<")
_CPP = re.compile(
    r"\bnamespace\b\s*\w*(?:::\w+)*\s*\{|\btemplate\s*<|\b(?:class|struct)\s+\w+\s*(?:final\s*)?:\s*(?:public|private)?"
    r"|\bclass\s+\w+\s*[{;]|\busing\s+(?:namespace\s+)?\w+\s*(?:=|::|;)|\b[A-Za-z_]\w*\s*::\s*[A-Za-z_~]"
    r"|^\s*(?:public|private|protected)\s*:|\b(?:static_cast|reinterpret_cast|const_cast|dynamic_cast)\s*<"
    r'|\bextern\s+" "'
    r"|\b(?:int|float|double|char|bool|auto|short|long|unsigned|size_t|u?int\d+_t)\s*&&?\s*\w+\s*[,)=;{]",
    re.M,
)
_HEADERS = frozenset(
    "algorithm any array atomic bit bitset cassert ccomplex cctype cerrno cfenv cfloat chrono cinttypes climits cmath "
    "complex concepts condition_variable cstdarg cstddef cstdint cstdio cstdlib cstring ctime deque exception "
    "execution filesystem format forward_list fstream functional future initializer_list iomanip ios iosfwd iostream "
    "istream iterator limits list map memory mutex new numbers numeric optional ostream queue random ranges ratio "
    "regex set span sstream stack stdexcept streambuf string string_view system_error thread tuple type_traits "
    "typeindex typeinfo unordered_map unordered_set utility valarray variant vector".split()
)
_CPP_FILES = (".cc", ".cpp", ".cxx", ".c++", ".C", ".hh", ".hpp", ".hxx")
_CUDA_FILES = (".cu", ".cuh")
_OF_THE_TEXT = frozenset(
    m.code
    for m in (
        catalogue.SYNTAX_ERROR,
        catalogue.ENDS_TOO_EARLY,
        catalogue.INVALID_C,
        catalogue.PREPROCESSOR,
        catalogue.HEADER_NOT_FOUND,
        catalogue.UNKNOWN_TYPE,
        catalogue.UNDECLARED,
        catalogue.UNDECLARED_FUNCTION,
    )
)


def of_another_language(error: Error, texts: Sequence[str], sources: SourceMap) -> Error:
    """The same error; one that says so where a file is not C. ``error``: what the compiler or the parser says of
    ``texts``, which are preprocessed; ``sources``: the user's files."""
    if error.code not in _OF_THE_TEXT:
        return error
    place = next(_places(texts, sources), None) or _of_file(error.diagnostic.loc)
    return error if place is None else _other(*place, error)


def of_another_languages_header(error: Error, text: str) -> Error:
    """Likewise of what the preprocessor says. ``text``: the file's."""
    loc = error.diagnostic.loc or Loc()
    line = SourceMap({loc.file: text}).line(loc.file, loc.line) or ""
    m = re.search(r"<\s*([\w.]+)\s*>", line)
    if re.search(r"^\s*__global__\s", text, re.M):
        return _other("CUDA", loc, error)
    if error.code == catalogue.HEADER_NOT_FOUND.code and m and (m[1] in _HEADERS or m[1].endswith(_CPP_FILES)):
        return _other("C++", loc, error)
    place = _of_file(loc)
    return error if place is None else _other(*place, error)


def _other(language: str, loc: Loc, error: Error) -> Error:
    d = error.diagnostic
    way_on = (
        "take the part of one input as a C function, in a .c file of its own: c2cu writes the CUDA code for all inputs"
        if language == "CUDA"
        else "put what runs for each input into a .c file of its own, and give that; C++ declares the function as "
        'extern "C": see examples/from_cpp'
    )
    note = Note(f"read as C: {d.message}", d.loc)
    other = catalogue.OTHER_LANGUAGE.error(loc, (note,), language=language, way_on=way_on)
    other.sources = error.sources
    return other


def _of_file(loc: Loc | None) -> tuple[str, Loc] | None:
    suffix = PurePath(loc.file).suffix if loc else ""
    if loc is None or suffix not in (*_CPP_FILES, *_CUDA_FILES):
        return None
    return "CUDA" if suffix in _CUDA_FILES else "C++", loc


def _places(texts: Sequence[str], sources: SourceMap) -> Iterator[tuple[str, Loc]]:
    """Each thing that C does not have in the user's files: the language that has it, and where it is. CUDA first."""
    for language, pattern in (("CUDA", _CUDA), ("C++", _CPP)):
        for plain in texts:
            text, lines = without_text(plain), Lines(plain)
            for m in pattern.finditer(text):
                file, line = lines.of(m.start())
                if file in sources:
                    column = m.start() - (text.rfind("\n", 0, m.start()) + 1) + 1
                    yield language, Loc(file, line, column, column + max(1, len(m[0].split("\n")[0].rstrip())))
