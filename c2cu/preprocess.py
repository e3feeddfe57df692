"""Preprocessing: the host compiler's -E over our own small headers, with the user's literal macros kept as names.

A macro such as ``#define N 1024`` is redefined to itself for the run, so that the text still says ``D[N][N]`` and
generated code can too; its value stands beside the text and may come from -D or from an input's shape.
"""

from __future__ import annotations

import difflib
import os
import re
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from .diagnostics import CompileError, Loc, ParseError, SourceMap, UnsupportedError
from .toolchain import find_compiler

HEADERS = Path(__file__).parent / "include"
SYSTEM = (str(HEADERS), "/usr/", "<")  # where files are not the user's

_SHIM = ("__attribute__(x)=", "__extension__=", "__restrict=", "__restrict__=", "__inline=inline", "__inline__=inline",
         "__const=const", "__volatile__=volatile", "__signed__=signed", "__builtin_va_list=char *",
         "__alignof__=_Alignof", "_Float128=long double", "_Float64x=long double", "_Float64=double",
         "_Float32x=double", "_Float32=float", "__C2CU__=1")  # fmt: skip

_LITERAL = re.compile(
    r"[-+]?\s*(0[xX][0-9a-fA-F]+[uUlL]*|\d+[uUlL]*|(\d+\.\d*|\.\d+|\d+(?=[eE]))([eE][-+]?\d+)?[fF]?|'(\\.|[^'\\])+')"
)
_DEFINE = re.compile(r"\s*#\s*define\s+([A-Za-z_]\w*)(\(?)(.*)", re.S)
_NAME = re.compile(r"[A-Za-z_]\w*")


@dataclass(frozen=True)
class Source:
    """A C text and how messages call it. ``path`` is None for text that is in no file."""

    name: str
    text: str
    path: Path | None = None


@dataclass(frozen=True)
class Macro:
    """A kept macro: ``value`` is the literal it stands for."""

    name: str
    value: str
    loc: Loc
    overridden: bool = False


@dataclass(frozen=True)
class Preprocessed:
    """``text`` is ready for pycparser. ``includes``: the user's #include <...> lines. ``sources``: for carets."""

    text: str
    name: str
    macros: Mapping[str, Macro]
    includes: tuple[str, ...]
    sources: SourceMap
    expression_macros: Mapping[str, str] = field(default_factory=dict)


def read_source(src: str | os.PathLike) -> Source:
    """A str with a newline or a brace is C text, anything else a path. Raises ParseError if it cannot be read."""
    if isinstance(src, str) and ("\n" in src or "{" in src):
        return _checked(Source("<input>", src))
    path = Path(src)
    try:
        data = path.read_bytes()
    except OSError as e:
        hint = "C text needs a newline or a brace; anything else is taken for a file's name"
        raise ParseError("C2CU001", f"cannot read '{path}': {e.strerror}", None, hint) from None
    if b"\0" in data:
        raise ParseError("C2CU001", f"'{path}' is a binary file, not C text", Loc(str(path)))
    text = data.decode("utf-8", errors="surrogateescape")
    odd = sum(1 for c in text if (ord(c) < 32 and c not in "\t\n\r\f\v") or 0xDC80 <= ord(c) <= 0xDCFF)
    if odd > 0.1 * len(text):
        raise ParseError("C2CU001", f"'{path}' is a binary file, not C text", Loc(str(path)))
    return _checked(Source(str(path), text, path))


def _checked(source: Source) -> Source:
    if not source.text.strip():
        raise ParseError("C2CU001", f"'{source.name}' is empty", Loc(source.name), "it should hold a C program")
    return replace(source, text=source.text.replace("\r\n", "\n"))


