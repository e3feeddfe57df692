"""The verdict on a program as a report, a warning at the user's line of Python, or an error."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

from .base import catalogue
from .base.diagnostics import Diagnostic, Error, Loc, Note, render, to_json
from .base.notices import warn_once
from .schedule.understood import Understood

if TYPE_CHECKING:
    from .analysis.finding import Finding

PLACES = 5  # of early ends, that a note names
FEW = {"address": 5, "loop-bound": 5, "branch": 3, "operation": 1}  # findings of a kind, unless all are asked for


@dataclass(frozen=True)
class Report:
    """The verdict on a program; as a string, its findings with their lines of C.

    Attributes:
        oblivious: At each step, the program touches one fixed address or none, whatever the data.
        constant_time: It is oblivious, no branch depends on data, and data reaches no division, remainder or library
            function.
        findings: The places where data decides an address, a loop's bound, a branch or how long an operation takes.
        why_not: Why the program could not be analysed, or "". Then ``oblivious`` and ``constant_time`` are False, as
            nothing is proved.
        notes: What the verdict assumes, one sentence each.
        sources: The text of each source file by name.
        faults: Undefined behaviour of C behind a branch that depends on data. (Undefined behaviour that occurs whatever
            the data is an `InputError`.)
        is_of_secrets: Whether constant time was the question.
    """

    oblivious: bool
    constant_time: bool
    findings: tuple[Finding, ...]
    why_not: str = ""
    notes: tuple[str, ...] = ()
    sources: Mapping[str, str] = field(default_factory=dict, compare=False, repr=False)
    faults: tuple[Diagnostic, ...] = ()
    is_of_secrets: bool = field(default=False, repr=False)

    def __str__(self) -> str:
        lines = [render(d, self.sources) for d in self.shown()]
        lines += [render(d, self.sources) for d in self.faults]
        if self.why_not:
            lines.append(f"not analysed: {self.why_not}")
        lines += self.notes
        return "\n".join([*lines, self.verdict])

    def shown(self, severity: str = "warning", all_severe: bool = False, every: bool = False) -> Iterator[Diagnostic]:
        """The findings as ``check`` lists them, what is severe with this severity. Unless ``every`` one is asked for,
        or constant time was the question, few of each kind stand for all, each on a line of its own and a branch on
        none where something severe is; the last of a kind says how many more there are."""
        shown = self.findings if every or self.is_of_secrets else self._few()
        more = Counter(f.kind for f in self.findings) - Counter(f.kind for f in shown)
        last = {f.kind: k for k, f in enumerate(shown)}
        for k, f in enumerate(shown):
            d = f.diagnostic(severity if f.severe or all_severe else "note")
            tells = more[f.kind] and last[f.kind] == k
            yield replace(d, notes=(*d.notes, _more(f.kind, more[f.kind]))) if tells else d

    def _few(self) -> Sequence[Finding]:
        severe = {(f.file, f.line) for f in self.findings if f.severe}
        counts: Counter[str] = Counter()
        named: set[tuple[str, str, int]] = set()
        few = []
        for f in self.findings:
            place = (f.kind, f.file, f.line)
            hidden = place in named or (f.kind == "branch" and place[1:] in severe)
            if not hidden and counts[f.kind] < FEW[f.kind]:
                few.append(f)
                named.add(place)
                counts[f.kind] += 1
        return few

    def severe(self) -> Iterator[tuple[Finding, Diagnostic]]:
        """What makes the program not oblivious: of the places of one kind that the same input decides the first, which
        says how many more there are."""
        by: dict[tuple[str, object], list[Finding]] = {}
        for f in self.findings:
            if f.severe:
                by.setdefault((f.kind, f.trail[-1] if f.trail else f.loc), []).append(f)
        for first, *others in by.values():
            d = first.diagnostic()
            more = f"the same decides {len(others)} more place{'s'[: len(others) > 1]}: 'c2cu check --all' lists them"
            yield first, replace(d, notes=(*d.notes, Note(more))) if others else d

    @property
    def verdict(self) -> str:
        """The verdict in one line: ``oblivious: yes; constant time: no``."""
        no = "not proved" if self.why_not else "no"
        oblivious, constant_time = ("yes" if x else no for x in (self.oblivious, self.constant_time))
        return f"oblivious: {oblivious}; constant time: {constant_time}"


def json_lines(report: Report) -> Iterator[str]:
    """A report's notes, and last its verdict, as one JSON object each."""
    for note in report.notes:
        placed = re.fullmatch(r"(.*?):(\d+):(\d+): note: (.*)", note)
        loc = Loc(placed[1], int(placed[2]), int(placed[3])) if placed else None
        yield to_json(Diagnostic("note", "", placed[4] if placed else note, loc))
    oblivious, constant_time = (None, None) if report.why_not else (report.oblivious, report.constant_time)
    yield to_json(Diagnostic("note", "", report.verdict), oblivious=oblivious, constant_time=constant_time)


