"""Renaming what stands at file scope, as C's scopes have it: locals, members and labels of the same name stay."""

from __future__ import annotations

from collections.abc import Mapping

from pycparser import c_ast as C

from .tree import children

Names = Mapping[str, str]


def renamed(ast: C.FileAST, names: Names, tags: Names) -> None:
    """Rename, in place, variables, functions, types and enumerators (``names``), and tags, wherever they are meant."""
    if names or tags:
        renamer = _Renamer(names, tags)
        renamer.visit(ast, renamer.file)


class _Renamer:
    def __init__(self, names: Names, tags: Names):
        self.file, self.tags = dict(names), tags

    def visit(self, node: C.Node | None, names: dict[str, str]) -> None:
        """``names``: what is to be renamed here, ``file`` itself at file scope; a declaration in a block takes its name
        out."""
        match node:
            case None:
                return
            case C.ID():
                node.name = names.get(node.name, node.name)
            case C.IdentifierType():
                node.names = [names.get(n, n) for n in node.names]
            case C.FuncDef():
                self._function(node, names)
            case C.Compound() | C.For():
                self._children(node, dict(names))
            case C.Typedef() | C.Decl():
                self._declaration(node, names)
            case C.Struct() | C.Union():
                node.name = self.tags.get(node.name or "", node.name)
                for d in node.decls or []:
                    self._member(d, names)
            case C.Enum():
                self._enum(node, names)
            case C.FuncDecl():
                self.visit(node.args, dict(names))
                self.visit(node.type, names)
            case C.StructRef():
                self.visit(node.name, names)
            case C.NamedInitializer():
                for n in node.name:
                    if not isinstance(n, C.ID):
                        self.visit(n, names)
                self.visit(node.expr, names)
            case _:
                self._children(node, names)

    def _children(self, node: C.Node, names: dict[str, str]) -> None:
        for child in children(node):
            self.visit(child, names)

    def _function(self, node: C.FuncDef, names: dict[str, str]) -> None:
        inner = dict(names)
        t = node.decl.type
        while not isinstance(t, C.FuncDecl):
            t = t.type
        for p in t.args.params if t.args else []:
            self.visit(p, inner)
        for p in node.param_decls or []:
            self.visit(p, inner)
        self.visit(t.type, names)
        self._called(node.decl, names)
        self._children(node.body, inner)

    def _declaration(self, node: C.Typedef | C.Decl, names: dict[str, str]) -> None:
        self.visit(node.type, names)
        if names is not self.file and node.name is not None and "extern" not in node.storage:
            names.pop(node.name, None)
        else:
            self._called(node, names)
        if isinstance(node, C.Decl):
            self.visit(node.bitsize, names)
            self.visit(node.init, names)

    @staticmethod
    def _called(node: C.Typedef | C.Decl, names: Names) -> None:
        """Rename what a declaration declares."""
        new = names.get(node.name or "")
        if new is None:
            return
        node.name = new
        t = node.type
        while not isinstance(t, C.TypeDecl):
            t = t.type
        t.declname = new

    def _member(self, node: C.Node, names: dict[str, str]) -> None:
        if isinstance(node, C.Decl):
            self.visit(node.type, names)
            self.visit(node.bitsize, names)
        else:
            self.visit(node, names)

    def _enum(self, node: C.Enum, names: dict[str, str]) -> None:
        node.name = self.tags.get(node.name or "", node.name)
        for e in node.values.enumerators if node.values is not None else []:
            self.visit(e.value, names)
            if names is self.file:
                e.name = names.get(e.name, e.name)
            else:
                names.pop(e.name, None)
