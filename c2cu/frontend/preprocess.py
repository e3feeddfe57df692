"""Preprocessing: the host compiler's -E over our own small headers, with the user's literal macros kept as names.

A macro such as ``#define N 1024`` is redefined to itself for the run, so that the text still says ``D[N][N]`` and
generated code can too; its value stands beside the text and may come from -D or from an input's shape.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeGuard

from ..base import catalogue, toolchain
from ..base.diagnostics import Error, Loc, ParseError, SourceMap, did_you_mean, file_of, lines_of, quoted
from ..base.reading import nearest, read_file, way_to
from ..base.scratch import scratch
from .attributes import Mark, without_attributes
from .languages import of_another_languages_header
from .pieces import Lines
from .whole_text import whole_text

SECONDS, MEMORY = 8, 4 << 30  # that the preprocessor may take
_ENDLESS = "the preprocessor does not end: is a header a device, or a pipe that nobody writes to?"
HEADERS = Path(__file__).parent / "include"
SYSTEM = (str(HEADERS), "/usr/", "<")  # where files are not the user's

#: A macro may be called so, where no header follows; the parser would not take it for a name.
KEYWORDS = frozenset(
    "auto break case char const continue default do double else enum extern float for goto if inline int long register "
    "restrict return short signed sizeof static struct switch typedef union unsigned void volatile while".split()
)
_LITERAL = re.compile(
    r"[-+]?\s*(0[xX][0-9a-fA-F]+[uUlL]*|\d+[uUlL]*|(\d+\.\d*|\.\d+|\d+(?=[eE]))([eE][-+]?\d+)?[fF]?|'(\\.|[^'\\])+')"
)
_ODD = re.compile(r"[\x00-\x08\x0e-\x1f\udc80-\udcff]")  # what no text has
_DEFINE = re.compile(r"\s*#\s*define\s+([A-Za-z_]\w*)(\(?)(.*)", re.S)
_MARKER = re.compile(r'^# \d+ "((?:[^"\\]|\\.)*)"((?: \d)*)$', re.M)
_SYSTEM_INCLUDE = re.compile(r"^[ \t]*#[ \t]*include[ \t]*<[^>\n]+>", re.M)
_NAME = re.compile(r"[A-Za-z_]\w*")
_RESERVED = re.compile(r"_[A-Z_]")  # 7.1.3: _GNU_SOURCE, _FORTIFY_SOURCE
_HEADERS_MATTER = re.compile(r"__has_|__C2CU__|##")  # ## may make any name
_NO_HEADER = re.compile(r"<|.*/stdc-predef\.h$")  # <built-in> and the like, and what glibc puts before every text


@dataclass(frozen=True)
class Source:
    """A C text and how messages call it. ``path`` is None for text that is in no file. ``pre``: what it was
    preprocessed to already, where another machine, without its headers, is to go on from there. ``others``: the
    program's other files."""

    name: str
    text: str
    path: Path | None = None
    pre: Preprocessed | None = None
    others: tuple[Source, ...] = ()

    @property
    def units(self) -> tuple[Source, ...]:
        """Every file of the program, in the order in which they were given."""
        return replace(self, others=()), *self.others


@dataclass(frozen=True)
class Macro:
    """A kept macro: ``value`` is the literal it stands for."""

    name: str
    value: str
    loc: Loc
    overridden: bool = False


@dataclass(frozen=True)
class Preprocessed:
    """``text`` is ready for pycparser. ``includes``: the user's lines that include system headers. ``sources``: for
    carets. ``parts``: of a program of several files, each by itself; the rest then is what they have together."""

    text: str
    name: str
    macros: Mapping[str, Macro]
    includes: tuple[str, ...]
    sources: SourceMap
    plain: str = ""  # as the compiler sees it: every macro expanded, attributes in place
    plain_sources: SourceMap = field(default_factory=lambda: SourceMap({}))
    host: str = ""  # what the host's preprocessor makes of it with the host's own headers
    parts: tuple[Preprocessed, ...] = ()
    marks: tuple[Mark, ...] = ()  # what the attributes that ``text`` does not have any more change
    whole: str = ""  # the file's own text with its own headers in place, before it is preprocessed
    system: frozenset[str] = frozenset()  # the headers that the compiler calls its system's, wherever they lie

    @property
    def units(self) -> tuple[Preprocessed, ...]:
        """Each file's translation unit."""
        return self.parts or (self,)


