"""Linking: the translation units of a program become one, as the linker sees them.

What only its own file sees (static variables and functions, types, enumerators) and stands alike in several files, as
what a common header declares, is one; of what differs under one name, the later gets another name. External variables
and functions have one definition, which all declarations mean.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from pathlib import PurePath

from pycparser import c_ast as C
from pycparser.c_generator import CGenerator

from ..base import catalogue
from ..base.ctype import Array, CType, Function, Pointer, Scalar
from ..base.diagnostics import Error, Loc, Note
from ..base.recent import Recent
from .parse import Parsed, loc_of, parse
from .pieces import mentioned
from .preprocess import Preprocessed
from .rename import renamed
from .tree import nodes
from .typed import Unit

_WORD = re.compile(r"[A-Za-z_]\w*")
_WEAK = re.compile(r"__attribute(?:__)?\s*\(\(.*\b(?:__)?weak(?:__)?\b")
ORDINARY, TAG = "ordinary", "tag"  # C's name spaces at file scope
Key = tuple[str, str]  # name space, name
_linked: Recent[Linked] = Recent(4)  # a program is linked again for other shapes and numbers


@dataclass(frozen=True)
class Linked:
    """``parsed``: the whole program. ``spellings``: what the user calls the things that got another name. ``declared``:
    the declarations that gave way to a definition in another file. ``owners``: the number of the file that defines a
    variable or function, where there are several files."""

    parsed: Parsed
    spellings: Mapping[str, str] = field(default_factory=dict)
    declared: tuple[C.Decl, ...] = ()
    owners: Mapping[str, int] = field(default_factory=dict)

    def owner(self, name: str) -> int:
        """The number of the file that defines a variable or function, or else declares it."""
        return self.owners.get(name, 0)

    def spelled(self, name: str) -> str:
        """What the user calls it."""
        return self.spellings.get(name, name)


def link(pre: Preprocessed) -> Linked:
    """The AST of a program. Raises ParseError where a file is no C, and for what is defined in two files."""
    return _linked.of(tuple((unit.text, unit.name, unit.marks) for unit in pre.units), lambda: _link(pre))


def _link(pre: Preprocessed) -> Linked:
    if len(pre.units) == 1:
        return Linked(parse(pre.units[0]))
    words = [mentioned(unit.text) for unit in pre.units]
    files = [  # which joining them changes
        parse(unit, frozenset().union(*words[:k], *words[k + 1 :])) for k, unit in enumerate(pre.units)
    ]
    units = [_Unit(parsed, unit) for parsed, unit in zip(files, pre.units)]
    _settle_definitions(units)
    spellings = _apart(units)
    return _joined(units, spellings)


def refuse_other_types(unit: Unit, linked: Linked) -> None:
    """Raise ParseError where one file declares what another defines with another type: the linker would not see it."""
    for node in linked.declared:
        try:
            t = unit.declarations.type(node.type, unit.scope)
        except Error:  # of those who use it
            continue
        symbol = unit.scope.find(node.name)
        if symbol is not None and not _agree(t, symbol.type):
            notes = (Note(f"'{node.name}' is defined here", symbol.loc),)
            name = linked.spellings.get(node.name, node.name)
            raise catalogue.DECLARED_OTHERWISE.error(loc_of(node), notes, name=name, declared=t, defined=symbol.type)


def _agree(a: CType, b: CType) -> bool:
    """Whether a declaration of one type may mean a definition of the other: objects alike in memory, functions that
    are called alike."""
    match a, b:
        case Array(), Array():
            return _agree(a.of, b.of) and (a.length == b.length or None in (a.length, b.length))
        case Function(), Function():
            if not a.params or not b.params:  # perhaps without a prototype
                return _agree(a.returns, b.returns)
            same = len(a.params) == len(b.params) and a.variadic == b.variadic
            return same and all(map(_agree, (a.returns, *a.params), (b.returns, *b.params)))
        case Pointer(), Pointer():
            return True
        case Scalar(), Scalar():
            return (a.size, a.is_float) == (b.size, b.is_float)
    return a == b


# one file


class _Unit:
    """A file's declarations at file scope. ``texts``: what it says of each name that only it sees."""

    def __init__(self, parsed: Parsed, pre: Preprocessed):
        self.parsed, self.ast, self.pre = parsed, parsed.ast, pre
        ast = parsed.ast
        self.definitions: dict[str, C.Node] = {}  # external ones, and those of variables that may be
        self.texts: dict[Key, list[str]] = {}
        self.mutable: set[str] = set()  # private names of which each file has an object of its own
        external: set[str] = set()
        private: set[str] = set()
        for node in ast.ext:
            for name, linkage in _declares(node):
                (external if linkage == "extern" else private).add(name)
                if linkage == "extern" and _defines(node):
                    self.definitions[name] = node
        self.external = (external - private) | _block_externs(ast) | _undeclared(ast, external | private)
        for name in private:
            self.definitions.pop(name, None)
        for node in ast.ext:
            self._note(node, private)
        self.words = frozenset(_WORD.findall(pre.text))

    def _note(self, node: C.Node, private: set[str]) -> None:
        text = self.text(node)
        for name, _ in _declares(node):
            if name in private:
                self.texts.setdefault((ORDINARY, name), []).append(text)
                if _has_object(node):
                    self.mutable.add(name)
        for n in nodes(node):
            match n:
                case C.Struct() | C.Union() if n.name:
                    known = self.texts.setdefault((TAG, n.name), [])
                    if n.decls is not None and not _in_function(node):
                        known.append(CGenerator().visit(n))
                case C.Enum() if n.values is not None and not _in_function(node):
                    enum = CGenerator().visit(n)
                    if n.name:
                        self.texts.setdefault((TAG, n.name), []).append(enum)
                    for e in n.values.enumerators:
                        self.texts[ORDINARY, e.name] = [enum]

    def text(self, node: C.Node) -> str:
        """What a declaration says: as C, with the body that the parser did not take."""
        skipped = self.parsed.bodies.get(node.decl.name) if isinstance(node, C.FuncDef) else None
        return CGenerator().visit(node) + (skipped.text if skipped is not None else "")

    def rename(self, names: Mapping[str, str], tags: Mapping[str, str]) -> None:
        """Give things at file scope other names; in text that the parser did not take, all words of that name."""
        if names or tags:
            renamed(self.ast, names, tags)
            self.parsed = self.parsed.renamed({**tags, **names})

    def is_weak(self, node: C.Node) -> bool:
        """Whether an attribute on one of its lines says so."""
        loc, sources = _place(node), self.pre.plain_sources
        texts = (sources.expanded_line(loc.file, loc.line - k) or "" for k in range(3))
        return any(_WEAK.search(t) for t in texts)

    def give_way(self, name: str, node: C.Node) -> None:
        """Make a definition a declaration."""
        del self.definitions[name]
        if isinstance(node, C.FuncDef):
            self.ast.ext[self.ast.ext.index(node)] = node.decl
        elif isinstance(node, C.Decl):
            node.init, node.storage = None, [*node.storage, "extern"]


