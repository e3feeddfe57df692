"""Files, their directives, and the text that comes of them, with gcc's line markers and spaces."""

from __future__ import annotations

import functools
import os
import platform
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ...base.diagnostics import Loc, ParseError, lines_of, quoted
from .condition import condition
from .define import check_name, macro_of
from .expand import Expansion, Given, Macro
from .tokens import Line, Token, glued, lines, spelled

PREDEFINED = Path(__file__).parent / "predefined.h"
DEEPEST = 200  # files that include one another
GAP = 8  # lines that are left empty, where more get a marker
_IGNORED = ("ident", "sccs", "warning")
_SPECIAL = ("__FILE__", "__LINE__", "__COUNTER__", "__DATE__", "__TIME__", "__INCLUDE_LEVEL__")
# defined, with a value that only the compiler knows
_UNKNOWN = (
    *("__has_builtin", "__has_attribute", "__has_cpp_attribute", "__has_c_attribute", "__has_include_next"),
    *("__BASE_FILE__", "__TIMESTAMP__"),
)
# what gcc predefines and we do not: of vector instructions, and of types that are not taken
_UNTOLD = re.compile(
    r"__(SSE2?(_MATH)?|MMX(_WITH_SSE)?|FXSR|DEC(32|64|128)_\w+|DEC_EVAL_METHOD|DECIMAL_BID_FORMAT"
    r"|FLT(16|32|64|128)X?_\w+|SIZEOF_(FLOAT80|FLOAT128|INT128))__"
)
_NO_FILES = ("<built-in>", "<command-line>")
_IN_CONDITIONS = ("if", "ifdef", "ifndef", "elif", "else", "endif")
_NEWER = ("elifdef", "elifndef")  # not in C11, but some compilers take them: errors, also where nothing is read


def preprocessed(
    text: str, name: str, folder: str, folders: Sequence[str], defines: Sequence[str], definitions: bool = False
) -> str:
    """What ``gcc -E`` gives of a file. ``folder``: that of #include "...", before ``folders``; ``defines``: as
    NAME=VALUE; ``definitions``: write what the files define too, as -dD does. Raises ParseError."""
    files = _Files(folder, tuple(folders), definitions, dict(_predefined()))
    for d in defines:
        words = lines(d.replace("=", " ", 1), "<command-line>")[0]
        if definitions and (known := files.macros.get(words[0].text)):  # -dD writes what is predefined, too
            files.output.line("<built-in>", 1, f"#define {known.name} " + spelled(list(known.body)))
        files.define(words, "<command-line>")
    with lines_of({name: text}):
        try:
            files.read(text, name)
        except RecursionError:
            raise ParseError("C2CU002", "headers or macros are nested too deeply", Loc(name)) from None
    return files.output.text()


@functools.cache
def _predefined() -> Mapping[str, Macro]:
    """As gcc predefines them, without those that `_UNTOLD` matches."""
    files = _Files("", (), False, {})
    if platform.machine() == "x86_64":
        files.define(lines("__x86_64__ 1", "<built-in>")[0], "<built-in>")
    files.read(PREDEFINED.read_text(), "<built-in>")
    return files.macros


@dataclass
class _Output:
    """Lines of text, each of a line of a file."""

    found: list[tuple[str, int, str]] = field(default_factory=list)
    last: str = ""  # the token before

    def add(self, file: str, t: Token) -> None:
        if self.found and self.found[-1][:2] == (file, t.line):
            space = t.space or (t.edge and glued(self.last, t))
            self.found[-1] = (file, t.line, self.found[-1][2] + " " * space + t.text)
        else:
            self.line(file, t.line, " " * (t.column - 1) + t.text)
        self.last = t.text

    def line(self, file: str, number: int, text: str) -> None:
        self.found.append((file, number, text))

    def text(self) -> str:
        out: list[str] = []
        at, expected = "", 0
        for file, number, text in self.found:
            if file == at and expected <= number <= expected + GAP:
                out += [""] * (number - expected)
            else:
                out.append(f'# {number} "{quoted(file)}"')
            out.append(text)
            at, expected = file, number + 1
        return "\n".join([*out, ""])