def read_source(src: str | os.PathLike | Sequence[str | os.PathLike]) -> Source:
    """A str with a newline or a brace is C text, anything else a path; a list or tuple of them is one program. Raises
    ParseError if one cannot be read."""
    if isinstance(src, (str, bytes, os.PathLike)) or not isinstance(src, Sequence):
        return _read(src)
    if not src:
        raise catalogue.WRONG_KIND.error(argument="the source", value=repr(src), expected="at least one file")
    first, *others = (_read(s) for s in src)
    numbered = (replace(s, name=f"<input {k}>") if s.path is None else s for k, s in enumerate(others, 2))
    return replace(first, others=tuple(numbered))


def is_text(src: object) -> TypeGuard[str]:
    """Whether it is C text; else it may be a path."""
    return isinstance(src, str) and ("\n" in src or "{" in src)


def _read(src: object) -> Source:
    if not isinstance(src, (str, os.PathLike)):
        raise catalogue.WRONG_KIND.error(
            argument="the source", value=f"{src!r:.80}", expected="C text or a file's name"
        )
    if isinstance(src, str) and "\0" in src:
        raise catalogue.BINARY_SOURCE.error(name="<input>")
    if isinstance(src, str) and (is_text(src) or not src):
        return _checked(Source("<input>", src))
    path = Path(src)
    try:
        data = read_file(path)
    except OSError as e:
        guess = nearest(path, ".c")
        unreadable = catalogue.CANNOT_READ_SOURCE if path.suffix or guess else catalogue.NEITHER_FILE_NOR_TEXT
        raise unreadable.error(path=path, reason=e.strerror, meant=way_to(path, e, ".c")) from None
    if b"\0" in data:
        raise catalogue.BINARY_SOURCE.error(Loc(str(path)), name=path)
    text = data.decode("utf-8", errors="surrogateescape")
    if len(_ODD.findall(text)) > 0.1 * len(text):
        raise catalogue.BINARY_SOURCE.error(Loc(str(path)), name=path)
    return _checked(Source(str(path), text, path))


def _checked(source: Source) -> Source:
    if not source.text.strip():
        raise catalogue.EMPTY_SOURCE.error(Loc(source.name), name=source.name)
    return replace(source, text=source.text.removeprefix("\ufeff").replace("\r\n", "\n"))


def preprocess(
    source: Source, defines: Mapping[str, str | int] | None = None, include_dirs: Sequence[str] = ()
) -> Preprocessed:
    """Preprocess ``source``, each of its files by itself. ``defines`` override the files' own object-like macros.

    Raises ParseError: an unknown name in ``defines``, and whatever the preprocessor rejects.
    """
    overrides = {name: str(value) for name, value in (defines or {}).items()}
    if not source.others:
        return _unit(source, overrides, include_dirs)
    units = source.units
    parts = [_unit(u, overrides, include_dirs, alone=False) for u in units]
    _check_names(source, [text for p in parts for text in p.sources.values()], overrides)
    unlike = _unlike(parts)
    if unlike:
        parts = [_unit(u, overrides, include_dirs, False, unlike) for u in units]
    return _together(tuple(parts))


def _unlike(parts: Sequence[Preprocessed]) -> frozenset[str]:
    """Macros that would stay names in one file, and mean something else in another."""
    named = [set(_NAME.findall(p.text)) - p.macros.keys() for p in parts]
    values: dict[str, set[str]] = {}
    for p in parts:
        for m in p.macros.values():
            values.setdefault(m.name, set()).add(m.value)
    return frozenset(n for n, v in values.items() if len(v) > 1 or any(n in names for names in named))


def _together(parts: tuple[Preprocessed, ...]) -> Preprocessed:
    macros = {m.name: m for p in reversed(parts) for m in p.macros.values()}
    return Preprocessed(
        "\n".join(p.text for p in parts),
        parts[0].name,
        macros,
        tuple(dict.fromkeys(line for p in parts for line in p.includes)),
        SourceMap.joined([p.sources for p in parts]),
        "\n".join(p.plain for p in parts),
        SourceMap.joined([p.plain_sources for p in parts]),
        parts=parts,
        system=frozenset().union(*(p.system for p in parts)),
    )