def _in_function(node: C.Node) -> bool:
    return isinstance(node, C.FuncDef)


def _declares(node: C.Node) -> Iterator[tuple[str, str]]:
    """(name, linkage) of what a node at file scope declares, its types' tags and enumerators left out."""
    match node:
        case C.FuncDef():
            words = {*node.decl.storage, *node.decl.funcspec}
            inner = "static" in words or ("inline" in words and "extern" not in words)
            yield node.decl.name, "static" if inner else "extern"
        case C.Typedef():
            yield node.name, "none"
        case C.Decl() if node.name is not None:
            yield node.name, "static" if "static" in node.storage else "extern"


def _defines(node: C.Node) -> bool:
    """Whether an external declaration is a definition, tentative ones included."""
    if isinstance(node, C.FuncDef):
        return True
    assert isinstance(node, C.Decl)
    return not isinstance(node.type, C.FuncDecl) and ("extern" not in node.storage or node.init is not None)


def _has_object(node: C.Node) -> bool:
    """Whether two files that have this each have an object of their own, which they may change."""
    if isinstance(node, C.FuncDef):
        return any(isinstance(n, C.Decl) and "static" in n.storage and not _constant(n) for n in nodes(node.body))
    return isinstance(node, C.Decl) and not isinstance(node.type, C.FuncDecl) and not _constant(node)


def _constant(node: C.Decl) -> bool:
    t = node.type
    while isinstance(t, C.ArrayDecl):
        t = t.type
    return "const" in (getattr(t, "quals", None) or [])


def _block_externs(ast: C.FileAST) -> set[str]:
    """Names that declarations inside functions bind to what another file defines."""
    bodies = (f.body for f in ast.ext if isinstance(f, C.FuncDef))
    return {n.name for b in bodies for n in nodes(b) if isinstance(n, C.Decl) and "extern" in n.storage and n.name}


def _undeclared(ast: C.FileAST, declared: set[str]) -> set[str]:
    """Functions that are called without a declaration, which another file may define."""
    calls = (n.name.name for n in nodes(ast) if isinstance(n, C.FuncCall) and isinstance(n.name, C.ID))
    return {name for name in calls if name not in declared}


# all files


