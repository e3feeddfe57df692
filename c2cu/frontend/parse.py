"""Parsing: pycparser, with a place for everything."""

from __future__ import annotations

import re
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextvars import copy_context
from dataclasses import dataclass, field, replace
from functools import cached_property, wraps
from typing import Any, ParamSpec, TypeVar

from pycparser import c_ast as C
from pycparser.c_lexer import CLexer
from pycparser.c_parser import CParser

from ..base import catalogue
from ..base.collecting import no_collection
from ..base.diagnostics import Loc, ParseError, file_of, quoted
from ..base.setting import Setting
from .attributes import Mark
from .nesting import LEVELS, POSSIBLE, too_deep
from .pieces import Lines, Piece, blanked, emptied, pieces, without_unused, words
from .preprocess import SYSTEM, Preprocessed
from .tree import RANGE, children, ends, nodes

SIMPLE = 100  # levels of an expression whose end is looked for
STACK = 512 << 20  # bytes: a sum of thousands of terms is a tree thousands deep
DEPTH = 200_000
LONG = 100_000  # characters of a text in which a search for what nothing mentions is worth its time
P = ParamSpec("P")
_UNTYPED = re.compile(r"^[ \t]*[A-Za-z_]\w*\s*\([\w\s,]+\)\s*[A-Za-z_]", re.M)  # blank lines are many
_ITSELF = ("__func__", "__FUNCTION__", "__PRETTY_FUNCTION__")
T = TypeVar("T")


@dataclass(frozen=True)
class Skipped:
    """A function's body or a declaration that the parser did not take, and why not."""

    error: ParseError
    text: str

    @cached_property
    def words(self) -> frozenset[str]:
        """The identifiers in it."""
        return words(self.text)

    def renamed(self, names: Mapping[str, str]) -> Skipped:
        return Skipped(self.error, re.sub(r"[A-Za-z_]\w*", lambda m: names.get(m[0], m[0]), self.text))


@dataclass(frozen=True)
class Marked:
    """A declaration that a mark of the text changes: from where to where it goes, each a line and a column."""

    file: str
    first: tuple[int, int]
    last: tuple[int, int]
    mark: Mark


@dataclass(frozen=True)
class Parsed:
    """The AST of what the parser takes. ``bodies``: functions whose braces are empty there, by name; ``lost``: names
    that declarations, which are not in it, may have declared."""

    ast: C.FileAST
    bodies: Mapping[str, Skipped] = field(default_factory=dict)
    lost: Mapping[str, Skipped] = field(default_factory=dict)
    marked: tuple[Marked, ...] = ()

    def renamed(self, names: Mapping[str, str]) -> Parsed:
        """With other names in what is not in the AST."""
        bodies = {names.get(name, name): s.renamed(names) for name, s in self.bodies.items()}
        lost = {names.get(name, name): s.renamed(names) for name, s in self.lost.items()}
        return replace(self, bodies=bodies, lost=lost)


def parse(pre: Preprocessed, elsewhere: frozenset[str] = frozenset()) -> Parsed:
    """The AST of a preprocessed text. What the parser does not take is left out, and listed. ``elsewhere``: the words
    of the program's other files. Raises ParseError where nothing is left."""
    return deep(lambda: _parse(pre, elsewhere))


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

    with _recursion_limit.changed(), no_collection():
        context = copy_context()
        thread = _started(lambda: context.run(run))
        thread.join()
    if failed:
        raise failed[0]
    return result[0]


def deeply(function: Callable[P, T]) -> Callable[P, T]:
    """A function whose calls are `deep`."""

    @wraps(function)
    def call(*args: P.args, **named: P.kwargs) -> T:
        return deep(lambda: function(*args, **named))

    return call


def _raised() -> Callable[[], None]:
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, DEPTH))
    return lambda: sys.setrecursionlimit(before)


_recursion_limit = Setting(_raised)  # of the process
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