def _unit(
    source: Source,
    overrides: Mapping[str, str],
    include_dirs: Sequence[str],
    alone: bool = True,
    expanded: frozenset[str] = frozenset(),
) -> Preprocessed:
    """One file. ``alone``: it must use every name in ``overrides``. ``expanded``: macros that may not stay names."""
    directives = list(_directives(source.text))
    local = any(re.match(r'\s*#\s*include\s*"', d.text) for d in directives)
    if alone and not local:  # else a header may be the one to use a name
        _check_names(source, [source.text], overrides)
    candidates = _literal_macros(source.name, directives, overrides)
    passed = {n: v for n, v in overrides.items() if n not in candidates}
    run = _Run(source, directives, passed, tuple(map(str, include_dirs)), candidates)
    macros, text, plain = _with_names(run, {n: m for n, m in candidates.items() if n not in expanded})
    host = plain if run.sees_no_header(plain) else run.host_text({name: m.value for name, m in candidates.items()})
    originals = {source.name: source.text, **_user_files(text, source.name, run.include_dirs)}
    if alone and local:
        _check_names(source, list(originals.values()), overrides)
    includes = tuple(_system_includes(text, originals))
    sources = SourceMap(originals, text, _definitions(directives))
    plain_sources = SourceMap(originals, plain, _definitions(directives))
    system = frozenset(file_of(m[1]) for m in _MARKER.finditer(text) if "3" in m[2].split())
    with lines_of(sources):
        text, marks = without_attributes(
            text, lambda file: file not in originals and (file.startswith(SYSTEM) or file in system)
        )
    folder = source.path.parent if source.path is not None else Path.cwd()
    text_of_its_own = run.rewritten({name: m.value for name, m in candidates.items()})
    whole = whole_text(text_of_its_own, folder, run.include_dirs, run.passed)
    return Preprocessed(
        text,
        source.name,
        macros,
        includes,
        sources,
        plain,
        plain_sources,
        host,
        marks=marks,
        whole=whole,
        system=system,
    )


# what the file's own directives say


@dataclass(frozen=True)
class _Directive:
    """A directive: its first physical line, how many there are, and the logical line without comments."""

    line: int
    count: int
    text: str


def without_comments(text: str) -> str:
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
    lines = without_comments(text).split("\n")
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
        if macro in barred | KEYWORDS or len(definitions) > 1 or value is None or definitions[0][1] == "(":
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
    """Refuse a name in ``overrides`` that none of the user's files uses. Those that C reserves are for headers."""
    names = {name for text in texts for name in _NAME.findall(without_comments(text))}
    definitions = [m for text in texts for d in _directives(text) if (m := _DEFINE.match(d.text))]
    objects = sorted({m[1] for m in definitions if not m[2]})
    for name in overrides:
        if not _NAME.fullmatch(name):
            raise catalogue.BAD_MACRO_NAME.error(Loc(source.name), name=name)
        if name not in names and name != "NDEBUG" and not _RESERVED.match(name):
            raise catalogue.UNKNOWN_MACRO.error(
                Loc(source.name), name=name, meant=did_you_mean(name, objects), macros=objects or "none"
            )


# the compiler's preprocessor

MESSAGE = re.compile(r"^(.*?):(\d+):(?:(\d+):)? (?:fatal )?error: (.*)$", re.M)


@dataclass(frozen=True)
class _Run:
    """What every run of the preprocessor over one file has in common. ``passed``: definitions given with -D;
    ``literal``: macros that the file defines, and what they are now."""

    source: Source
    directives: list[_Directive]
    passed: Mapping[str, str]
    include_dirs: tuple[str, ...]
    literal: Mapping[str, Macro]

    def text(self, bodies: Mapping[str, str], *options: str) -> str:
        """The preprocessed text where the file defines the macros of ``bodies`` so. Raises ParseError."""
        shim = (*(x for d in (*self.include_dirs, str(HEADERS)) for x in ("-I", d)), "-D__C2CU__=1")
        return _run(self, self.rewritten(bodies), (*options, *shim))

    def host_text(self, bodies: Mapping[str, str]) -> str:
        """Likewise, with the host's headers instead of ours. Raises ParseError."""
        return _run(self, self.rewritten(bodies), tuple(x for d in self.include_dirs for x in ("-I", d)))

    def sees_no_header(self, plain: str) -> bool:
        """Whether the text is the same with any headers. ``plain``: what the preprocessor makes of it with ours."""
        asks = any(_HEADERS_MATTER.search(text) for text in (self.source.text, *self.passed.values()))
        return not asks and all(f == self.source.name or _NO_HEADER.match(f) for f in entered(plain))

    def rewritten(self, bodies: Mapping[str, str]) -> str:
        """The file's text, in which it defines the macros of ``bodies`` so."""
        replaced: dict[str, str | None] = {**dict.fromkeys(self.passed), **bodies}
        return _rewritten(self.source.text, self.directives, replaced)