def preprocess(
    source: Source, defines: Mapping[str, str | int] | None = None, include_dirs: Sequence[str] = ()
) -> Preprocessed:
    """Preprocess ``source``. ``defines`` override the file's own object-like macros.

    Raises ParseError: an unknown name in ``defines``, and whatever the preprocessor rejects.
    """
    given = {name: str(value) for name, value in (defines or {}).items()}
    directives = list(_directives(source.text))
    macros = _kept(source.name, directives, given)
    replaced = _rewritten(source.text, directives, macros, given)
    passed = {n: v for n, v in given.items() if n not in macros}
    _check_names(source, given, directives)
    text, files = _run(source, replaced, passed, include_dirs)
    includes = tuple(line.strip() for _, line in directives if re.match(r"\s*#\s*include\s*<", line))
    expressions = {
        m[1]: m[3].strip() for _, d in directives if (m := _DEFINE.match(d)) and not m[2] and m[1] not in macros
    }
    originals = {source.name: source.text, **files}
    for name, original in originals.items():
        _refuse_layouts(name, original)
    return Preprocessed(
        text, source.name, macros, includes, SourceMap(originals, text, _definitions(directives)), expressions
    )


# what the file's own directives say


_LAYOUT = re.compile(
    r"__attribute__\s*\(\([^;{]*?\b(?:__)?(packed|vector_size|mode)\b|#\s*pragma\s+(pack)\b"
    r"|(?:\}|\bstruct)\s*__attribute__\s*\(\(\s*(?:__)?(aligned)\b"
)


def _refuse_layouts(name: str, text: str) -> None:
    """Attributes are defined away for the parser: those that change a type's layout must not be."""
    m = _LAYOUT.search(_blank_comments(text))
    if m is None:
        return
    line = text.count("\n", 0, m.start()) + 1
    column = m.start() - text.rfind("\n", 0, m.start())
    what = m[1] or m[2] or m[3]
    error = UnsupportedError(
        "C2CU091", f"'{what}' changes a type's layout", Loc(name, line, column), "use plain structs and arrays"
    )
    error.sources = {name: text}
    raise error


def _blank_comments(text: str) -> str:
    """``text`` with comments blanked out, line structure kept; strings are left alone."""
    pattern = re.compile(r"//(?:[^\n\\]|\\.|\\\n)*|/\*.*?(?:\*/|\Z)|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'", re.S)

    def blank(m: re.Match[str]) -> str:
        return re.sub(r"[^\n]", " ", m[0]) if m[0][0] == "/" else m[0]

    return pattern.sub(blank, text)


def _directives(text: str) -> Iterator[tuple[int, str]]:
    """(line number, logical line without comments) of every directive."""
    lines = _blank_comments(text).split("\n")
    i = 0
    while i < len(lines):
        start, line = i, lines[i]
        while line.endswith("\\") and i + 1 < len(lines):
            i += 1
            line = line[:-1] + " " + lines[i]
        if line.lstrip().startswith("#"):
            yield start + 1, line
        i += 1


def _literal(body: str) -> str | None:
    """The literal of an object-like macro's body, parentheses taken off; None if it is something else."""
    body = body.strip()
    while body.startswith("(") and body.endswith(")"):
        body = body[1:-1].strip()
    return body if _LITERAL.fullmatch(body) else None


def _kept(name: str, directives: list[tuple[int, str]], given: Mapping[str, str]) -> dict[str, Macro]:
    """The macros that can stay names: literal, defined once, not used by the preprocessor itself."""
    bodies: dict[str, list[tuple[int, str]]] = {}
    barred: set[str] = set()
    for line, text in directives:
        m = _DEFINE.match(text)
        if m:
            bodies.setdefault(m[1], []).append((line, "(" if m[2] else m[3]))
            if "#" in m[3]:
                barred.update(_NAME.findall(m[3]))
        elif re.match(r"\s*#\s*(if|elif|undef|include|line)\b", text):
            barred.update(_NAME.findall(re.sub(r"defined\s*\(?\s*\w+\s*\)?", "", text)))
    macros: dict[str, Macro] = {}
    for macro, found in bodies.items():
        value = _literal(given.get(macro, found[0][1]))
        if macro in barred or len(found) > 1 or value is None or found[0][1] == "(":
            continue
        macros[macro] = Macro(macro, value, Loc(name, found[0][0], 1), macro in given)
    return macros


def _definitions(directives: list[tuple[int, str]]) -> dict[str, int]:
    """Macro name -> line of its definition."""
    return {m[1]: line for line, text in directives if (m := _DEFINE.match(text))}


