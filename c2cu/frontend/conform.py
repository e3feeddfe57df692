"""Ask the host's compiler whether the text is valid C, while the other stages work."""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import tempfile
from collections.abc import Iterator

from ..base import catalogue, toolchain
from ..base.diagnostics import Error, Loc, Note
from .preprocess import MESSAGE, Preprocessed, file_of

_SYNTAX = {catalogue.SYNTAX_ERROR.code, catalogue.ENDS_TOO_EARLY.code}


@contextlib.contextmanager
def conforming(pre: Preprocessed) -> Iterator[None]:
    """Check the whole text while the body runs; ParseError with the compiler's first complaint, if it has one.

    An Error that the body raises comes first: it says how to go on. What else it raises gives way to the complaint,
    as the stages take valid C for granted. What the compiler takes and our parser does not is GNU's, not C.
    """
    compiler = toolchain.find_compiler()
    command = [*compiler, *toolchain.check_flags(compiler), "-x", "c", "-std=gnu11", "-w", "-"]
    environment = {**os.environ, "LC_ALL": "C"}
    with tempfile.TemporaryFile() as text:
        text.write(pre.plain.encode("utf-8", "surrogateescape"))
        text.seek(0)
        reader = subprocess.Popen(
            command, stdin=text, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=environment
        )
    try:
        yield
    except Error as e:
        if e.code in _SYNTAX:
            m, d = _complaint(reader), e.diagnostic
            if m is None:
                raise catalogue.GNU_EXTENSION.error(d.loc) from None
            complaint = Note(f"the C compiler says here: {m[4]}", _place(m))
            error = e.with_notes(complaint)
            error.sources = error.sources or pre.plain_sources
            raise error from None
        reader.kill()
        reader.wait()
        raise
    except Exception:
        _raise_complaint(reader, pre)
        raise
    _raise_complaint(reader, pre)


def _complaint(reader: subprocess.Popen[bytes]) -> re.Match[str] | None:
    _, errors = reader.communicate()
    return MESSAGE.search(errors.decode("utf-8", "replace"))


def _place(m: re.Match[str]) -> Loc:
    return Loc(file_of(m[1]), int(m[2]), int(m[3] or 0))


def _raise_complaint(reader: subprocess.Popen[bytes], pre: Preprocessed) -> None:
    m = _complaint(reader)
    if m is None:
        return
    error = catalogue.INVALID_C.error(_place(m), message=m[4])
    error.sources = pre.plain_sources
    raise error
