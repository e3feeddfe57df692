"""A library: a kernel's fastest form as a source file and a header, which any C, C++ or Fortran program links with."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..base import catalogue
from ..base.ctype import BOOL, CType, Scalar, leaf_element
from ..base.diagnostics import UnsupportedError
from ..base.templates import render
from ..base.version import __version__
from ..codegen.c_printer import CPP_KEYWORDS
from ..codegen.positions import kept_positions, told_places
from ..frontend.kernel import returns_place
from ..frontend.options import one_of
from ..frontend.parse import deeply
from ..frontend.preprocess import KEYWORDS
from ..schedule import registry
from ..schedule.artifact import Artifact
from ..schedule.choose import AUTO
from ..schedule.slots import Slot
from .as_it_stands import NO_STATUS, as_it_stands
from .forms import NATIVE, form, launched
from .library_header import CPU, called, facts, overrides, without_spare_headers
from .line_directives import line_directives
from .own_names import named_in
from .tidy import split_includes, unexported, without_unused, without_unused_cuda, without_watch
from .wrap import wrapped

if TYPE_CHECKING:
    from ..schedule.understood import Understood

_TAKEN = CPP_KEYWORDS | frozenset(  # names in the function and the headers that it needs
    "p workspace threads stream slot worker workers gangs started device multiprocessors error earlier blocks NULL"
    " I uintptr_t cudaError_t cudaErrorNotReady cudaGetErrorString cudaGetLastError cudaPeekAtLastError"
    " cudaSuccess".split()
)


@dataclass(frozen=True)
class Library:
    """``source`` includes the file ``NAME.h``, whose text is ``header``, for the ``name`` of its function. ``cmake``: a
    CMakeLists.txt that builds it."""

    name: str
    source: str
    header: str
    cmake: str


@dataclass(frozen=True)
class _Argument:
    """A parameter of the function: a variable of the program."""

    name: str
    slot: Slot
    type: str  # of an element; of a complex number its parts', of what the header cannot define ``void``
    element: CType
    starts: str  # what it holds where it is not given
    is_place: bool = False  # where a pointer that the kernel returns points

    @property
    def text(self) -> str:
        return f"{'' if self.slot.writes else 'const '}{self.type} *{self.name}"

    @property
    def says(self) -> str:
        """A line about it for the header."""
        way = {(True, False): "in", (False, True): "out", (True, True): "in and out"}[self.slot.reads, self.slot.writes]
        parts = (2,) if isinstance(self.element, Scalar) and self.element.is_complex else ()
        shape = "".join(f"[{n}]" for n in (*(() if self.slot.shared else ("p",)), *self.slot.shape, *parts))
        one = " (one for all inputs)" * self.slot.shared
        what = " (the real part, then the imaginary one)" if parts else ""
        if self.type == "void":
            what = f" ({self.element}, {self.element.size} bytes each)"
        if self.slot.name == "return":
            what += ", what the C function returns"
        if self.is_place:
            what += ": where it points, in elements from the start of the array; -1 for null, -2 for elsewhere"
        most = f"; elements from 0 to {self.slot.most}, which is not checked" * (self.slot.most is not None)
        without = {"in": self.starts, "out": "not wanted", "in and out": f"{self.starts}, and not given back"}
        null = f"; NULL: {without[way]}" * (not self.slot.required)
        return f"{self.name}: {way}, {self.type}{shape or '[1]'}{what}{one}{null}{most}"


@deeply
def library(
    front: Understood,
    name: str,
    *,
    target: str = "cuda",
    schedule: str = AUTO,
    fp: str = "exact",
    lines: bool = False,
) -> Library:
    """The library of a kernel, with one function called ``name``. ``target``: cuda or cpu. ``lines``: whether it has
    ``#line`` directives.

    Raises InputError for a name that C does not have, UnsupportedError where no schedule with such a form takes the
    program."""
    one_of("target", target, ("cuda", "cpu"))
    if not isinstance(name, str):
        raise catalogue.WRONG_KIND.error(argument="name", value=f"{name!r:.80}", expected="the function's C name")
    if not re.fullmatch(r"[A-Za-z_]\w*", name) or name in CPP_KEYWORDS | KEYWORDS | {"main"}:
        raise catalogue.LIBRARY_NAME.error(name=name)
    with kept_positions(lines) as files, told_places():
        artifact = _artifact(front, target, schedule)
    if name in _names(artifact.text) or name.lower().startswith("c2cu_"):
        raise catalogue.LIBRARY_NAME.error(name=name)
    if artifact.schedule == NATIVE:  # the program's own names stand beside ours
        ends = {"workspace", "error", *re.findall(r"\bc2cu_(\w+)", artifact.text)}
        if not {name, *(f"{name}_{end}" for end in ends)}.isdisjoint(named_in(front.program.unit)[0]):
            raise catalogue.LIBRARY_NAME.error(name=name)
    arguments = _arguments(front, artifact)
    correctly = " --math correct" if front.math == "correct" else ""
    options = correctly + (f" --pack {front.pack}" if front.pack else "") + overrides(front)
    values: dict[str, object] = {
        **facts(front, artifact),
        "name": name,
        "kernel": front.program.kernel.name,
        "file": front.source.name.rsplit("/", 1)[-1],
        "made": f"c2cu {__version__}: --target {target} --schedule {artifact.schedule} --fp {fp}{options}",
        "arguments": arguments,
        "required": [a for a in arguments if a.slot.required],
        "may_be_shared": any(a.slot.reads and not a.slot.writes and not a.slot.shared for a in arguments),
        "slots": [_slot(s, {a.slot.name: a for a in arguments}) for s in artifact.slots],
        "target": target,
        "exact": fp == "exact",
        "lines": lines,
    }
    source = wrapped(_source(artifact, values))
    values["libm"] = bool(called(source))
    header, cmake = (render(f"library.{kind}.j2", **values) for kind in ("h", "cmake"))
    if lines:
        source = line_directives(source, f"{name}.{'cu' if target == 'cuda' else 'c'}", files)
    return Library(name, source, wrapped(header), cmake)


def _names(text: str) -> set[str]:
    """What a text itself names, so that a function of ours cannot be called so."""
    types = re.findall(r"^typedef .*?\b(\w+)(?: __attribute__.*)?;", text, re.M)
    return {*re.findall(r"^#define (\w+)", text, re.M), *types, *re.findall(r"\b(\w+)\(", text)}


def _artifact(front: Understood, target: str, schedule: str) -> Artifact:
    """Of the schedules that have such a form, the one that is chosen, or else the first that takes the program."""
    if front.ends:
        way_on = f"a library has no form of these: {NO_STATUS}; without --library, translate takes it"
        raise catalogue.ENDS_EARLY.error(front.ends[0], way_on=way_on)
    artifact = form(front, target, schedule)
    if artifact is not None:
        return artifact
    if target == "cpu" and schedule in (AUTO, NATIVE):
        try:
            return as_it_stands(front)
        except UnsupportedError:
            if schedule == NATIVE or front.why_not is not None:
                raise
    if front.why_not is not None:
        raise front.why_not
    for name in registry.names(target) if schedule == AUTO else ():
        with suppress(UnsupportedError):
            artifact = form(front, target, name)
            if artifact is not None:
                return artifact
    name = registry.names(target)[-1] if schedule == AUTO else schedule
    raise catalogue.NO_LIBRARY_FORM.error(front.program.kernel.loc, schedule=name)


def _arguments(front: Understood, artifact: Artifact) -> list[_Argument]:
    parameters = {b.name: b for b in front.program.parameters}
    taken = {*_TAKEN, *re.findall(r"^#define (\w+)", artifact.text, re.M)}
    arguments = []
    for slot in artifact.slots:
        if not (slot.reads or slot.writes):
            continue
        name = "result" if slot.name == "return" else slot.name
        while name in taken:
            name += "_"
        taken.add(name)
        of = parameters[slot.name]
        declared = of.symbol.decl if of.symbol is not None else None
        starts = "as the C file initialises it" if declared is not None and declared.init is not None else "zeros"
        element = leaf_element(of.type)
        is_place = slot.name == "return" and returns_place(front.program)
        arguments.append(_Argument(name, slot, _element(element), element, starts, is_place))
    return arguments


def _element(t: CType) -> str:
    """The C type of a parameter that points to such elements."""
    if not isinstance(t, Scalar):
        return "void"
    return "unsigned char" if t == BOOL else str(t).replace("_Complex", "").strip()


def _slot(slot: Slot, arguments: dict[str, _Argument]) -> str:
    """The initialiser of a slot's line in the table."""
    argument = arguments.get(slot.name)
    if argument is None:
        return "{0, 0, 0, 0}"
    stride = 0 if slot.shared else slot.nbytes
    given = f"{stride}" if argument.slot.required or not stride else f"{argument.name} ? {stride} : 0"
    source = f"{argument.name}, {given}" if slot.reads else "0, 0"
    target = f"{argument.name}, {slot.nbytes}" if slot.writes else "0, 0"
    return f"{{{source}, {target}}}"


def _source(artifact: Artifact, values: dict[str, object]) -> str:
    name = str(values["name"])
    if isinstance(artifact, CPU):
        text, included = split_includes(artifact.text)
        if artifact.schedule == NATIVE:  # the text is the program's own
            return _prefixed(render("cpu/library.c.j2", text=text, included=included, **values), name)
        text = unexported(text)
        made = render("cpu/library.c.j2", text=without_watch(text), included=included, **values)
        return without_spare_headers(without_unused(_prefixed(made, name)))
    made = render("cuda/library.cu.j2", **launched(artifact), **values)
    return _prefixed(without_unused_cuda(made), name)


def _prefixed(text: str, name: str) -> str:
    """Names of ours begin with the function's, so that several libraries may stand in one program."""
    names = {"c2cu_": f"{name}_", "C2CU_": f"{name.upper()}_"}
    return re.sub(r'"(?:\\.|[^"\\\n])*"|\b(c2cu_|C2CU_)', lambda m: names.get(m[1], m[0]), text)
