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
#: Of CUDA: definitions of functions and structs of ours, or the line with a template's parameters before one.
_TEMPLATE = re.compile(r"^template <.*>$")
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
    ``_Bool`` C++ where nothing says ``_Bool``. The comment before definitions in a row goes with the last of them."""
    blocks = _device_blocks(text)
    used = _used([(name, block) for _, name, block in blocks])
    out: list[str] = []
    comment = ""
    for (before, name, block), stays in zip(blocks, used):
        comment = before or (comment if name else "")
        if stays:
            out += [comment, block] if comment else [block]
            comment = ""
    return _BLANK.sub("\n\n", "\n".join(out))


def without_unused(text: str) -> str:
    """A text without the static functions, tables, vector types and macros of its own that nothing in it names."""
    blocks = _blocks(text)
    used = "\n".join(block for (_, block), stays in zip(blocks, _used(blocks)) if stays)
    return _BLANK.sub("\n\n", _NO_ALTERNATIVE.sub("", used))


def _used(blocks: list[tuple[str, str]]) -> list[bool]:
    """Whether each of them stays: none but definitions of what is named in no other one that stays goes."""
    stays = [True] * len(blocks)
    while True:
        left = [b for b, s in zip(blocks, stays) if s]
        everywhere = Counter(re.findall(r"\w+", "\n".join(block for _, block in left)))
        in_definitions = Counter[str]()  # of each name, how often its own definitions say it
        for name, block in left:
            if name:
                in_definitions[name] += len(re.findall(rf"\b{name}\b", block))
        now = [s and (not n or everywhere[n] > in_definitions[n]) for (n, _), s in zip(blocks, stays)]
        if now == stays:
            return stays
        stays = now


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


def _device_blocks(text: str) -> list[tuple[str, str, str]]:
    """The same of CUDA: (the comment before a definition, the name it defines, the text)."""
    blocks: list[tuple[str, str, str]] = []
    lines = text.split("\n")
    comment, at = "", 0
    while at < len(lines):
        end = at + 1
        if lines[at].startswith("/*"):
            while end < len(lines) and not lines[end - 1].rstrip().endswith("*/"):
                end += 1
            if comment:
                blocks.append(("", "", comment))
            comment, at = "\n".join(lines[at:end]), end
            continue
        first = at + 1 if _TEMPLATE.match(lines[at]) and end < len(lines) else at
        form = next((m for form in (_DEVICE, _STRUCT) if (m := form.match(lines[first]))), None)
        macro = _BOOL.match(lines[at])
        if form is not None:
            end = _end(lines, first)
        elif comment:
            blocks.append(("", "", comment))
            comment = ""
        name = form[1] if form else macro[1] if macro else ""
        blocks.append((comment, name, "\n".join(lines[at:end])))
        comment, at = "", end
    return [*blocks, ("", "", comment)] if comment else blocks


def _end(lines: list[str], first: int) -> int:
    """The line behind a definition, or declaration, that begins with this one."""
    depth = 0
    for at in range(first, len(lines)):
        code = re.sub(r"/\*.*?\*/|//.*", "", lines[at]).rstrip()
        depth += code.count("{") - code.count("}")
        if depth == 0 and code.endswith(("}", ";")):
            return at + 1
    return len(lines)
