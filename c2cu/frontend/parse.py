"""Parsing: pycparser, with a place for everything."""

from __future__ import annotations

import re
import sys
import threading
from dataclasses import replace
from typing import Any

from pycparser import c_ast as C
from pycparser.c_parser import CParser

from ..base.diagnostics import Loc, ParseError, UnsupportedError, file_of
from .preprocess import SYSTEM, Preprocessed

STACK = 512 << 20  # bytes: a sum of thousands of terms is a tree thousands deep
DEPTH = 200_000


def parse(pre: Preprocessed) -> C.FileAST:
    """The AST of a preprocessed text. Raises ParseError at the first syntax error."""
    return deep(lambda: _parse(pre))


def deep(work: Any) -> Any:
    """Call ``work`` with room for very deep recursion; what it raises is raised here."""
    result: list[Any] = []
    failed: list[BaseException] = []

    def run() -> None:
        try:
            result.append(work())
        except BaseException as e:  # handed to the caller's thread
            failed.append(e)

    limit, size = sys.getrecursionlimit(), threading.stack_size(STACK)
    sys.setrecursionlimit(DEPTH)
    try:
        thread = threading.Thread(target=run)
        thread.start()
        thread.join()
    finally:
        threading.stack_size(size)
        sys.setrecursionlimit(limit)
    if failed:
        raise failed[0]
    return result[0]


def _parse(pre: Preprocessed) -> C.FileAST:
    parser = CParser()
    try:
        return parser.parse(_without_markers(pre.text), pre.name)
    except RecursionError:
        raise ParseError("C2CU002", "an expression is nested too deeply", Loc(pre.name)) from None
    except Exception as e:
        if type(e).__name__ not in ("ParseError", "PLYParser", "AssertionError"):
            raise
        raise _syntax_error(str(e), pre, parser) from None


def _without_markers(text: str) -> str:
    """GCC's flags after a file name are dropped: pycparser takes them, but slowly."""
    return re.sub(r'^(# \d+ "(?:[^"\\]|\\.)*")(?: \d)+$', r"\1", text, flags=re.M)


def _syntax_error(message: str, pre: Preprocessed, parser: CParser) -> ParseError | UnsupportedError:
    m = re.match(r"(.*?):(\d+)(?::(\d+))?: (.*)", message, re.S) or _next_token(parser)
    if not m:
        lines = pre.sources.get(pre.name, "").rstrip().split("\n")
        return ParseError(
            "C2CU002",
            "syntax error: the file ends too early",
            Loc(pre.name, len(lines), len(lines[-1]) or 1),
            "is a brace or a semicolon missing?",
        )
    loc = Loc(file_of(m[1]), int(m[2]), int(m[3] or 0))
    if re.search(r"\b(__)?asm(__)?\b", pre.sources.line(loc.file, loc.line) or ""):
        return UnsupportedError("C2CU085", "inline assembly", loc, "write it in C")
    what = m[4].strip()
    before = re.fullmatch(r"before: (.*)", what, re.S)
    text = f"syntax error before '{before[1]}'" if before else f"syntax error: {what[:1].lower()}{what[1:]}"
    end = loc.column + len(before[1]) if before else 0
    return ParseError("C2CU002", text, replace(loc, end=end), "the C must compile as it stands: does gcc take it?")


def _next_token(parser: CParser) -> re.Match[str] | None:
    """Where the parser stood, for messages that do not say it."""
    try:
        token = parser._tokens.peek()
        if token is None:
            return None
        coord = parser._tok_coord(token)
        return re.match(
            r"(.*?):(\d+):(\d+): (.*)", f"{coord.file}:{coord.line}:{coord.column}: before: {token.value}", re.S
        )
    except AttributeError:
        return None


def loc_of(node: Any) -> Loc:
    """Where a node begins; ``end`` where its extent on the line is cheap to tell."""
    coord = getattr(node, "coord", None)
    if coord is None:
        return Loc()
    return Loc(file_of(coord.file or ""), coord.line or 0, coord.column or 0, _end(node, coord.line))


def _end(node: Any, line: int) -> int:
    """One past the last column of a simple expression on ``line``; 0 where it is not simple."""
    match node:
        case C.ID():
            return getattr(node.coord, "column", 0) + len(node.name)
        case C.Constant():
            return getattr(node.coord, "column", 0) + len(node.value)
        case C.ArrayRef():
            inner = _end(node.subscript, line) if _on(node.subscript, line) else 0
            return inner + 1 if inner else 0
        case C.StructRef():
            return _end(node.field, line) if _on(node.field, line) else 0
        case C.BinaryOp():
            return _end(node.right, line) if _on(node.right, line) else 0
    return 0


def _on(node: Any, line: int) -> bool:
    return getattr(node, "coord", None) is not None and node.coord.line == line


def is_user_file(pre: Preprocessed, file: str) -> bool:
    """Whether a declaration's file is the user's, not a system header."""
    return file in pre.sources or not (file.startswith(SYSTEM) or file == "")
