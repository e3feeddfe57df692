"""Preprocessing: the host compiler's -E over our own small headers, with the user's literal macros kept as names.

A macro such as ``#define N 1024`` is redefined to itself for the run, so that the text still says ``D[N][N]`` and
generated code can too; its value stands beside the text and may come from -D or from an input's shape.
"""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from ..base import catalogue, toolchain
from ..base.diagnostics import Loc, ParseError, SourceMap, did_you_mean, file_of, lines_of, quoted
from .attributes import without_attributes

HEADERS = Path(__file__).parent / "include"
SYSTEM = (str(HEADERS), "/usr/", "<")  # where files are not the user's

_SHIM = ("__extension__=", "__restrict=", "__restrict__=", "__inline=inline", "__inline__=inline",
         "__const=const", "__volatile__=volatile", "__signed__=signed", "__builtin_va_list=char *",
         "__alignof__=_Alignof", "_Float128=long double", "_Float64x=long double", "_Float64=double",
         "_Float32x=double", "_Float32=float", "__C2CU__=1")  # fmt: skip

_LITERAL = re.compile(
    r"[-+]?\s*(0[xX][0-9a-fA-F]+[uUlL]*|\d+[uUlL]*|(\d+\.\d*|\.\d+|\d+(?=[eE]))([eE][-+]?\d+)?[fF]?|'(\\.|[^'\\])+')"
)
_DEFINE = re.compile(r"\s*#\s*define\s+([A-Za-z_]\w*)(\(?)(.*)", re.S)
_MARKER = re.compile(r'^# \d+ "((?:[^"\\]|\\.)*)"((?: \d)*)$', re.M)
_NAME = re.compile(r"[A-Za-z_]\w*")


@dataclass(frozen=True)
class Source:
    """A C text and how messages call it. ``path`` is None for text that is in no file. ``pre``: what it was
    preprocessed to already, where another machine, without its headers, is to go on from there."""

    name: str
    text: str
    path: Path | None = None
    pre: Preprocessed | None = None


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
    plain: str = ""  # as the compiler sees it: every macro expanded, attributes in place
    plain_sources: SourceMap = field(default_factory=lambda: SourceMap({}))


def read_source(src: str | os.PathLike) -> Source:
    """A str with a newline or a brace is C text, anything else a path. Raises ParseError if it cannot be read."""
    if not isinstance(src, (str, os.PathLike)):
        raise catalogue.WRONG_KIND.error(
            argument="the source", value=f"{src!r:.80}", expected="C text or a file's name"
        )
    if isinstance(src, str) and "\0" in src:
        raise catalogue.BINARY_SOURCE.error(name="<input>")
    if isinstance(src, str) and ("\n" in src or "{" in src or not src):
        return _checked(Source("<input>", src))
    path = Path(src)
    try:
        data = path.read_bytes()
    except OSError as e:
        beside: list[str] = []
        with suppress(OSError):  # of a folder that cannot be read, or has too long a name
            beside = [str(f) for f in path.parent.glob("*.c")]
        guess = did_you_mean(str(path), beside)
        unreadable = catalogue.CANNOT_READ_SOURCE if path.suffix or guess else catalogue.NEITHER_FILE_NOR_TEXT
        raise unreadable.error(path=path, reason=e.strerror, meant=guess) from None
    if b"\0" in data:
        raise catalogue.BINARY_SOURCE.error(Loc(str(path)), name=path)
    text = data.decode("utf-8", errors="surrogateescape")
    odd = sum(1 for c in text if (ord(c) < 32 and c not in "\t\n\r\f\v") or 0xDC80 <= ord(c) <= 0xDCFF)
    if odd > 0.1 * len(text):
        raise catalogue.BINARY_SOURCE.error(Loc(str(path)), name=path)
    return _checked(Source(str(path), text, path))


def _checked(source: Source) -> Source:
    if not source.text.strip():
        raise catalogue.EMPTY_SOURCE.error(Loc(source.name), name=source.name)
    return replace(source, text=source.text.removeprefix("\ufeff").replace("\r\n", "\n"))


def preprocess(
    source: Source, defines: Mapping[str, str | int] | None = None, include_dirs: Sequence[str] = ()
) -> Preprocessed:
    """Preprocess ``source``. ``defines`` override the file's own object-like macros.

    Raises ParseError: an unknown name in ``defines``, and whatever the preprocessor rejects.
    """
    overrides = {name: str(value) for name, value in (defines or {}).items()}
    directives = list(_directives(source.text))
    local = any(re.match(r'\s*#\s*include\s*"', d.text) for d in directives)
    if not local:  # else a header may be the one to use a name
        _check_names(source, [source.text], overrides)
    candidates = _literal_macros(source.name, directives, overrides)
    passed = {n: v for n, v in overrides.items() if n not in candidates}
    macros, text, plain = _with_names(_Run(source, directives, passed, tuple(map(str, include_dirs))), candidates)
    originals = {source.name: source.text, **_user_files(text, source.name)}
    if local:
        _check_names(source, list(originals.values()), overrides)
    includes = tuple(d.text.strip() for d in directives if re.match(r"\s*#\s*include\s*<", d.text))
    sources = SourceMap(originals, text, _definitions(directives))
    plain_sources = SourceMap(originals, plain, _definitions(directives))
    system = {file_of(m[1]) for m in _MARKER.finditer(text) if "3" in m[2].split()}
    with lines_of(sources):
        text = without_attributes(
            text, lambda file: file not in originals and (file.startswith(SYSTEM) or file in system)
        )
    return Preprocessed(text, source.name, macros, includes, sources, plain, plain_sources)


