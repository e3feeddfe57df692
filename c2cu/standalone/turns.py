"""Runs in turn, each a process of its own: what a CPU does with a program that cannot be taken apart.

The program's text stays as it is. A function that runs before main starts a process for each run, which goes on to
main and ends as the original does. Standard input is not buffered, so that a run leaves to the next what it does not
read.
"""

from __future__ import annotations

import re

from ..base import catalogue
from ..base.diagnostics import Error
from ..base.templates import render, words
from ..frontend.preprocess import Preprocessed, without_comments

#: What the text calls of the C library: result, name in the text, the library's own name, parameters.
_LIBRARY = (
    ("int", "fork", "fork", "void"),
    ("int", "waitpid", "waitpid", "int, int *, int"),
    ("void", "exit", "_exit", "int"),
    ("int", "atexit", "atexit", "void (*)(void)"),
    ("int", "setvbuf", "setvbuf", "void *, char *, int, unsigned long"),
    ("int", "getc", "getc", "void *"),
    ("int", "ungetc", "ungetc", "int, void *"),
    ("int", "open", "open", "const char *, int, ..."),
    ("int", "dup2", "dup2", "int, int"),
    ("void *", "mmap", "mmap", "void *, unsigned long, int, int, int, long"),
    ("void", "signal", "signal", "int, void (*)(int)"),
    ("int", "raise", "raise", "int"),
)
_DEFINED = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)", re.M)
_KERNEL = re.compile(r"^[ \t]*#[ \t]*pragma[ \t]+(?:kernel|c2cu)\b.*$", re.M)


#: Errors that say which function to call the kernel, and those of C that has no meaning as it stands either.
_ENDS = frozenset(m.code for m in (catalogue.NO_KERNEL, catalogue.SEVERAL_KERNELS, catalogue.OUT_OF_BOUNDS))
_SAID = re.compile(r"^ \* The program as it stands, each run a process of its own: (.*)\. \*/$", re.M)


def in_turn(name: str, pre: Preprocessed, p: int, why: Error) -> str | None:
    """The text for ``p`` runs, None where the program is in several files, has no main, or is in the way of what stands
    around it. ``why``: what could not be done."""
    text = _KERNEL.sub("", pre.whole).strip("\n")
    code = without_comments(text)
    if why.code in _ENDS or not re.search(r"\bmain\s*\(", code) or any(_defines(code, c) for _, _, c, _ in _LIBRARY):
        return None
    return render(
        "cpu/turns.c.j2",
        name=name.rsplit("/", 1)[-1],
        p=p,
        reason=_reason(why),
        text=text,
        library=_LIBRARY,
        undefined=sorted({*_DEFINED.findall(code)} & words("cpu/turns.c.j2")),
        reopens=bool(re.search(r"\b(freopen|fclose)\b", code)),
    )


def _defines(code: str, name: str) -> bool:
    """Whether a program may have a function or a variable of that name."""
    return bool(re.search(rf"\b{name}\b(?!\s*\()|\b{name}\s*\([^;{{}}()]*\)\s*\{{", code))


def stands_for(text: str) -> str:
    """Why a text is the program as it stands; "" if it is not."""
    m = _SAID.search(text[:4096])
    return m[1] if m else ""


def _reason(why: Error) -> str:
    place = f" (line {why.line})" if why.line else ""
    return f"{why.diagnostic.message}{place}".replace("*/", "* /")
