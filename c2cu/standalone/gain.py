"""What another schedule would gain over the form of a whole program that is best read."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from ..base.diagnostics import Error
from ..schedule.choose import AUTO, choose, scheduled
from ..schedule.estimate import Estimate
from ..schedule.schedule import Candidate

if TYPE_CHECKING:
    from ..schedule.understood import Understood

READABLE = ("thread", "private")  # the schedules whose kernels are the user's own text


def gain(front: Understood, p: int) -> str:
    """A note on what schedule "auto" takes for ``p`` inputs, with the estimate of its gain where there is one; "" where
    it takes none other."""
    with suppress(Error):
        plan, _ = choose(front, "cuda", AUTO, p=p)
        if plan.schedule in READABLE:
            return ""
        note = f"{front.program.kernel.loc}: note: this is the form that is best read; --schedule auto writes"
        return f"{note} the kernels of schedule '{plan.schedule}'{_times(front, plan.schedule, plan.estimates, p)}"
    return ""


def _times(front: Understood, name: str, estimates: tuple[Estimate, ...], p: int) -> str:
    """How many times as fast a schedule is by estimate, where it is faster and that is known."""
    best = next((e for e in estimates if e.schedule == name), None)
    with suppress(Error):
        slow = scheduled(front, "cuda", Candidate("thread"))[0].estimates
        if best is not None and slow and slow[0].seconds(p) > best.seconds(p) > 0:
            return f", about {_two_digits(slow[0].seconds(p) / best.seconds(p))} times as fast by estimate"
    return ""


def _two_digits(x: float) -> str:
    """A number as it is spoken: 6.9, 430, 1,200."""
    return f"{x:.2g}" if x < 10 else f"{int(float(f'{x:.2g}')):,}"