def _parse(pre: Preprocessed, elsewhere: frozenset[str]) -> Parsed:
    text = pre.text
    files = (file for file, _ in Lines(text).files if not file.endswith("/stdc-predef.h"))  # which has macros only
    may_have_unused = len(text) > LONG or any(file.startswith("/usr/") for file in files)
    parts = pieces(text) if pre.marks or may_have_unused else []
    if may_have_unused:
        text, parts = without_unused(text, parts, lambda file: is_user_file(pre, file), elsewhere)
    marked = tuple(_marked(parts, Lines(text), pre.marks))
    try:
        return Parsed(_ast(text, pre), marked=marked)
    except ParseError as e:
        if e.code == catalogue.NESTED_TOO_DEEPLY.code:
            raise
        first = e
    ast, functions, text, lost = _skeleton(text, parts or pieces(text), pre, first)
    places = Lines(text)
    types = sorted({n.name for n in ast.ext if isinstance(n, C.Typedef)})
    bodies: dict[str, Skipped] = {}
    for name, piece in functions.items():
        before = piece.begin - (text.rfind("\n", 0, piece.begin) + 1)
        error = _error_of(" " * before + text[piece.begin : piece.end], places.of(piece.begin), types, pre)
        if error is not None and piece.body is not None:
            bodies[name] = Skipped(error, text[slice(*piece.body)])
    if not bodies and not lost:
        raise first
    text = emptied(text, (p.body for n, p in functions.items() if n in bodies and p.body))
    return Parsed(_ast(text, pre), bodies, lost, marked)


def _marked(parts: list[Piece], places: Lines, marks: tuple[Mark, ...]) -> Iterator[Marked]:
    """The pieces that a mark stands in, or reaches."""
    for p in parts:
        for m in marks:
            if p.begin <= m.at < p.end or m.at <= p.begin < m.until:
                _, first = places.at(p.begin)
                file, last = places.at(p.end - 1)
                yield Marked(file, first, last, m)


def _error_of(text: str, place: tuple[str, int], types: list[str], pre: Preprocessed) -> ParseError | None:
    """What the parser says of one function, where these names are types."""
    known = f"typedef int {', '.join(types)};" if types else ""
    try:
        _ast(f'{known}\n# {place[1]} "{quoted(place[0])}"\n{text}', pre)
    except ParseError as e:
        return e
    return None


def _ast(text: str, pre: Preprocessed) -> C.FileAST:
    """The AST of the whole text. Raises ParseError at the first mistake."""
    parser = _Parser(lexer=_Lexer)
    _teach(parser)
    try:
        ast = _with_names(_with_prototypes(parser.parse(_with_types(text), pre.name)), text)
        ast = _with_offsets(ast, text)
    except RecursionError:
        raise catalogue.NESTED_TOO_DEEPLY.error(Loc(pre.name), what="constructs", limit=f"{LEVELS:,}") from None
    except Exception as e:
        if type(e).__name__ not in ("ParseError", "PLYParser", "AssertionError"):
            raise
        raise _syntax_error(str(e), pre, parser) from None
    deep = too_deep(ast, POSSIBLE)
    if deep is not None:
        raise catalogue.NESTED_TOO_DEEPLY.error(loc_of(deep[1]), what=deep[0].what, limit=f"{deep[0].most:,}")
    return ast


def _with_types(text: str) -> str:
    """The text with ``int`` before each definition in the style before C89 that says no type, at the same places."""
    if not _UNTYPED.search(text):
        return text
    parts, done, places = [], 0, Lines(text)
    for p in pieces(text):
        if p.body is None or len(p.names) > 1 or text[done : p.begin].rstrip().endswith("*"):
            continue
        file, line = places.of(p.begin)
        column = p.begin - (text.rfind("\n", 0, p.begin) + 1)
        parts += [text[done : p.begin], f'int\n# {line} "{quoted(file)}"\n{" " * column}']
        done = p.begin
    return "".join([*parts, text[done:]])


def _with_prototypes(ast: C.FileAST) -> C.FileAST:
    """Definitions in the style before C89 become those with a prototype: what they compute is the same."""
    for f in ast.ext:
        if not isinstance(f, C.FuncDef) or f.decl.type.args is None:
            continue
        types = {d.name: d for d in f.param_decls or () if isinstance(d, C.Decl)}
        names = [n for n in f.decl.type.args.params if isinstance(n, C.ID)]
        if not names:
            continue
        f.decl.type.args.params = [types.get(n.name) or _int(n) for n in names]
        f.param_decls = None
    return ast


