"""The inputs, outputs and shared values that a command line names, as a job for `runs`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .. import api
from ..base import catalogue
from ..base.diagnostics import did_you_mean
from ..schedule.slots import Slot, shape_of
from . import files, outputs
from .outputs import Output
from .sources import ArraySource, open_source


@dataclass(frozen=True)
class FileJob:
    """``batched``: the inputs' sources by name; ``shared``: what all inputs share; ``total``: how many inputs there
    are; ``slots``: the program's, with the extents of these inputs; ``targets``: the file of each output; ``sources``:
    all that is read, shared values included."""

    program: api.Program
    batched: Mapping[str, ArraySource]
    shared: Mapping[str, Any]
    total: int
    slots: Sequence[Slot]
    targets: Mapping[str, str]
    layout: str
    sources: Sequence[ArraySource]

    def changed(self) -> str:
        """What is wrong if an input was changed since it was opened; else an empty string. Results may be wrong then,
        even if nothing was read after the change."""
        return next((message for s in self.sources if (message := s.changed())), "")

    def check_unchanged(self) -> None:
        """Raises InputError if an input was changed since it was opened."""
        if message := self.changed():
            raise catalogue.FILE_CHANGED.error(message=message)

    @property
    def nbytes(self) -> int:
        """In and out, of one input."""
        return sum(s.nbytes * ((s.name in self.batched) + (s.name in self.targets)) for s in self.slots)

    def outputs(self) -> dict[str, Output]:
        import numpy

        return {
            s.name: Output(
                self.targets[s.name], shape_of(s, self.total, self.layout), numpy.dtype(s.dtype), self.layout
            )
            for s in self.slots
            if s.name in self.targets
        }


def inner_shapes(inputs: Sequence[str], shared: Sequence[tuple[str, str]], layout: str) -> dict[str, tuple[int, ...]]:
    """The shape of one input of each array in a .npy file that ``--in`` and ``--shared`` name. Raises InputError for a
    file that cannot be read."""

    def arrays(pairs: Iterable[tuple[str, str]]) -> dict[str, Any]:
        return {n: files.load(path, None) for n, path in pairs if path.endswith(".npy")}

    batched = arrays((n, path) for n, _, path in (text.partition("=") for text in inputs))
    return api.inner_shapes(batched, arrays(shared), layout)


def job_of(
    program: api.Program,
    inputs: Sequence[str],
    targets: Sequence[str],
    shared: Sequence[tuple[str, str]],
    p: int | None,
    layout: str,
) -> FileJob:
    """Open and check everything that ``--in``, ``--out`` and ``--shared`` name; no data is read yet."""
    from ..runtime import arrays

    slots = {s.name: s for s in program.slots}
    files_of = _targets(targets, [s.name for s in slots.values() if s.writes])
    named = arrays.named(_inputs(inputs, slots, layout, program.why_no_input), program.slots)
    _refuse_repeated("--shared", [name for name, _ in shared])
    arrays.check_known([name for name, _ in shared], program.slots, program.why_no_input)
    constants = {name: _value(text, slots.get(name), layout) for name, text in shared}
    front, _, bound = program.bound(named, constants, p)
    batched = {s.name: bound[s.name] for s in front.slots if s.name in bound and not s.shared}
    everything = {**named, **constants}
    sources = [v for v in everything.values() if hasattr(v, "changed")]
    values = {n: v.whole() if hasattr(v, "whole") else v for n, v in everything.items() if n not in batched}
    total = arrays.common_p(batched, front.slots, layout, p)
    return FileJob(program, batched, values, total, front.slots, files_of, layout, sources)


def _inputs(inputs: Sequence[str], slots: Mapping[str, Slot], layout: str, why_not: Callable[[str], str]) -> Any:
    """The inputs by name, or the one that has none."""
    from ..runtime import arrays

    inputs = [text for file in inputs for text in _unpacked(file, slots)]
    if len(inputs) == 1 and "=" not in inputs[0]:
        required = [s for s in slots.values() if s.required and not s.shared]
        return open_source(inputs[0], required[0] if len(required) == 1 else None, layout)
    pairs = [text.partition("=") for text in inputs]
    unnamed = next((text for text, equals, _ in pairs if not equals), None)
    if unnamed is not None:
        raise catalogue.IN_WITHOUT_NAME.error(file=unnamed)
    _refuse_repeated("--in", [name for name, *_ in pairs])
    _refuse_repeated("--in", [path for *_, path in pairs if path == "-"])
    arrays.check_known([name for name, *_ in pairs], tuple(slots.values()), why_not)
    return {name: _value(path, slots.get(name), layout) for name, _, path in pairs}


def _unpacked(text: str, slots: Mapping[str, Slot]) -> list[str]:
    """The arrays of an .npz file that has no name, each as the input of its own name; any other input as it is."""
    if "=" in text or not files.is_archive(text):
        return [text]
    names = files.names_in(text)
    if len(names) == 1 and names[0] not in slots:
        return [text]
    for name in names:
        if name not in slots:
            raise catalogue.NOT_A_VARIABLE.error(path=text, name=name, meant=did_you_mean(name, slots))
    return [f"{name}={text}" for name in names]


def _refuse_repeated(option: str, names: Sequence[str]) -> None:
    """Refuse what is given twice: one of the two would go unused."""
    twice = next((name for k, name in enumerate(names) if name in names[:k]), None)
    if twice is not None:
        raise catalogue.OPTION_TWICE.error(option=option, name=twice)


def _value(text: str, slot: Slot | None, layout: str) -> Any:
    """A file's source, or a number for a scalar."""
    if slot is not None and slot.shape == () and not Path(text).exists():
        for kind in (lambda t: int(t, 0), float, *([complex] if str(slot.dtype).startswith("complex") else [])):
            try:
                return kind(text)
            except ValueError:
                continue
    return open_source(text, slot, layout)


def _targets(texts: Sequence[str], names: Sequence[str]) -> dict[str, str]:
    """The file of each output, checked before anything runs. ``names``: the program's outputs."""
    known = f"the outputs: {', '.join(names) or 'none'}"
    if not texts:
        raise catalogue.NO_OUT.error(known=known)
    named = {text.partition("=")[0] for text in texts if "=" in text}
    pairs: list[tuple[str, str]] = []
    for text in texts:
        name, equals, path = text.partition("=")
        if not equals and files.is_archive(text):  # which has room for all that is not named
            outputs.check_target(text)
            pairs += [(n, text) for n in names if n not in named]
            continue
        if not equals and len(names) != 1:
            raise catalogue.OUT_WITHOUT_NAME.error(file=text, known=known)
        if not equals:
            name, path = names[0], text
        if name not in names:
            raise catalogue.UNKNOWN_VARIABLE.error(
                role="output", name=name, meant=did_you_mean(name, names), known=list(names)
            )
        outputs.check_target(path)
        pairs.append((name, path))
    _refuse_repeated("--out", [name for name, _ in pairs])
    archives = dict.fromkeys(path for _, path in pairs if files.is_archive(path))  # each holds several
    paths = [*(path for _, path in pairs if path not in archives), *archives]
    _refuse_repeated("--out", paths)
    outputs.check_apart(paths)
    return dict(pairs)