def _rewritten(
    text: str, directives: list[tuple[int, str]], macros: Mapping[str, Macro], given: Mapping[str, str]
) -> str:
    """The text with kept macros defined as themselves and overridden definitions taken out; same line numbers."""
    lines = text.split("\n")
    for line, directive in directives:
        m = _DEFINE.match(directive)
        if not m or m[2] or (m[1] not in macros and m[1] not in given):
            continue
        count = 1
        while lines[line - 2 + count].endswith("\\") and line - 1 + count < len(lines):
            count += 1
        lines[line - 1 : line - 1 + count] = [f"#define {m[1]} {m[1]}" if m[1] in macros else ""] + [""] * (count - 1)
    return "\n".join(lines)


def _check_names(source: Source, given: Mapping[str, str], directives: list[tuple[int, str]]) -> None:
    names = set(_NAME.findall(_blank_comments(source.text)))
    objects = sorted({m[1] for _, d in directives if (m := _DEFINE.match(d)) and not m[2]})
    local = any(re.match(r'\s*#\s*include\s*"', d) for _, d in directives)
    for name in given:
        if not re.fullmatch(r"[A-Za-z_]\w*", name):
            raise ParseError("C2CU005", f"'{name}' is no macro name (-D)", Loc(source.name), "write -D NAME=VALUE")
        if name not in names and not local and name != "NDEBUG":
            close = difflib.get_close_matches(name, objects, 1)
            hint = f"did you mean '{close[0]}'? " if close else ""
            raise ParseError(
                "C2CU005",
                f"unknown macro '{name}' (-D): the file does not use it",
                Loc(source.name),
                hint + ("the file's macros: " + ", ".join(objects) if objects else "it has no macros"),
            )


# the compiler's preprocessor

_MESSAGE = re.compile(r"^(.*?):(\d+):(?:(\d+):)? (?:fatal )?error: (.*)$", re.M)


def _run(
    source: Source, text: str, passed: Mapping[str, str], include_dirs: Sequence[str]
) -> tuple[str, dict[str, str]]:
    folder = source.path.parent if source.path is not None else Path.cwd()
    command = [*find_compiler(), "-E", "-x", "c", "-std=gnu11", "-w", "-iquote", str(folder)]
    for d in include_dirs:
        command += ["-I", str(d)]
    command += ["-I", str(HEADERS)]  # not -isystem: $CPATH would come first
    command += [f"-D{s}" for s in _SHIM] + [f"-D{n}={v}" for n, v in passed.items()] + ["-"]
    body = f'# 1 "{_quoted(source.name)}"\n{text}\n'
    try:
        done = subprocess.run(command, input=body.encode("utf-8", "surrogateescape"), capture_output=True)
    except OSError as e:
        raise CompileError(
            "C2CU060",
            f"the C compiler '{command[0]}' does not start: {e.strerror}",
            None,
            "set CC to a compiler that works",
        ) from None
    errors = done.stderr.decode("utf-8", "replace")
    m = _MESSAGE.search(errors)
    if m or done.returncode:
        raise _refused(source, m, errors)
    out = done.stdout.decode("utf-8", "surrogateescape")
    return out, _user_files(out, source.name)


def _refused(source: Source, m: re.Match[str] | None, errors: str) -> ParseError:
    if m is None:
        last = errors.strip().splitlines()[-1:] or ["no message"]
        return ParseError("C2CU002", f"the preprocessor failed: {last[0]}", Loc(source.name))
    error = ParseError(
        "C2CU002",
        m[4],
        Loc(m[1], int(m[2]), int(m[3] or 0)),
        "give the folder with -I" if "No such file" in m[4] or "not found" in m[4] else "",
    )
    error.sources = {source.name: source.text}
    return error


def _quoted(name: str) -> str:
    return name.replace("\\", "\\\\").replace('"', '\\"')


def _user_files(text: str, main: str) -> dict[str, str]:
    """The texts of the local headers that took part."""
    files: dict[str, str] = {}
    for m in re.finditer(r'^# \d+ "((?:[^"\\]|\\.)*)"((?: \d)*)$', text, re.M):
        name = m[1]
        if name == main or "3" in m[2].split() or name in files or name.startswith(SYSTEM):
            continue
        try:
            files[name] = Path(name).read_text(errors="replace")
        except OSError:
            continue
    return files
