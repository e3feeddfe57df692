"""Leave out of a generated text what a translation does not need: headers that it includes already, unused helpers."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

_INCLUDE = re.compile(r"^[ \t]*#[ \t]*include[ \t]*<([^>\n]*)>.*\n?", re.M)
_HEAD = re.compile(r"^(?:__attribute__\(\([^\n]*?\)\) )?static [^;={}\n]*?\b(\w+)\([^\n]*\) \{")
_TYPE = re.compile(r"^typedef [^\n{]*?\b(\w+) __attribute__\(\(vector_size\([^\n]*\)\)\);$")
_TABLE = re.compile(r"^static const [\w ]+? \*?(\w+)\[\d+\] = \{.*\};$")
_MACRO = re.compile(r"^#define (\w+)")
_NO_ALTERNATIVE = re.compile(r"^#if [^\n]*\n(?:#else\n)?#endif\n", re.M)
#: Of CUDA: what may stand before a definition and goes with it, and definitions of functions and structs of ours.
_LEAD = re.compile(r"^(?:/\* .*|template <.*>)$")
_DEVICE = re.compile(r"^(?:template <.*> )?(?:static )?__device__ (?:static )?[^;={}(]*?\b(c2cu_\w+)\(")
_STRUCT = re.compile(r"^(?:template <.*> )?struct (c2cu_\w+) \{")
_BOOL = re.compile(r"^#define (_Bool) bool$")
_WATCH = re.compile(r"^.*\bat_work\b.*\n", re.M)
_EXPORTED = re.compile(r"^(int|void|void \*)(?= ?\*?c2cu_\w+\()", re.M)
_BLANK = re.compile(r"\n{3,}")


def headers(directives: Iterable[str]) -> list[str]:
    """The names of the headers that ``#include`` directives want, each once, in order."""
    return list(dict.fromkeys(m[1] for d in directives if (m := _INCLUDE.match(d))))


def split_includes(text: str) -> tuple[str, list[str]]:
    """A text without its directives for headers, and these; those that stand under a condition stay in it."""
    depth, lines, directives = 0, [], []
    for line in text.split("\n"):
        depth += line.startswith("#if")
        depth -= line.startswith("#endif")
        (lines if depth or not _INCLUDE.match(line) else directives).append(line)
    return "\n".join(lines), directives


def without_watch(text: str) -> str:
    """A text for the CPU without what tells the runtime, after a fault, which inputs were at work."""
    return _WATCH.sub("", text)


def unexported(text: str) -> str:
    """A text for the CPU whose functions are its file's own."""
    return _EXPORTED.sub(r"static \1", text)


def without_unused_cuda(text: str) -> str:
    """CUDA without the device functions and structs of ours that nothing in it names, nor the macro that makes C's
    ``_Bool`` C++ where nothing says ``_Bool``."""
    return _without_unused(_device_blocks(text))


def without_unused(text: str) -> str:
    """A text without the static functions, tables, vector types and macros of its own that nothing in it names."""
    return _NO_ALTERNATIVE.sub("", _without_unused(_blocks(text)))


def _without_unused(blocks: list[tuple[str, str]]) -> str:
    while True:
        everywhere = Counter(re.findall(r"\w+", "\n".join(b for _, b in blocks)))
        in_definitions = Counter[str]()  # of each name, how often its own definitions say it
        for name, block in blocks:
            if name:
                in_definitions[name] += len(re.findall(rf"\b{name}\b", block))
        used = [(n, b) for n, b in blocks if not n or everywhere[n] > in_definitions[n]]
        if len(used) == len(blocks):
            return _BLANK.sub("\n\n", "\n".join(b for _, b in blocks))
        blocks = used


def _blocks(text: str) -> list[tuple[str, str]]:
    """The text in pieces: a definition and the name it defines, or a line of anything else and ""."""
    blocks: list[tuple[str, str]] = []
    lines = iter(text.split("\n"))
    for line in lines:
        name = next((m[1] for form in (_HEAD, _TYPE, _TABLE, _MACRO) if (m := form.match(line))), "")
        block = [line]
        if _HEAD.match(line) and not line.endswith("}"):
            for line in lines:
                block.append(line)
                if line == "}":
                    break
        blocks.append((name, "\n".join(block)))
    return blocks


def _device_blocks(text: str) -> list[tuple[str, str]]:
    """The same of CUDA; the comment before a definition goes with it."""
    blocks: list[tuple[str, str]] = []
    lead: list[str] = []
    lines = iter(text.split("\n"))
    for line in lines:
        form = next((m for form in (_DEVICE, _STRUCT, _BOOL) if (m := form.match(line))), None)
        if form is None and _LEAD.match(line):
            lead.append(line)
            while lead[-1].startswith(("/*", " *")) and not lead[-1].endswith("*/"):
                lead.append(next(lines))
            continue
        block = [line]
        ends = ("}", "};") if form else ()
        while form and form[1] != "_Bool" and block[-1] not in ends and not (len(block) == 1 and _is_whole(line)):
            block.append(next(lines))
        if form is None:
            blocks += (("", x) for x in lead)
            lead = []
        blocks.append((form[1] if form else "", "\n".join([*lead, *block])))
        lead = []
    return blocks + [("", x) for x in lead]


def _is_whole(line: str) -> bool:
    """Whether a definition, or a declaration, ends with its first line."""
    return line.endswith(("}", "};", ");"))
