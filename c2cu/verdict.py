"""The verdict on a program as a report, a warning at the user's line of Python, or an error."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field

from .analysis.uniform import Finding
from .base import catalogue
from .base.diagnostics import Diagnostic, Note, render
from .schedule.understood import Understood
from .trace import diagnosed

_PACKAGE = os.path.join(os.path.dirname(__file__), "")


@dataclass(frozen=True)
class Report:
    """The verdict on a program; as a string, its findings with their lines of C.

    Attributes:
        oblivious: At each step, the program touches one fixed address or none, whatever the data.
        constant_time: It is oblivious, and no branch depends on data.
        findings: The places where data decides an address, a loop's bound or a branch.
        why_not: Why the program could not be analysed, or "". Then ``oblivious`` and ``constant_time`` are False, as
            nothing is proved.
        notes: What the verdict assumes, one sentence each.
        sources: The text of each source file by name.
        faults: Undefined behaviour of C behind a branch that depends on data. (Undefined behaviour that occurs whatever
            the data is an `InputError`.)
    """

    oblivious: bool
    constant_time: bool
    findings: tuple[Finding, ...]
    why_not: str = ""
    notes: tuple[str, ...] = ()
    sources: Mapping[str, str] = field(default_factory=dict, compare=False, repr=False)
    faults: tuple[Diagnostic, ...] = ()

    def __str__(self) -> str:
        lines = [render(f.diagnostic("warning" if f.kind != "branch" else "note"), self.sources) for f in self.findings]
        lines += [render(d, self.sources) for d in self.faults]
        if self.why_not:
            lines.append(f"not analysed: {self.why_not}")
        lines += self.notes
        return "\n".join([*lines, self.verdict])

    @property
    def verdict(self) -> str:
        """The verdict in one line: ``oblivious: yes; constant time: no``."""
        no = "not proved" if self.why_not else "no"
        oblivious, constant_time = ("yes" if x else no for x in (self.oblivious, self.constant_time))
        return f"oblivious: {oblivious}; constant time: {constant_time}"


class NotObliviousWarning(UserWarning):
    """The program is not oblivious: its results are right, but SIMD lanes and GPU threads wait for each other.

    Attributes:
        report: The verdict.
    """

    def __init__(self, report: Report):
        super().__init__(report)
        self.report = report

    def __str__(self) -> str:
        severe = (f for f in self.report.findings if f.kind != "branch")
        texts = [render(f.diagnostic(), self.report.sources) for f in severe]
        return "\n".join(["the program is not oblivious", *texts])


def report_of(front: Understood, notes: tuple[str, ...] = ()) -> Report:
    if front.analysis is None:
        assert front.why_not is not None
        d = front.why_not.diagnostic
        return Report(False, False, (), f"{d.loc}: {d.message}", notes, front.pre.sources)
    a = front.analysis
    return Report(a.oblivious, a.constant_time, a.findings, "", notes, front.pre.sources, diagnosed(front.trace))


def judge(front: Understood, strict: bool | None) -> None:
    """Warn of a program that is not oblivious. ``strict``: raise NotObliviousError instead, also for a program that
    cannot be analysed; None: do nothing, as the program was judged before."""
    report = report_of(front)
    if strict is None or report.oblivious or (front.analysis is None and not strict):
        return
    if not strict:
        warnings.warn(NotObliviousWarning(report), stacklevel=users_level())
        return
    first = next((f for f in report.findings if f.kind != "branch"), None)
    notes = tuple(Note(f.message, f.loc) for f in report.findings if f is not first and f.kind != "branch")
    error = catalogue.NOT_OBLIVIOUS.error(
        first.loc if first else None, notes, reason=first.message if first else report.why_not
    )
    error.sources = front.pre.sources
    raise error


def users_level() -> int:
    """The ``stacklevel`` with which a warning by the caller names the first line outside c2cu."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        level, frame = level + 1, frame.f_back
    return level
