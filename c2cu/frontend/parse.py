"""Parsing: pycparser, with a place for everything."""

from __future__ import annotations

import re
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, TypeVar

from pycparser import c_ast as C
from pycparser.c_parser import CParser

from ..base import catalogue
from ..base.diagnostics import Loc, ParseError, UnsupportedError, file_of
from .preprocess import SYSTEM, Preprocessed

STACK = 512 << 20  # bytes: a sum of thousands of terms is a tree thousands deep
DEPTH = 200_000
T = TypeVar("T")


def parse(pre: Preprocessed) -> C.FileAST:
    """The AST of a preprocessed text. Raises ParseError at the first syntax error."""
    return deep(lambda: _parse(pre))


def deep(work: Callable[[], T]) -> T:
    """Call ``work`` with room for very deep recursion; what it raises is raised here. Any number of threads may."""
    if getattr(_thread, "deep", False):
        return work()
    result: list[T] = []
    failed: list[BaseException] = []

    def run() -> None:
        _thread.deep = True
        try:
            result.append(work())
        except BaseException as e:  # handed to the caller's thread
            failed.append(e)

    with _recursion_limit.raised():
        thread = _started(run)
        thread.join()
    if failed:
        raise failed[0]
    return result[0]


class _RecursionLimit:
    """The process's recursion limit: raised while any thread needs that, then what it was before."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.users = 0
        self.before = 0

    @contextmanager
    def raised(self) -> Iterator[None]:
        with self.lock:
            if self.users == 0:
                self.before = sys.getrecursionlimit()
                sys.setrecursionlimit(max(self.before, DEPTH))
            self.users += 1
        try:
            yield
        finally:
            with self.lock:
                self.users -= 1
                if self.users == 0:
                    sys.setrecursionlimit(self.before)


_recursion_limit = _RecursionLimit()
_stack_size = threading.Lock()  # a thread gets the stack size that the process has set when it starts
_thread = threading.local()


def _started(run: Callable[[], None]) -> threading.Thread:
    """A running thread with a stack of `STACK` bytes."""
    thread = threading.Thread(target=run)
    with _stack_size:
        before = threading.stack_size(STACK)
        try:
            thread.start()
        finally:
            threading.stack_size(before)
    return thread


def _parse(pre: Preprocessed) -> C.FileAST:
    parser = CParser()
    try:
        return parser.parse(_without_markers(pre.text), pre.name)
    except RecursionError:
        raise catalogue.NESTED_TOO_DEEPLY.error(Loc(pre.name)) from None
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
        return catalogue.ENDS_TOO_EARLY.error(Loc(pre.name, len(lines), len(lines[-1]) or 1))
    loc = Loc(file_of(m[1]), int(m[2]), int(m[3] or 0))
    if re.search(r"\b(__)?asm(__)?\b", pre.sources.line(loc.file, loc.line) or ""):
        return catalogue.ASSEMBLER.error(loc)
    what = m[4].strip()
    before = re.fullmatch(r"before: (.*)", what, re.S)
    detail = f" before '{before[1]}'" if before else f": {what[:1].lower()}{what[1:]}"
    end = loc.column + len(before[1]) if before else 0
    return catalogue.SYNTAX_ERROR.error(replace(loc, end=end), detail=detail)


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