def _with_names(ast: C.FileAST, text: str) -> C.FileAST:
    """The name that a function has for itself becomes the string that it is, 6.4.2.2."""
    if not any(name in text for name in _ITSELF):
        return ast
    for f in ast.ext:
        if not isinstance(f, C.FuncDef):
            continue
        for node in nodes(f.body):
            for place, child in node.children():  # pyright: ignore
                if isinstance(child, C.ID) and child.name in _ITSELF:
                    _put(node, place, C.Constant("string", f'"{f.decl.name}"', child.coord))
    return ast


def _with_offsets(ast: C.FileAST, text: str) -> C.FileAST:
    """``offsetof(T, m)`` becomes what it stands for in older C, ``(unsigned long)&((T *)0)->m``."""
    if "offsetof" not in text:
        return ast
    for node in [*nodes(ast)]:
        for place, child in node.children():  # pyright: ignore
            match child:
                case C.FuncCall(name=C.ID(name="offsetof"), args=C.ExprList(exprs=[C.Typename() as t, member])):
                    _put(node, place, _offset(t, member, child.coord))
    return ast


def _offset(t: C.Typename, member: C.Node, coord: object) -> C.Node:
    pointer = C.Typename(None, [], None, C.PtrDecl([], t.type, coord), coord)  # pyright: ignore
    base = C.Cast(pointer, C.Constant("int", "0", coord), coord)

    def inside(n: C.Node) -> C.Node:
        match n:
            case C.StructRef():
                return C.StructRef(inside(n.name), ".", n.field, n.coord)
            case C.ArrayRef():
                return C.ArrayRef(inside(n.name), n.subscript, n.coord)
        return C.StructRef(base, "->", n, n.coord)

    size = C.TypeDecl(None, [], None, C.IdentifierType(["unsigned", "long"], coord), coord)
    address = C.UnaryOp("&", inside(member), coord)
    return C.Cast(C.Typename(None, [], None, size, coord), address, coord)


def _put(node: C.Node, place: str, child: C.Node) -> None:
    """Put a child in the place that `children` names: an attribute, or an element of one, ``name[2]``."""
    attribute, _, number = place.rstrip("]").partition("[")
    if number:
        getattr(node, attribute)[int(number)] = child
    else:
        setattr(node, attribute, child)


def _int(name: C.ID) -> C.Decl:
    """The declaration of a parameter that has none."""
    t = C.TypeDecl(name.name, [], None, C.IdentifierType(["int"], name.coord), name.coord)
    return C.Decl(name.name, [], [], [], [], t, None, None, name.coord)


class _Lexer(CLexer):
    """With GNU's imaginary numbers, ``2.0i``, ``1.0iF``, and ``int`` where a declaration has a storage class alone, as
    before C99: ``static n;``, ``register i, k;``. (``auto x = 1.5;`` has another meaning since C23.)"""

    _last = "SEMI"  # type of the token before
    _untyped = False  # since the last declaration began, there were a storage class and qualifiers only
    _later: Any = None  # the token that follows the one that is put before it
    is_type: Callable[[str], bool]  # whether a name is a type where the parser stands

    def token(self):
        if self._later is not None:
            token, self._later = self._later, None
            return token
        token = super().token()
        if token is not None and token.type in _NUMBERS:
            suffix = _IMAGINARY.match(self._lexdata, self._pos)
            if suffix:
                self._pos = suffix.end()
                token = replace(token, value=token.value + suffix[0])
        return self._typed(token)

    def _typed(self, token: Any):
        """The token, or ``int`` where it is the first after a storage class, and no type."""
        kind = token.type if token else ""
        if token and self._untyped and (kind == "TIMES" or (kind == "ID" and not self.is_type(token.value))):
            self._later, token = token, replace(token, type="INT", value="int")
        if kind not in _QUALIFIERS:
            self._untyped = kind in _STORAGE and self._last in _BEFORE
            self._last = kind
        return token


_STORAGE = frozenset(("STATIC", "REGISTER", "EXTERN"))
_QUALIFIERS = frozenset(("CONST", "VOLATILE", "RESTRICT", "INLINE"))
_BEFORE = frozenset("SEMI LBRACE RBRACE LPAREN RPAREN COMMA COLON PPPRAGMASTR".split())  # a declaration