def _settle_definitions(units: Sequence[_Unit]) -> None:
    """Leave one definition of each external name: weak ones give way. Raises ParseError for two that are not weak."""
    first: dict[str, tuple[_Unit, C.Node]] = {}
    for unit in units:
        for name, node in list(unit.definitions.items()):
            other, known = first.setdefault(name, (unit, node))
            if known is node:
                continue
            if unit.is_weak(node):
                unit.give_way(name, node)
            elif other.is_weak(known):
                other.give_way(name, known)
                first[name] = unit, node
            else:
                notes = (Note("the first definition", _place(known)),)
                raise catalogue.DEFINED_TWICE.error(_place(node), notes, name=name)


def _place(node: C.Node) -> Loc:
    return loc_of(node.decl if isinstance(node, C.FuncDef) else node)


def _apart(units: Sequence[_Unit]) -> dict[str, str]:
    """Give private names that differ from another file's a name of their own; new name -> the user's."""
    spellings: dict[str, str] = {}
    taken = set().union(*(u.words for u in units))
    known: dict[Key, str] = {}
    for unit in units:
        others = set().union(*(u.external for u in units if u is not unit))
        new = _new_names(unit, _different(unit, known, others), taken)
        known.update((key, _text(t)) for key, t in unit.texts.items() if key not in new and (t or key not in known))
        spellings |= {name: key[1] for key, name in new.items()}
        unit.rename(
            {name: n for (space, name), n in new.items() if space == ORDINARY},
            {name: n for (space, name), n in new.items() if space == TAG},
        )
    return spellings


def _text(texts: Sequence[str]) -> str:
    return "\n".join(dict.fromkeys(texts))


def _are_alike(texts: Sequence[str], known: str) -> bool:
    """Whether two files mean the same by a name. Typedefs may be repeated, and one of a file's says what all do."""
    common = set(texts) & set(known.split("\n"))
    return _text(texts) == known or any(text.startswith("typedef ") for text in common)


def _different(unit: _Unit, known: Mapping[Key, str], others: set[str]) -> set[Key]:
    """The private names of a file that may not be one with what other files call so."""
    clashing: set[Key] = set()
    for key, texts in unit.texts.items():
        space, name = key
        alike = key not in known or not texts or not known[key] or _are_alike(texts, known[key])
        if (space == ORDINARY and (name in others or (key in known and name in unit.mutable))) or not alike:
            clashing.add(key)
    while True:  # what names one of them means something else too
        names = {name for _, name in clashing}
        more = {
            key
            for key, texts in unit.texts.items()
            if key not in clashing and key in known and texts and names & set(_WORD.findall(_text(texts)))
        }
        if not more:
            return clashing
        clashing |= more


def _new_names(unit: _Unit, keys: set[Key], taken: set[str]) -> dict[Key, str]:
    """A name for each that no file uses: the user's with the file's."""
    stem = re.sub(r"\W", "_", PurePath(unit.pre.name).stem).strip("_")
    out: dict[Key, str] = {}
    for key in (k for k in unit.texts if k in keys):
        numbered = (f"{key[1]}__{stem}{k if k > 1 else ''}" for k in count(1))
        name = next(n for n in numbered if n not in taken)
        taken.add(name)
        out[key] = name
    return out


def _joined(units: Sequence[_Unit], spellings: Mapping[str, str]) -> Linked:
    """One file after the other, without what an earlier one has said already."""
    defined = {name: unit for unit in units for name in unit.definitions}
    declared: list[C.Decl] = []
    out: list[C.Node] = []
    said: set[str] = set()
    tags: set[str] = set()
    owners: dict[str, int] = {}
    for number, unit in enumerate(units):
        defining = (n for n in unit.ast.ext if isinstance(n, (C.Decl, C.FuncDef)) and _defines(n))
        for name in (name for node in defining for name, _ in _declares(node)):
            owners.setdefault(name, number)
        before, known = frozenset(said), frozenset(tags)
        for node in unit.ast.ext:
            text = unit.text(node)
            said.add(text)
            if text in before:
                continue
            tags |= _defined_tags(node, known)
            out.append(node)
            if isinstance(node, C.Decl) and defined.get(node.name or "", unit) is not unit:
                declared.append(node)
    for number, unit in enumerate(units):  # what no file defines belongs to the first that declares it
        for name in sorted(unit.external):
            owners.setdefault(name, number)
    bodies = {name: s for unit in units for name, s in unit.parsed.bodies.items()}
    lost = {name: s for unit in units for name, s in unit.parsed.lost.items()}
    marked = tuple(m for unit in units for m in unit.parsed.marked)
    return Linked(Parsed(C.FileAST(out), bodies, lost, marked), spellings, tuple(declared), owners)


def _defined_tags(node: C.Node, known: frozenset[str]) -> set[str]:
    """The structs and unions that a declaration defines. Those that another file defined alike become references."""
    out: set[str] = set()
    for n in nodes(node):
        if isinstance(n, (C.Struct, C.Union)) and n.name and n.decls is not None and not _in_function(node):
            out.add(n.name)
            n.decls = None if n.name in known else n.decls
    return out
