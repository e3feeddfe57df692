"""Many C programs in one translation unit: what they have in common is compiled once, and the compiler starts once.

A text is taken apart into its definitions at file scope. Those that an earlier text has too, and that use nothing that
differs, are left out; the names of the others get the text's number, by a macro.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

_WORD = re.compile(r"[A-Za-z_]\w*")
_OPAQUE = re.compile(r'"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\'|/\*.*?\*/|//[^\n]*|^ *#[^\n]*', re.S | re.M)
_HEAD = re.compile(r"(?:[ \t]*\n|/\*.*?\*/\n|#[^\n]*\n)*", re.S)
_GUARDED = re.compile(r"^#ifdef \w+\n#include [^\n]*\n#endif\n|^#include [^\n]*\n", re.M)


def joined(texts: Sequence[str], distinct: Sequence[Iterable[str]]) -> list[tuple[str, list[int]]]:
    """Translation units, each with the numbers of its texts: those that define the same macros go into one.

    ``distinct``: names that are each text's own. That of text k is called ``NAME_of_k``.
    """
    units: dict[str, list[int]] = {}
    for k, text in enumerate(texts):
        units.setdefault(_macros(_HEAD.match(text)[0]), []).append(k)
    return [(_unit(macros, [(k, texts[k], set(distinct[k])) for k in ks]), ks) for macros, ks in units.items()]


def _macros(head: str) -> str:
    return "\n".join(line for line in _GUARDED.sub("", head).split("\n") if line.startswith("#"))


def _unit(macros: str, members: list[tuple[int, str, set[str]]]) -> str:
    includes = dict.fromkeys(x for _, text, _ in members for x in _GUARDED.findall(_HEAD.match(text)[0]))
    shared: dict[str, str] = {}
    lines = [*includes, macros]
    for k, text, distinct in members:
        definitions = _definitions(text[_HEAD.match(text).end() :])
        whole: dict[str, str] = {}
        for name, piece in definitions:
            whole[name] = whole.get(name, "") + piece
        words = {name: set(_WORD.findall(_OPAQUE.sub(" ", piece))) for name, piece in whole.items()}
        differing = distinct | {name for name, piece in whole.items() if shared.get(name, piece) != piece}
        while more := {name for name in whole if name not in differing and words[name] & differing}:
            differing |= more
        lines += [f"#define {name} {name}_of_{k}" for name in sorted(differing)]
        lines += [piece for name, piece in definitions if name in differing or name not in shared]
        lines += [f"#undef {name}" for name in sorted(differing)]
        shared |= {name: piece for name, piece in whole.items() if name not in differing}
    return "\n".join([*lines, ""])


def _definitions(text: str) -> list[tuple[str, str]]:
    """(name, text) of what stands at file scope, in order."""
    pieces, start, depth = [], 0, 0
    for m in re.finditer(_OPAQUE.pattern + "|[{};]", text, _OPAQUE.flags):
        depth += {"{": 1, "}": -1}.get(m[0], 0)
        if depth == 0 and (m[0] == ";" or (m[0] == "}" and text[m.end() : m.end() + 1] in ("\n", ""))):
            piece = text[start : m.end()].lstrip("\n")
            pieces.append((_name(_OPAQUE.sub(" ", piece)), piece))
            start = m.end()
    assert not _OPAQUE.sub(" ", text[start:]).strip(), text[start:]
    return pieces


def _name(piece: str) -> str:
    """The name that a definition or declaration introduces."""
    plain = re.sub(r"__attribute__\s*\(\(.*?\)\)", " ", piece).strip()
    if m := re.match(r"(?:struct|union|enum)\s+(\w+)\s*\{", plain):
        return m[1]
    if plain.startswith("typedef"):
        return _WORD.findall(plain)[-1]
    return re.search(r"(\w+)\s*[(\[=;,{]", plain)[1]