_NUMBERS = frozenset("FLOAT_CONST HEX_FLOAT_CONST INT_CONST_DEC INT_CONST_OCT INT_CONST_HEX INT_CONST_BIN".split())
_POSTFIX = frozenset("LBRACKET LPAREN PERIOD ARROW PLUSPLUS MINUSMINUS".split())
_IMAGINARY = re.compile(r"[iIjJ][fFlL]?\b")


def _gets_constants(initialiser: C.Node) -> bool:
    """Whether all values in an initialiser are numbers, or what operators make of some."""
    match initialiser:
        case C.InitList():
            return all(map(_gets_constants, initialiser.exprs))
        case C.NamedInitializer():
            return _gets_constants(initialiser.expr)
    return all(isinstance(n, (C.Constant, C.UnaryOp, C.BinaryOp)) for n in nodes(initialiser))


MOST = 1 << 16  # elements of a range


def _is_small(designated: C.Node) -> bool:
    """Whether a range is known to have few elements."""
    first, last = map(_number, ends(designated))
    return first is not None and last is not None and last - first < MOST


def _number(n: C.Node) -> int | None:
    """The value of an integer, or of a sum or difference of some."""
    match n:
        case C.Constant(type="char"):
            return 0  # near enough: it is told from large numbers
        case C.Constant(value=text) if re.fullmatch(r"(0[xX][0-9a-fA-F]+|\d+)[uUlL]*", text):
            digits = text.rstrip("uUlL")
            return int(digits, 8 if re.fullmatch(r"0[0-7]+", digits) else 0)
        case C.BinaryOp(op="+" | "-"):
            a, b = _number(n.left), _number(n.right)
            return None if a is None or b is None else a + b if n.op == "+" else a - b
    return None


def _has_effect(n: C.Node) -> bool:
    """Whether to compute something twice is not as good as once; conditions in conditions would double each time."""
    counts = isinstance(n, C.UnaryOp) and n.op.endswith(("++", "--"))
    return counts or isinstance(n, (C.FuncCall, C.Assignment, C.TernaryOp))


class _Parser(CParser):
    """GNU C's ranges too, of case labels and of designators of few elements that get constants: each is one operation
    on its ends; and ``x ?: y`` where to compute x twice is as good as once."""

    def _parse_cast_expression(self) -> C.Node:
        """Most operands are a name or a number alone: these need not go through all that an operand may begin with."""
        first = self._peek_type()
        if (first == "ID" or first in _NUMBERS) and self._peek_type(2) not in _POSTFIX:
            return self._parse_identifier() if first == "ID" else self._parse_constant()
        return super()._parse_cast_expression()

    def _parse_conditional_expression(self) -> C.Node:
        condition = self._parse_binary_expression()
        if not self._accept("CONDOP"):
            return condition
        if self._peek_type() == "COLON" and not any(_has_effect(n) for n in nodes(condition)):
            yes = condition
        else:
            yes = self._parse_expression()
        self._expect("COLON")
        return C.TernaryOp(condition, yes, self._parse_conditional_expression(), condition.coord)

    def _parse_initializer_list(self) -> C.Node:
        parsed = super()._parse_initializer_list()
        for e in (n for n in children(parsed) if isinstance(n, C.NamedInitializer)):
            ranges = [d.expr for d in e.name if isinstance(d, C.ArrayDesignator) and ends(d.expr)[0] is not d.expr]
            if ranges and not (_gets_constants(e) and all(map(_is_small, ranges))):
                self._parse_error("a range that does not get constants", e.coord)  # gcc computes others once
        return parsed

    def _parse_constant_expression(self) -> C.Node:
        first = super()._parse_constant_expression()
        if self._peek_type() != "ELLIPSIS":
            return first
        self._advance()
        return C.BinaryOp(RANGE, first, super()._parse_constant_expression(), first.coord)


def _teach(parser: CParser) -> None:
    """Words that the parser knows of C23 only, and GNU's operators on complex numbers, which bind as ``~`` does; the
    lexer learns which names are types."""
    parser.clex.is_type = parser._is_type_in_scope  # pyright: ignore
    words = getattr(parser.clex, "_keyword_map", {})
    words["typeof"] = "TYPEOF"
    words["__uint128_t"] = words["__int128"]
    words["__real"] = words["__imag"] = "NOT"


