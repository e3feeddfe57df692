"""What the preprocessor made of a source, kept in the cache: a later process does not run it again.

An entry's name says what the preprocessor was given; the entry says which files it read, and how they were then.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from typing import Any

from ..base import toolchain
from ..base.cache import key
from ..base.diagnostics import Error
from ..base.package import state
from ..frontend.included import Included, now
from ..frontend.options import Options
from ..frontend.preprocess import Preprocessed, Source, entered, preprocess
from .entries import keep, recalled

#: What makes a text another one although no file that it reads has changed.
_FICKLE = re.compile(r"__(?:DATE|TIME|TIMESTAMP)__|__has_include")
#: A folder of headers that is searched before the system's: one that is new there hides the system's.
_LOCAL = "/usr/local/include"
#: Folders and rules for compilers, by environment.
_TELLING = ("CPATH", "C_INCLUDE_PATH", "GCC_EXEC_PREFIX", "COMPILER_PATH", "SDKROOT")


def preprocessed(source: Source, options: Options) -> Preprocessed:
    """`frontend.preprocess.preprocess`, and what it raises."""
    name = _name(source, options)
    if name and (entry := recalled(name)) is not None:
        pre, included, headers = entry
        if not included.changed() and _states(headers) == headers:
            return pre
    began = now()
    pre = preprocess(source, options.defines, options.include_dirs)
    included = Included(pre.sources, source, options.include_dirs, began)
    texts = (*pre.sources.values(), *map(str, (options.defines or {}).values()))
    if name and not included.changed() and not any(map(_FICKLE.search, texts)):
        keep(name, (pre, included, _headers(pre)))
    return pre


def _name(source: Source, options: Options) -> str:
    """ "" where what it is made from cannot be told."""
    if any(os.environ.get(n) for n in _TELLING):
        return ""
    try:
        compiler = toolchain.find_compiler()
        version = toolchain.compiler_version(compiler)
        folder = os.getcwd()
    except (Error, OSError):  # the preprocessor reports it; a folder that is gone finds no header
        return ""
    files = [(s.name, s.path, s.text) for s in source.units]
    given = sorted((options.defines or {}).items()), list(map(str, options.include_dirs))
    return key("preprocessed", files, given, folder, compiler, version, state())


def _headers(pre: Preprocessed) -> dict[str, Any]:
    """The state of every header that is not the user's."""
    files = {f for unit in pre.units for text in (unit.text, unit.plain, unit.host) for f in entered(text)}
    return _states([_LOCAL, *(f for f in files if not f.startswith("<") and f not in pre.sources)])


def _states(files: Iterable[str]) -> dict[str, Any]:
    return {f: _state(f) for f in files}


def _state(file: str) -> tuple[int, int] | None:
    try:
        status = os.stat(file)
    except OSError:
        return None
    return status.st_size, status.st_mtime_ns
