"""What `uniform` finds: places where data decides something."""

from __future__ import annotations

from dataclasses import dataclass

from ..base import catalogue
from ..base.diagnostics import Diagnostic, Loc, Note

CODES = {
    "address": catalogue.ADDRESS_DEPENDS.code,
    "loop-bound": catalogue.LOOP_DEPENDS.code,
    "branch": catalogue.BRANCH_DEPENDS.code,
    "operation": catalogue.OPERATION_DEPENDS.code,
}


@dataclass(frozen=True)
class Step:
    """One link of a finding's trail: ``message`` says what happens to the data at ``loc``."""

    message: str
    loc: Loc


@dataclass(frozen=True)
class Finding:
    """A place where data decides an address, a loop's bound, a branch or how long an operation takes.

    Attributes:
        kind: ``"address"``, ``"loop-bound"``, ``"branch"`` or ``"operation"``.
        message: One sentence that names the variable.
        loc: The place in the C.
        trail: The steps from there back to the input that the data comes from.
        hint: How the C could be changed, or "".
    """

    kind: str
    message: str
    loc: Loc
    trail: tuple[Step, ...]
    hint: str = ""

    @property
    def severe(self) -> bool:
        """Whether it makes the program not oblivious; any finding makes it not constant-time."""
        return self.kind in ("address", "loop-bound")

    @property
    def file(self) -> str:
        """The file's name."""
        return self.loc.file

    @property
    def line(self) -> int:
        """The line, counted from 1."""
        return self.loc.line

    @property
    def column(self) -> int:
        """The column, counted from 1."""
        return self.loc.column

    def diagnostic(self, severity: str = "warning") -> Diagnostic:
        notes = tuple(Note(step.message, step.loc) for step in self.trail)
        return Diagnostic(severity, CODES[self.kind], self.message, self.loc, self.hint, notes)