def _more(kind: str, count: int) -> Note:
    """That there are more findings of a kind than are shown."""
    if kind == "operation":
        many = "one more operation" if count == 1 else f"{count} more operations"
        return Note(f"the same is true of {many}: --constant-time lists them")
    what = {"address": "subscript", "loop-bound": "end of a loop", "branch": "branch"}[kind]
    plural = {"end of a loop": "ends of loops", "branch": "branches"}.get(what, f"{what}s")
    return Note(
        f"so does 1 more {what}: --all lists it" if count == 1 else f"so do {count} more {plural}: --all lists them"
    )


class NotObliviousWarning(UserWarning):
    """The program is not oblivious: its results are right, but SIMD lanes and GPU threads wait for each other.

    A process is told once of the same places, whatever lines compile the program, unless a filter of `warnings` says
    otherwise.

    Attributes:
        report: The verdict.
    """

    def __init__(self, report: Report):
        super().__init__(report)
        self.report = report

    def __str__(self) -> str:
        return self._text

    @cached_property
    def _text(self) -> str:
        texts = [render(d, self.report.sources) for _, d in self.report.severe()]
        return "\n".join(["the program is not oblivious", *texts])


def report_of(
    front: Understood, notes: tuple[str, ...] = (), secret: Understood | None = None, public: Iterable[str] = ()
) -> Report:
    """The verdict. ``secret``: the program to be judged as constant-time, all of whose inputs but those of ``public``
    are secret; its findings are the report's. Without it, obliviousness is the question."""
    from .analysis.uniform import secrets
    from .frontend.parse import deep
    from .trace import diagnosed

    judged = secret or front
    notes = (*notes, *_early(front), *_declassified(front))
    missing = next((x.why_not for x in (front, judged) if x.analysis is None), None)
    if missing is not None:
        d = missing.diagnostic
        if front.sized_by:
            names = ", ".join(sorted(front.sized_by))
            how = "analysed where that is one number for all inputs, --shared NAME=NUMBER"
            notes += (f"sizes come from {names}: {how}",)
        return Report(False, False, (), f"{d.loc}: {front.pre.sources.said(d.message)}", notes, front.pre.sources)
    a = front.analysis
    assert a is not None and judged.kernel is not None
    kernel = judged.kernel
    findings = deep(lambda: secrets(kernel, frozenset(public)))
    constant_time = not findings
    if secret is None:
        both = (*a.findings, *(f for f in findings if f.kind == "operation"))
        findings = tuple(sorted(both, key=lambda f: (f.file, f.line, f.column, f.kind)))
    faults = diagnosed(front.trace)
    return Report(a.oblivious, constant_time, findings, "", notes, front.pre.sources, faults, secret is not None)


def _early(front: Understood) -> Iterator[str]:
    """Where an input may end early, and what is done then."""
    if front.ends:
        places = list(dict.fromkeys(f"{p.file}:{p.line}" for p in front.ends))
        more = f" and {len(places) - PLACES} more places" if len(places) > PLACES else ""
        yield (
            f"an input may end early, at {', '.join(places[:PLACES])}{more}: "
            "schedule gang then has schedule native do this input again"
        )


def _declassified(front: Understood) -> Iterator[str]:
    """What the program itself says is no secret any more."""
    from .frontend.declassify import spelled
    from .frontend.parse import loc_of

    for n in front.program.declassified:
        if not isinstance(n, Error):
            loc = loc_of(n)
            yield f"declassified: '{spelled(n)}' at {loc.file}:{loc.line}"


def judge(front: Understood, strict: bool | None) -> None:
    """Warn of a program that is not oblivious. ``strict``: raise NotObliviousError instead, also for a program that
    cannot be analysed; None: do nothing, as the program was judged before."""
    if strict is None or front.oblivious or (front.oblivious is None and not strict):
        return
    report = front.report or report_of(front)
    if not strict:
        warn_once(NotObliviousWarning(report))
        return
    first = next((f for f in report.findings if f.severe), None)
    notes = tuple(Note(f.message, f.loc) for f in report.findings if f is not first and f.severe)
    error = catalogue.NOT_OBLIVIOUS.error(
        first.loc if first else None, notes, reason=first.message if first else report.why_not
    )
    error.sources = front.pre.sources
    raise error