Content = tuple[int, bytes]  # gcc tells files apart by these, see _opened


@dataclass
class _Files:
    folder: str  # of #include "...", where it is not that of the file
    folders: tuple[str, ...]
    definitions: bool
    macros: dict[str, Macro]
    output: _Output = field(default_factory=_Output)
    once: set[Content] = field(default_factory=set)  # files of #pragma once
    depth: int = 0
    counter: int = 0

    def read(self, text: str, name: str, content: Content | None = None) -> None:
        source = _File(self, name, lines(text.replace("\r\n", "\n"), name), content)
        expansion = Expansion(self.macros, source)
        while (t := expansion.next()) is not None:
            if t.kind == "name" and t.text == "__has_include":
                raise source.error(t, '"__has_include" used outside of preprocessing directive')
            if t.text == "_Pragma":
                self.pragma(source, t, [expansion.next() for _ in range(3)])
            else:
                self.output.add(name, t)

    def pragma(self, source: _File, t: Token, rest: list[Token | None]) -> None:
        """The operator _Pragma("...") on a line of its own."""
        texts = [x.text if x else "" for x in rest]
        if (texts[0], texts[2]) != ("(", ")") or texts[1][:1] != '"':
            raise source.error(t, "_Pragma takes a parenthesized string literal")
        text = re.sub(r'\\(["\\])', r"\1", texts[1][1:-1])
        for words in lines(text, source.file):
            source.pragma(words, t, text)
        self.output.line(source.file, t.line, "")

    def include(self, words: Line, at: Token, file: str) -> None:
        text = spelled(words)
        m = re.fullmatch(r'"([^"]*)"|<([^>]*)>', text)
        if m is None:
            raise ParseError("C2CU002", '#include expects "FILENAME" or <FILENAME>', at.loc(file))
        name = m[1] or m[2] or ""
        first = (os.path.dirname(file), self.folder) if m[1] else ()
        opened = self.found(name, first, at, file)
        if opened is None:
            hint = "give the folder with -I"
            if not m[1]:
                hint += "; without a C compiler the only headers are those that c2cu brings"
            place = Loc(file, words[0].line, words[0].column)
            raise ParseError("C2CU002", f"{name}: No such file or directory", place, hint)
        if self.depth == DEEPEST:
            raise ParseError("C2CU002", f"#include nested depth {DEEPEST} exceeds the maximum", at.loc(file))
        if opened[1:] not in self.once:
            self.depth += 1
            self.read(opened[2].decode("utf-8", "surrogateescape").removeprefix("\ufeff"), opened[0], opened[1:])
            self.depth -= 1

    def found(self, name: str, first: Sequence[str], at: Token, file: str) -> tuple[str, int, bytes] | None:
        """A header, as `_opened`. ``first``: folders before those of all."""
        try:
            return next((x for d in (*first, *self.folders) if (x := _opened(os.path.join(d, name)))), None)
        except (OSError, ValueError) as e:
            raise ParseError("C2CU002", f"{name}: {getattr(e, 'strerror', e)}", at.loc(file)) from None

    def has(self, words: Line, at: Token, file: str) -> bool:
        """__has_include. What is not found may be a header of the compiler's: an error."""
        m = re.fullmatch(r'"([^"]+)"|<([^>]+)>', spelled(words))
        if m is None:
            raise ParseError("C2CU002", '__has_include expects "FILENAME" or <FILENAME>', at.loc(file))
        name = m[1] or m[2]
        if self.found(name, (os.path.dirname(file), self.folder) if m[1] else (), at, file) is None:
            raise ParseError(
                "C2CU002", f"whether there is {name} only a C compiler knows", at.loc(file), "give its folder with -I"
            )
        return True

    def define(self, words: Line, file: str) -> None:
        macro = macro_of(words, file)
        self.macros[macro.name] = macro
        if self.definitions and file not in _NO_FILES:
            self.output.line(file, words[0].line, "#define " + spelled(words))

    def undefine(self, words: Line, file: str) -> None:
        check_name(words[0], file)
        if words[0].text in (*_SPECIAL, *_UNKNOWN, "_Pragma") or _UNTOLD.fullmatch(words[0].text):
            raise ParseError("C2CU002", f"'{words[0].text}' cannot be undefined", words[0].loc(file))
        self.macros.pop(words[0].text, None)
        if self.definitions and file not in _NO_FILES:
            self.output.line(file, words[0].line, "#undef " + words[0].text)


