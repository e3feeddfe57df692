"""Warnings with a diagnostic, given at the user's line of Python."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Mapping

from .diagnostics import Diagnostic, render

_PACKAGE = os.path.join(os.path.dirname(os.path.dirname(__file__)), "")


class Notice(UserWarning):
    """Something that a user should know, though the call goes on.

    Attributes:
        diagnostic: Severity, code, message, place, hint and notes.
    """

    def __init__(self, diagnostic: Diagnostic, sources: Mapping[str, str] | None = None):
        super().__init__(diagnostic, sources)
        self.diagnostic, self.sources = diagnostic, sources or {}

    def __str__(self) -> str:
        return render(self.diagnostic, self.sources)


class CacheWarning(Notice):
    """Compiled programs are not kept in the folder that was meant for them, as others could change them there."""


class MismatchWarning(Notice):
    """A schedule gave another result than the C as the host's compiler takes it. The results of the call are right:
    they are those of schedule ``native``."""


def warn(notice: Warning) -> None:
    """Warn at the user's line."""
    warnings.warn(notice, stacklevel=users_level())


_told: set[int] = set()  # hashes of the texts of warnings that are given once


def warn_once(notice: Warning) -> None:
    """Warn at the user's line, once in a process for the same text: Python's own account of what was shown is lost
    whenever any library changes a filter. A filter that wants to see all such warnings does."""
    wanted = any(issubclass(type(notice), f[2]) and f[0] in ("always", "all", "error") for f in warnings.filters)
    text = hash(str(notice))
    if wanted or text not in _told:
        _told.add(text)
        warn(notice)


def users_level() -> int:
    """The ``stacklevel`` with which a warning by the caller names the first line outside c2cu."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        level, frame = level + 1, frame.f_back
    return level