# what the file's own directives say


@dataclass(frozen=True)
class _Directive:
    """A directive: its first physical line, how many there are, and the logical line without comments."""

    line: int
    count: int
    text: str


def _blank_comments(text: str) -> str:
    """``text`` with comments blanked out and lines that a comment joins joined by backslashes; strings stay, also
    unclosed ones, which end with their line."""
    pattern = re.compile(
        r"//(?:[^\n\\]|\\.|\\\n)*|/\*.*?(?:\*/|\Z)|\"(?:\\.|[^\"\\\n])*(?:\"|$)|'(?:\\.|[^'\\\n])*(?:'|$)", re.S | re.M
    )

    def blank(m: re.Match[str]) -> str:
        return re.sub(r"[^\n]", " ", m[0]).replace("\n", "\\\n") if m[0][0] == "/" else m[0]

    return pattern.sub(blank, text)


def _directives(text: str) -> Iterator[_Directive]:
    """Every directive of the text."""
    lines = _blank_comments(text).split("\n")
    i = 0
    while i < len(lines):
        start, line = i, lines[i]
        while line.endswith("\\") and i + 1 < len(lines):
            i += 1
            line = line[:-1] + " " + lines[i]
        if line.lstrip().startswith("#"):
            yield _Directive(start + 1, i + 1 - start, line)
        i += 1


def _literal(body: str) -> str | None:
    """The literal of an object-like macro's body, parentheses taken off; None if it is something else."""
    body = body.strip()
    while body.startswith("(") and body.endswith(")"):
        body = body[1:-1].strip()
    return body if _LITERAL.fullmatch(body) else None


def _literal_macros(name: str, directives: list[_Directive], overrides: Mapping[str, str]) -> dict[str, Macro]:
    """The macros that may stay names: literal, defined once, not seen to be used by the preprocessor itself."""
    bodies: dict[str, list[tuple[int, str]]] = {}
    barred: set[str] = set()
    for d in directives:
        m = _DEFINE.match(d.text)
        if m:
            bodies.setdefault(m[1], []).append((d.line, "(" if m[2] else m[3]))
            if "#" in m[3]:
                barred.update(_NAME.findall(m[3]))
        elif re.match(r"\s*#\s*(if|elif|undef|include|line)\b", d.text):
            barred.update(_NAME.findall(re.sub(r"defined\s*\(?\s*\w+\s*\)?", "", d.text)))
    macros: dict[str, Macro] = {}
    for macro, definitions in bodies.items():
        value = _literal(overrides.get(macro, definitions[0][1]))
        if macro in barred or len(definitions) > 1 or value is None or definitions[0][1] == "(":
            continue
        macros[macro] = Macro(macro, value, Loc(name, definitions[0][0], 1), macro in overrides)
    return macros


def _definitions(directives: list[_Directive]) -> dict[str, int]:
    """Macro name -> line of its definition."""
    return {m[1]: d.line for d in directives if (m := _DEFINE.match(d.text))}


def _rewritten(text: str, directives: list[_Directive], bodies: Mapping[str, str | None]) -> str:
    """The text with the bodies of some object-like macros replaced, or their definitions taken out (None)."""
    lines = text.split("\n")
    for d in directives:
        m = _DEFINE.match(d.text)
        if m and not m[2] and m[1] in bodies:
            body = bodies[m[1]]
            new = "" if body is None else f"#define {m[1]} {body}"
            lines[d.line - 1 : d.line - 1 + d.count] = [new] + [""] * (d.count - 1)
    return "\n".join(lines)


def _check_names(source: Source, texts: Sequence[str], overrides: Mapping[str, str]) -> None:
    """Refuse a name in ``overrides`` that none of the user's files uses."""
    names = {name for text in texts for name in _NAME.findall(_blank_comments(text))}
    definitions = [m for text in texts for d in _directives(text) if (m := _DEFINE.match(d.text))]
    objects = sorted({m[1] for m in definitions if not m[2]})
    for name in overrides:
        if not _NAME.fullmatch(name):
            raise catalogue.BAD_MACRO_NAME.error(Loc(source.name), name=name)
        if name not in names and name != "NDEBUG":
            raise catalogue.UNKNOWN_MACRO.error(
                Loc(source.name), name=name, meant=did_you_mean(name, objects), macros=objects or "none"
            )


# the compiler's preprocessor

MESSAGE = re.compile(r"^(.*?):(\d+):(?:(\d+):)? (?:fatal )?error: (.*)$", re.M)


