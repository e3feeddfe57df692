"""Ask the host's compiler whether the text is valid C, while the other stages work."""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from ..base import catalogue, toolchain
from ..base.diagnostics import Error, Loc, Note, ParseError
from ..base.scratch import scratch
from .languages import of_another_language
from .preprocess import MESSAGE, Preprocessed, file_of
from .unparsed import unparsed

_SYNTAX = {catalogue.SYNTAX_ERROR.code, catalogue.ENDS_TOO_EARLY.code}
#: What compilers say where the text is no C, whatever its names mean.
_OF_SYNTAX = re.compile(r"expected|missing|stray|extraneous|at end of|unterminated|without a previous")


@contextlib.contextmanager
def conforming(pre: Preprocessed) -> Iterator[list[Error]]:
    """Check the whole text, each file by itself, while the body runs; ParseError with the compiler's first complaint,
    if it has one.

    The list is the body's to fill with its doubts: what it did not understand when it went on. Where the compiler
    complains at the line of one, that is raised, as it says how to go on; a syntax error also one line later, where the
    parser notices what is missing. An Error that the body raises comes before
    a complaint, but for syntax errors; any other exception gives way to it, as the stages take valid C for granted.
    What the compiler takes and our parser does not is GNU's, not C.
    """
    doubts: list[Error] = []
    with scratch() as folder:
        readers = [_reader(unit, folder / f"{n}.c") for n, unit in enumerate(pre.units)]
        with _conforming(pre, readers, doubts):
            yield doubts


@contextlib.contextmanager
def _conforming(pre: Preprocessed, readers: Sequence[subprocess.Popen[bytes]], doubts: list[Error]) -> Iterator[None]:
    try:
        yield
    except Error as e:
        if e.code not in _SYNTAX and not any(d.code in _SYNTAX for d in doubts):
            for reader in readers:
                reader.kill()
                reader.wait()
            told = _in_its_language(e, pre)
            if told is not e:
                raise told from None
            raise
        _raise_complaint(readers, [*doubts, e], pre)
        raise (unparsed(e, pre) if e.code in _SYNTAX and isinstance(e, ParseError) else e) from None
    except Exception:
        _raise_complaint(readers, doubts, pre)
        raise
    _raise_complaint(readers, doubts, pre, unless_host_takes_it=True)


def _reader(unit: Preprocessed, path: Path) -> subprocess.Popen[bytes]:
    """The compiler, at work on one file. ``path``: where its text goes."""
    compiler = toolchain.find_compiler()
    flags = toolchain.check_flags(compiler, path.with_suffix(".s"))
    command = [*compiler, *flags, "-x", "c", "-std=gnu11", "-w", "-"]
    environment = {**os.environ, "LC_ALL": "C"}
    path.write_bytes(unit.plain.encode("utf-8", "surrogateescape"))
    with path.open("rb") as text:
        return subprocess.Popen(command, stdin=text, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=environment)


def _raise_complaint(
    readers: Sequence[subprocess.Popen[bytes]],
    doubts: list[Error],
    pre: Preprocessed,
    unless_host_takes_it: bool = False,
) -> None:
    """Raise the doubt that the compiler's first complaint is about, else the compiler's own words; return where it has
    no complaint. ``unless_host_takes_it``: nor where it has none with the host's headers, which declare more than
    ours."""
    errors = [reader.communicate()[1].decode("utf-8", "replace") for reader in readers]
    complaints = [m for text in errors for m in MESSAGE.finditer(text)]
    m = next(iter(complaints), None)
    if m is None or (unless_host_takes_it and doubts and _host_takes(pre)):
        return
    place = Loc(file_of(m[1]), int(m[2]), int(m[3] or 0))
    syntax = [d for d in doubts if d.code in _SYNTAX and any(_about(d, c) for c in complaints)]
    shared = [d for d in doubts if (d.diagnostic.loc or Loc()).line == place.line and isinstance(d, ParseError)]
    error = catalogue.INVALID_C.error(place, message=m[4], way_on=toolchain.way_on(m[4]))
    if shared and not syntax:
        error = shared[0]
    elif syntax and syntax[0].code == catalogue.SYNTAX_ERROR.code and _is_before(place, syntax[0]):
        error = catalogue.SYNTAX_ERROR.error(place, detail=f": {m[4]}")  # something is missing there
    elif syntax:
        error = syntax[0].with_notes(Note(f"the C compiler says here: {m[4]}", place))
    error.sources = error.sources or pre.plain_sources
    raise _in_its_language(error, pre) from None


def _is_before(place: Loc, doubt: Error) -> bool:
    """Whether it is on an earlier line of the same file."""
    loc = doubt.diagnostic.loc or Loc()
    return place.file == loc.file and place.line < loc.line


def _in_its_language(error: Error, pre: Preprocessed) -> Error:
    """The same error, or one that says that the text is in another language."""
    return of_another_language(error, [unit.plain for unit in pre.units], pre.plain_sources)


def _about(doubt: Error, complaint: re.Match[str]) -> bool:
    """Whether the parser and the compiler stumble over the same: what is missing may be noticed a line later, and an
    end that comes too early where it comes."""
    loc = doubt.diagnostic.loc or Loc()
    close = file_of(complaint[1]) == loc.file and abs(loc.line - int(complaint[2])) <= 1
    return (close or doubt.code == catalogue.ENDS_TOO_EARLY.code) and bool(_OF_SYNTAX.search(complaint[4]))


def _host_takes(pre: Preprocessed) -> bool:
    """Whether the compiler takes every file with the host's own headers."""
    if not all(unit.host for unit in pre.units):
        return False
    with scratch() as folder:
        texts = [replace(unit, plain=unit.host) for unit in pre.units]
        readers = [_reader(unit, folder / f"{n}.c") for n, unit in enumerate(texts)]
        return not any(MESSAGE.search(reader.communicate()[1].decode("utf-8", "replace")) for reader in readers)
