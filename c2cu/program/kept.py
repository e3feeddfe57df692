"""What was found out of a program, kept in the cache: a later process neither understands it again nor chooses anew.

An entry's name says all that it was made from: the preprocessed text, the options, this version of c2cu and this
machine. Of the program it has what calls ask for; what anything else asks for is made again, when it does.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import fields, replace
from typing import Any, TypeVar

from .. import backends, tune
from ..base import toolchain
from ..base.cache import key
from ..base.diagnostics import Error
from ..base.mathematics import mathematics
from ..base.package import state
from ..frontend.options import Options
from ..frontend.preprocess import Preprocessed, Source
from ..schedule import choose
from ..schedule.artifact import Artifact
from ..schedule.choose import Measurement, Plan, Rejected
from ..schedule.estimate import Device, planned
from ..schedule.schedule import Candidate
from ..schedule.understood import OUTLINE, Understood
from ..verdict import report_of
from .entries import keep, recalled
from .preprocessed import preprocessed

T = TypeVar("T")
ON = True
DEEP = ("linked", "program", "kernel", "analysis", "why_not", "trace")  # of an `Understood`, not kept


class Recalled(Understood):
    """A program that an earlier process understood. It is understood again where what was not kept is asked for."""

    def __getattr__(self, name: str) -> Any:
        if name not in DEEP:
            raise AttributeError(name)
        whole = vars(self)["again"]()
        vars(self).update((n, vars(whole)[n]) for n in DEEP)
        return vars(self)[name]


def asked(source: Source, options: Options) -> Understood:
    """`pipeline.asked`."""
    return _understood("asked", source, options)


def understand(source: Source, options: Options) -> Understood:
    """`pipeline.understand`."""
    return _understood("understand", source, options)


def _understood(stage: str, source: Source, options: Options) -> Understood:
    """``stage``: the pipeline's function, which is imported where nothing is kept."""

    def make(pre: Preprocessed | None) -> Understood:
        from .. import pipeline

        return getattr(pipeline, stage)(source, options, pre)

    if not ON:
        return make(None)
    pre = source.pre or preprocessed(source, options)
    origin = _name(stage, source, options, pre)
    kept = recalled(origin)
    if kept is not None:
        return _completed(kept, source, lambda: make(pre))
    from ..analysis.facts import UNENDED

    front = make(pre)
    if front.trace is not None and front.trace.stopped == UNENDED:
        return front  # a machine with less to do may tell more
    shallow = {f.name: vars(front)[f.name] for f in fields(front) if f.name not in (*DEEP, "source")}
    told = {"origin": origin, "report": report_of(front) if front.oblivious is False else None}
    keep(origin, {**shallow, **{n: getattr(front, n) for n in OUTLINE}, **told})
    return replace(front, **told)


def _completed(kept: dict[str, Any], source: Source, again: Callable[[], Understood]) -> Recalled:
    lock = threading.Lock()

    @functools.cache
    def once() -> Understood:
        return again()

    def whole() -> Understood:
        with lock:
            return once()

    front = object.__new__(Recalled)
    vars(front).update(kept, source=source, again=whole)
    return front


def chosen(
    front: Understood, backend: str, schedule: str, rejected: Rejected, p: int | None, device: Device
) -> tuple[Plan, Artifact]:
    """`choose.choose`."""
    how = "chosen", backend, schedule, rejected, p, device
    return _of(front, backend, how, lambda: _sure(lambda: choose.choose(front, backend, schedule, rejected, p, device)))


def scheduled(
    front: Understood, backend: str, candidate: Candidate, measured: Measurement | None = None
) -> tuple[Plan, Artifact]:
    """`choose.scheduled`."""
    how = "scheduled", backend, candidate
    plan, artifact = _of(front, backend, how, lambda: _sure(lambda: choose.scheduled(front, backend, candidate)))
    return replace(plan, measured=measured), artifact


def _sure(make: Callable[[], tuple[Plan, Artifact]]) -> tuple[Plan, Artifact]:
    """What ``make`` makes of functions of math.h whose bits are those of this machine's library. Where that has yet to
    be found out, it is while the artifact is compiled."""
    from ..schedule.gang.same_bits import taken_as_equal

    with taken_as_equal() as comparison:
        plan, artifact = make()
    if not comparison.begun:
        return plan, artifact
    if plan.backend == "cpu":
        with suppress(Error):  # whoever loads it is told
            backends.loader("cpu")(artifact)
    return (plan, artifact) if comparison.holds() else make()


def depends_on(p: int, front: Understood, backend: str, schedule: str) -> bool:
    """`choose.depends_on`."""
    how = "depends_on", p, schedule
    return front.is_gep and _of(front, backend, how, lambda: choose.depends_on(p, front, backend, schedule))


def faultless(front: Understood, values: dict[str, Any]) -> None:
    """`pipeline.refuse_numbers`: nothing goes wrong whatever the data with these numbers."""
    from .. import pipeline

    how = "faultless", [(n, type(v), v.hex() if isinstance(v, float) else v) for n, v in values.items()]
    _of(front, "cpu", how, lambda: pipeline.refuse_numbers(front, values))


def _of(front: Understood, backend: str, how: tuple, make: Callable[[], T]) -> T:
    if not (ON and front.origin):
        return make()
    try:
        name = key(front.origin, *how, planned(), *tune.identity(backend))
    except Error:  # there is no such device, which the run itself reports
        return make()
    kept = recalled(name)
    if kept is None:
        kept = (make(),)
        keep(name, kept)
    return kept[0]


def _name(kind: str, source: Source, options: Options, pre: Preprocessed) -> str:
    units = [
        (u.name, u.text, u.plain, u.host, u.whole, sorted(u.macros.items()), u.includes, u.marks, sorted(u.system))
        for u in pre.units
    ]
    texts = sorted(pre.sources.items()), sorted(pre.plain_sources.items())
    compiler = toolchain.find_compiler()
    machine = compiler, toolchain.compiler_version(compiler), toolchain.cpu_key(), mathematics()
    chosen = [(f.name, _in_order(getattr(options, f.name))) for f in fields(options)]
    return key(kind, [(s.name, s.path) for s in source.units], units, texts, chosen, machine, state())


def _in_order(value: Any) -> Any:
    return sorted(value.items()) if isinstance(value, dict) else value