def _with_names(run: _Run, candidates: Mapping[str, Macro]) -> tuple[dict[str, Macro], str, str]:
    """Those of ``candidates`` that really can stay names, the text that names them, and the text with values instead.

    Proved, not guessed: with the values put in for the names, the text must be the one that the values give. It is
    another one where a header's #if, or # or ## inside some macro, sees the name.
    """
    values = {name: m.value for name, m in run.literal.items()}
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
    text = run.text(values, "-dD")
    for m in re.finditer(r"^#(define|undef) ([A-Za-z_]\w*) ?(.*)", text, re.M):
        if m[2] in run.passed and (m[1] == "undef" or m[3].split() != run.passed[m[2]].split()):
            loc = Loc(*Lines(text).of(m.start()), 1)
            error = catalogue.DEFINE_WITHOUT_EFFECT.error(loc, name=m[2], directive=m[0].strip())
            files = _user_files(text, run.source.name, run.include_dirs)
            error.sources = {run.source.name: run.source.text, **files}
            raise error


def _run(run: _Run, text: str, options: Sequence[str]) -> str:
    source = run.source
    folder = source.path.parent if source.path is not None else Path.cwd()
    compiler = toolchain.find_compiler()
    toolchain.compiler_version(compiler)  # what does not answer is no compiler
    command = [*compiler, "-E", "-x", "c", "-std=gnu11", "-w", "-iquote", str(folder)]
    command += options  # folders with -I, not -isystem: $CPATH would come first
    command += [f"-D{n}={v}" for n, v in run.passed.items()]
    body = f'# 1 "{quoted(source.name)}"\n{text}\n'.encode("utf-8", "surrogateescape")
    with scratch() as nowhere:  # a text's own folder is searched for "x.h" first
        path = nowhere / "text.c"
        path.write_bytes(body)
        done = toolchain.bounded([*command, str(path)], SECONDS, MEMORY)
    if done is None:
        raise catalogue.PREPROCESSOR.error(Loc(source.name), message=_ENDLESS)
    errors = done.stderr.decode("utf-8", "replace").replace(f"{path.parent}/", "")
    m = MESSAGE.search(errors)
    if m or done.returncode:
        raise _refused(source, m, errors)
    return done.stdout.decode("utf-8", "surrogateescape").replace(quoted(str(path)), "<stdin>")


def _refused(source: Source, m: re.Match[str] | None, errors: str) -> Error:
    if m is None:
        last = errors.strip().splitlines()[-1:] or ["no message"]
        return catalogue.PREPROCESSOR.error(Loc(source.name), message=f"the preprocessor failed: {last[0]}")
    message = catalogue.HEADER_NOT_FOUND if re.search("No such file|not found", m[4]) else catalogue.PREPROCESSOR
    error = message.error(Loc(m[1], int(m[2]), int(m[3] or 0)), message=m[4])
    error.sources = {source.name: source.text}
    return of_another_languages_header(error, source.text if m[1] == source.name else "")


def entered(text: str) -> set[str]:
    """The files that a preprocessed text comes from; names like <built-in> among them."""
    return {file_of(m[1]) for m in _MARKER.finditer(text)}


def _system_includes(text: str, originals: Mapping[str, str]) -> list[str]:
    """The directives for system headers in the user's own files, of those headers that took part."""
    files = [f"/{name}" for name in entered(text)]
    user_files = [f"/{name}" for name in originals]  # <> finds those in the folders of -I
    directives = [d.strip() for file in originals.values() for d in _SYSTEM_INCLUDE.findall(file)]

    def is_system(d: str) -> bool:
        end = f"/{d[d.index('<') + 1 : -1]}"
        return any(f.endswith(end) for f in files) and not any(f.endswith(end) for f in user_files)

    return [d for d in dict.fromkeys(directives) if is_system(d)]


def _user_files(text: str, main: str, include_dirs: Sequence[str]) -> dict[str, str]:
    """The texts of the local headers that took part; those of ``include_dirs`` are local wherever these are."""
    folders = tuple(f"{d.rstrip('/')}/" for d in include_dirs)
    files: dict[str, str] = {}
    for m in _MARKER.finditer(text):
        name = file_of(m[1])
        if name == main or "3" in m[2].split() or name in files:
            continue
        if name.startswith(SYSTEM) and not name.startswith(folders):
            continue
        try:
            if not Path(name).is_file():  # a marker may name a device, which never ends
                continue
            files[name] = Path(name).read_text(errors="replace")
        except OSError:
            continue
    return files