def _skeleton(
    text: str, parts: list[Piece], pre: Preprocessed, first: ParseError
) -> tuple[C.FileAST, dict[str, Piece], str, dict[str, Skipped]]:
    """The AST with every body empty; the functions by name; the text without the declarations that the parser does not
    take; and the names in these. Raises ``first`` where no such declaration can be told."""
    lost: dict[str, Skipped] = {}
    remaining, places = list(parts), Lines(text)
    while True:
        try:
            ast = _ast(emptied(text, (p.body for p in remaining if p.body is not None)), pre)
            break
        except ParseError as e:
            loc = e.diagnostic.loc or Loc()
            at = [k + max(0, loc.column - 1) for k in places.offsets(loc.file, loc.line)]
            bad = next((p for k in at for p in remaining if p.begin <= k < p.end), None)
            if bad is None or not bad.ended:
                raise first from None
            remaining.remove(bad)
            skipped = Skipped(e, text[bad.begin : bad.end])
            lost.update((n, skipped) for n in skipped.words)
            text = blanked(text, [(bad.begin, bad.end)])
    names = [n.decl.name for n in ast.ext if isinstance(n, C.FuncDef)]
    definitions = [p for p in remaining if p.body is not None]
    if len(names) != len(definitions):
        raise first
    return ast, dict(zip(names, definitions)), text, lost


def _syntax_error(message: str, pre: Preprocessed, parser: CParser) -> ParseError:
    m = re.match(r"(.*?):(\d+)(?::(\d+))?: (.*)", message, re.S) or _next_token(parser)
    if not m:
        lines = pre.sources.get(pre.name, "").rstrip().split("\n")
        return catalogue.ENDS_TOO_EARLY.error(Loc(pre.name, len(lines), len(lines[-1]) or 1))
    loc = Loc(file_of(m[1]), int(m[2]), int(m[3] or 0))
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


def jumps_out(node: C.Node) -> bool:
    """Whether control may leave a block other than at its end; a label in it counts too."""
    match node:
        case C.Return() | C.Goto() | C.Label() | C.Break() | C.Continue():
            return True
        case C.For() | C.While() | C.DoWhile():
            return any(isinstance(n, (C.Return, C.Goto, C.Label)) for n in nodes(node))
        case C.Switch():
            return any(isinstance(n, (C.Return, C.Goto, C.Label, C.Continue)) for n in nodes(node))
    return any(map(jumps_out, children(node)))


KNOWN = 1 << 16  # places of nodes that are remembered: a loop that is evaluated turn by turn asks for them again
_locs: dict[int, tuple[Any, Loc]] = {}  # by id; the node is kept, so that its id stays its own


def loc_of(node: Any) -> Loc:
    """Where a node begins; ``end`` where its extent on the line is cheap to tell."""
    known = _locs.get(id(node))
    if known is not None and known[0] is node:
        return known[1]
    coord = getattr(node, "coord", None)
    if coord is None:
        return Loc()
    loc = Loc(file_of(coord.file or ""), coord.line or 0, coord.column or 0, _end(node, coord.line))
    if len(_locs) >= KNOWN:
        _locs.clear()
    _locs[id(node)] = node, loc
    return loc


def _end(node: Any, line: int) -> int:
    """One past the last column of a simple expression on ``line``; 0 where it is not simple."""
    brackets = 0
    for _ in range(SIMPLE):
        coord = getattr(node, "coord", None)
        if coord is None or coord.line != line:
            return 0
        match node:
            case C.ID(name=text) | C.Constant(value=text):
                return (coord.column or 0) + len(text) + brackets
            case C.ArrayRef():
                node, brackets = node.subscript, brackets + 1
            case C.StructRef():
                node = node.field
            case C.BinaryOp():
                node = node.right
            case _:
                return 0
    return 0


def is_user_file(pre: Preprocessed, file: str) -> bool:
    """Whether a declaration's file is the user's, not a system header."""
    return file in pre.sources or not (file.startswith(SYSTEM) or file == "" or file in pre.system)