def _opened(path: str) -> tuple[str, int, bytes] | None:
    """Its name, and what one file is for #pragma once: the second of its last change, and its bytes. None if there is
    no such file. Raises OSError if it cannot be read."""
    try:
        if os.path.isdir(path):
            return None
        return path, int(os.stat(path).st_mtime), Path(path).read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None


@dataclass
class _Group:
    """An #if: whether this part of it is read, whether one was, whether what is around it is."""

    at: Token
    live: bool
    done: bool
    around: bool
    last: bool = False  # #else was seen


@dataclass
class _File:
    """A file's tokens, its directives carried out on the way."""

    files: _Files
    file: str
    lines: list[Line]
    content: Content | None = None  # None: the main file
    line: Line = field(default_factory=list)
    at: int = 0
    number: int = 0  # of the next line
    groups: list[_Group] = field(default_factory=list)

    @property
    def live(self) -> bool:
        return not self.groups or self.groups[-1].live

    def next(self, inside: bool) -> Token | None:
        """``inside``: the arguments of a macro."""
        while self.at == len(self.line):
            if self.number == len(self.lines):
                if self.groups:
                    raise self.error(self.groups[-1].at, f"unterminated #{self.groups[-1].at.text}")
                return None
            line = self.lines[self.number]
            self.number += 1
            if line[0].text in ("#", "%:"):
                self.directive(line, inside)
            elif self.live:
                self.line, self.at = line, 0
                if inside:  # the line's end before it is white space
                    self.line = [line[0]._replace(space=True), *line[1:]]
        self.at += 1
        return self.line[self.at - 1]

    def opens(self) -> bool:
        if self.at < len(self.line):
            return self.line[self.at].text == "("
        return self.number < len(self.lines) and self.lines[self.number][0].text == "("

    def special(self, t: Token) -> Token | None:
        if t.text in _UNKNOWN or _UNTOLD.fullmatch(t.text):
            raise self.error(t, f"'{t.text}' is not understood without a C compiler")
        if t.text not in _SPECIAL:
            return None
        kind, text = "string", f'"{quoted(self.file)}"'
        if t.text == "__LINE__":
            kind, text = "number", str(t.line)
        elif t.text == "__INCLUDE_LEVEL__":
            kind, text = "number", str(self.files.depth)
        elif t.text == "__COUNTER__":
            kind, text = "number", str(self.files.counter)
            self.files.counter += 1
        elif t.text in ("__DATE__", "__TIME__"):
            text = time.strftime('"%b %e %Y"' if t.text == "__DATE__" else '"%H:%M:%S"')
        return t._replace(kind=kind, text=text, edge=True)

    def error(self, t: Token, message: str) -> ParseError:
        return ParseError("C2CU002", message, t.loc(self.file))

    # directives

    def directive(self, line: Line, inside: bool) -> None:
        if len(line) == 1:
            return
        name, words = line[1], line[2:]
        if name.text in _IN_CONDITIONS:
            self.conditional(name, words)
        elif name.text in _NEWER or (self.live and name.text not in _IGNORED):
            self.act(name, words, line, inside)

    def act(self, name: Token, words: Line, line: Line, inside: bool) -> None:
        match name.text:
            case "define" | "undef" if not words:
                raise self.error(name, f"no macro name given in #{name.text} directive")
            case "define":
                self.files.define(words, self.file)
            case "undef":
                self.files.undefine(words, self.file)
            case "include" if not inside:
                literal = words and (words[0].text == "<" or words[0].kind in ("string", "header"))
                self.files.include(words if literal else self.expanded(words), name, self.file)
            case "pragma" if not inside:
                self.pragma(words, line[0], spelled(words))
            case "error":
                raise self.error(name, "#error " + spelled(words))
            case _:
                what = f"#{spelled(line[1:])}"
                where = " in a macro's arguments" if inside else ""
                raise self.error(name, f"'{what}'{where} is not understood without a C compiler")

    def pragma(self, words: Line, at: Token, text: str) -> None:
        texts = [t.text for t in words[:2]]
        if texts[:1] == ["once"]:
            if self.content is not None:
                self.files.once.add(self.content)
        elif any(t in ("push_macro", "pop_macro", "poison") for t in texts):
            raise self.error(at, f"'#pragma {text}' is not understood without a C compiler")
        elif texts == ["GCC", "error"]:
            raise self.error(at, f"#pragma {text}")
        else:
            self.files.output.line(self.file, at.line, "#pragma " + text)

    def conditional(self, name: Token, words: Line) -> None:
        if name.text in ("if", "ifdef", "ifndef"):
            live = self.live and self.holds(name, words)
            self.groups.append(_Group(name, live, live, self.live))
            return
        if not self.groups:
            raise self.error(name, f"#{name.text} without #if")
        g = self.groups[-1]
        if name.text == "endif":
            self.groups.pop()
            return
        if g.last:
            raise self.error(name, f"#{name.text} after #else")
        g.last = name.text == "else"
        g.live = g.around and not g.done and (g.last or self.holds(name, words))
        g.done = g.done or g.live

    def holds(self, name: Token, words: Line) -> bool:
        if name.text in ("ifdef", "ifndef"):
            if not words or words[0].kind != "name":
                raise self.error(name, f"no macro name given in #{name.text} directive")
            return self.defined(words[0]) == (name.text == "ifdef")
        return condition(self.asked(words), name, self.file)

    def defined(self, t: Token) -> bool:
        if t.text in self.files.macros:
            return True
        if _UNTOLD.fullmatch(t.text):
            raise self.error(t, f"'{t.text}' is not understood without a C compiler")
        return t.text in (*_SPECIAL, *_UNKNOWN, "__has_include", "_Pragma")

    def asked(self, words: Line) -> Line:
        """Of an #if: macros replaced, with 0 or 1 for each ``defined X``."""
        expansion = Expansion(self.files.macros, Given(words, self))
        found: Line = []
        while (t := expansion.next()) is not None:
            if t.text == "defined":
                which = expansion.raw()
                parenthesis = which is not None and which.text == "("
                which = expansion.raw() if parenthesis else which
                if which is None or which.kind != "name":
                    raise self.error(t, 'operator "defined" requires an identifier')
                if parenthesis and ((close := expansion.raw()) is None or close.text != ")"):
                    raise self.error(t, "missing ')' after \"defined\"")
                t = t._replace(kind="number", text=str(int(self.defined(which))))
            elif t.kind == "name" and t.text == "__has_include":
                named: Line = []
                while (x := expansion.next()) is not None and x.text != ")":
                    named.append(x)
                if x is None or not named or named[0].text != "(":
                    raise self.error(t, "__has_include needs parentheses around its operand")
                t = t._replace(kind="number", text=str(int(self.files.has(named[1:], t, self.file))))
            found.append(t)
        return found

    def expanded(self, words: Line) -> Line:
        return Expansion(self.files.macros, Given(words, self)).all()