@dataclass(frozen=True)
class _Run:
    """What every run of the preprocessor over one file has in common. ``passed``: definitions given with -D."""

    source: Source
    directives: list[_Directive]
    passed: Mapping[str, str]
    include_dirs: tuple[str, ...]

    def text(self, bodies: Mapping[str, str], *options: str) -> str:
        """The preprocessed text where the file defines the macros of ``bodies`` so. Raises ParseError."""
        replaced: dict[str, str | None] = {**dict.fromkeys(self.passed), **bodies}
        return _run(self, _rewritten(self.source.text, self.directives, replaced), options)


def _with_names(run: _Run, candidates: Mapping[str, Macro]) -> tuple[dict[str, Macro], str, str]:
    """Those of ``candidates`` that really can stay names, the text that names them, and the text with values instead.

    Proved, not guessed: with the values put in for the names, the text must be the one that the values give. It is
    another one where a header's #if, or # or ## inside some macro, sees the name.
    """
    values = {name: m.value for name, m in candidates.items()}
    plain = run.text(values)
    if run.passed:
        _check_passed(run, values)

    def keeping(names: Sequence[str]) -> str | None:
        try:
            text = run.text({**values, **{n: n for n in names}})
        except ParseError:
            return None
        return text if _tokens(text, {n: values[n] for n in names}) == expected else None

    expected = _tokens(plain, {})
    text = keeping(list(candidates)) if candidates else plain
    if text is None:
        candidates = {n: m for n, m in candidates.items() if keeping([n]) is not None}
        text = keeping(list(candidates))
    return (dict(candidates), text, plain) if text is not None else ({}, plain, plain)


def _tokens(text: str, values: Mapping[str, str]) -> list[str]:
    """The tokens of a preprocessed text, with ``values`` put in for names; pragmas keep theirs."""
    tokens: list[str] = []
    for m in re.finditer(r"^[ \t]*#.*|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|\.?\w+|[^\s\w]", text, re.M):
        if m[0].lstrip().startswith("#"):
            tokens += [m[0]] if "pragma" in m[0] else []
        elif m[0] in values:
            tokens += re.findall(r"'.*'|\.?\w+|[^\s\w]", values[m[0]])
        else:
            tokens.append(m[0])
    return tokens


def _check_passed(run: _Run, values: Mapping[str, str]) -> None:
    """Refuse a -D that a later #define undoes."""
    for m in re.finditer(r"^#(define|undef) ([A-Za-z_]\w*) ?(.*)", run.text(values, "-dD"), re.M):
        if m[2] in run.passed and (m[1] == "undef" or m[3].split() != run.passed[m[2]].split()):
            raise catalogue.DEFINE_WITHOUT_EFFECT.error(Loc(run.source.name), name=m[2], directive=m[0].strip())


def _run(run: _Run, text: str, options: Sequence[str]) -> str:
    source = run.source
    folder = source.path.parent if source.path is not None else Path.cwd()
    folders = [*run.include_dirs, str(HEADERS)]
    defines = [*_SHIM, *(f"{n}={v}" for n, v in run.passed.items())]
    command = [*toolchain.find_compiler(), "-E", "-x", "c", "-std=gnu11", "-w", *options, "-iquote", str(folder)]
    command += [x for d in folders for x in ("-I", d)]  # not -isystem: $CPATH would come first
    command += [f"-D{d}" for d in defines]
    body = f'# 1 "{quoted(source.name)}"\n{text}\n'.encode("utf-8", "surrogateescape")
    with tempfile.TemporaryDirectory(prefix="c2cu-") as nowhere:  # a text's own folder is searched for "x.h" first
        path = Path(nowhere, "text.c")
        path.write_bytes(body)
        try:
            done = subprocess.run([*command, str(path)], capture_output=True, env={**os.environ, "LC_ALL": "C"})
        except OSError as e:
            raise toolchain.does_not_start(command[0], e) from None
    errors = done.stderr.decode("utf-8", "replace").replace(f"{path.parent}/", "")
    m = MESSAGE.search(errors)
    if m or done.returncode:
        raise _refused(source, m, errors)
    return done.stdout.decode("utf-8", "surrogateescape").replace(quoted(str(path)), "<stdin>")


def _refused(source: Source, m: re.Match[str] | None, errors: str) -> ParseError:
    if m is None:
        last = errors.strip().splitlines()[-1:] or ["no message"]
        return catalogue.PREPROCESSOR.error(Loc(source.name), message=f"the preprocessor failed: {last[0]}")
    message = catalogue.HEADER_NOT_FOUND if re.search("No such file|not found", m[4]) else catalogue.PREPROCESSOR
    error = message.error(Loc(m[1], int(m[2]), int(m[3] or 0)), message=m[4])
    error.sources = {source.name: source.text}
    return error


def _user_files(text: str, main: str) -> dict[str, str]:
    """The texts of the local headers that took part."""
    files: dict[str, str] = {}
    for m in _MARKER.finditer(text):
        name = file_of(m[1])
        if name == main or "3" in m[2].split() or name in files or name.startswith(SYSTEM):
            continue
        try:
            files[name] = Path(name).read_text(errors="replace")
        except OSError:
            continue
    return files
