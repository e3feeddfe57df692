"""What users call: bulk, compile, stream, check, translate, library. It imports NumPy only with arrays."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from . import backends
from .base import catalogue
from .base.diagnostics import UnsupportedError, did_you_mean, lines_of
from .base.recent import Recent
from .frontend.included import Included, now
from .frontend.options import Options, by_name, flag, folders, names, one_of, options_of, whole
from .frontend.preprocess import Source, is_text, preprocess, read_source
from .program import Program
from .schedule.slots import known_values
from .schedule.understood import Understood
from .verdict import NotObliviousWarning, Report, judge, report_of

if TYPE_CHECKING:
    from .standalone.library import Library
    from .streaming.streams import Stream

LAYOUTS = ("row", "column")


def compile(
    src: str | os.PathLike | Sequence[str | os.PathLike],
    *,
    fn: str | None = None,
    shared: Mapping[str, Any] | Sequence[str] | None = None,
    defines: Mapping[str, Any] | None = None,
    backend: str = "auto",
    schedule: str = "auto",
    fp: str = "exact",
    math: str = "host",
    layout: str = "row",
    shapes: Mapping[str, Any] | None = None,
    strict: bool = False,
    include_dirs: Sequence[str] = (),
    tune: bool = False,
    pack: int | None = None,
    verify: str | bool = "auto",
    outputs: Sequence[str] | None = None,
    status: bool = False,
    stdio: str | None = None,
) -> Program:
    """Compile a C program for bulk runs.

    Args:
        src: A path, or C text: a ``str`` with a newline or a brace; a list of them is one program of several files.
        fn: The kernel function. Without it: the function called after ``#pragma kernel`` in ``main``, or the only
            function that is neither ``main`` nor called by another.
        shared: Names of variables that all inputs share; of a dict, only the names are used.
        defines: Values of object-like macros, by name; they replace the file's own.
        backend: ``"cuda"``, ``"cpu"``, or ``"auto"``: CUDA where CuPy sees a device, else the CPU.
        schedule: The name of a schedule, or ``"auto"``. `Program.plan` says which one was chosen, and why.
        fp: ``"exact"``; ``"reassociate"`` (sums of floats may be reordered); ``"fast"`` (fused multiply-add, ``fminf``
            and approximate functions as well). Integers are the same under every value.
        math: ``"host"``: functions of math.h have the bits of this machine's C library. ``"correct"``: they are rounded
            correctly, the same on every machine; those of which c2cu has none such are an error. See docs/math.md.
        layout: ``"row"``: arrays are ``(p, *shape)``. ``"column"``: ``(*shape, p)``.
        shapes: The shape of one input, by name: an extent or a tuple of extents, for those that the C leaves open; for
            ``void *`` a pair of that and a dtype, for ``T **`` rows and columns.
        strict: Make a program that is not oblivious an error instead of a warning.
        include_dirs: Folders in which ``#include`` looks for headers.
        tune: Measure the candidate schedules on the first inputs, once. The cache remembers the fastest, and later
            calls use it with and without ``tune``.
        pack: 4, 8 or 16. Declares that every distance of a shortest-paths kernel on integers fits into that many bits
            (at most 32767; the largest value stands for "no edge"), so that a GPU may keep two of them in a word.
        verify: ``"auto"``: the first time on a machine, some of the inputs are run by schedule ``native`` too; where
            results differ, those of ``native`` are returned, with a MismatchWarning; after the call has returned, if
            the host's compiler is slow. ``"strict"``: the call waits, and a difference is an error. ``"all"``: every
            input of every call or stream. ``False``: none. $C2CU_VERIFY replaces ``"auto"``.
        outputs: The variables that come out, by C name; without it, all that the kernel writes.
        status: The exit status of each input is an output too, ``status``: int32 ``(p,)``. Without it, inputs that end
            early raise `ExitError` after the call.
        stdio: ``"discard"``: run a kernel that prints, and drop what it prints.

    Returns:
        A program that can be called with arrays any number of times.

    Raises:
        ParseError: The file cannot be read, or is not C.
        UnsupportedError: The kernel needs something that c2cu does not support; the error names the line.
        NotObliviousError: ``strict`` is set, and the program is not oblivious.
        CompileError: There is no C compiler, or no CUDA device where one is asked for.
        InputError: An argument is wrong. It is also a ``ValueError``, or a ``TypeError`` for a wrong type.
    """
    backends.known(backend)
    one_of("layout", layout, LAYOUTS)
    if not isinstance(schedule, str):
        raise catalogue.WRONG_KIND.error(argument="schedule", value=f"{schedule!r:.80}", expected="a schedule's name")
    return Program(
        read_source(src),
        options_of(fn, shared, defines, shapes, fp, include_dirs, pack, outputs, status, stdio, math),
        backend,
        schedule,
        layout,
        flag("strict", strict),
        flag("tune", tune),
        verify=verify,
    )


PROGRAMS = 128  # that are remembered, those last used
_programs: Recent[tuple[Program, Included]] = Recent(PROGRAMS)
_keys: dict[Any, Any] = {}  # of `_programs`, by C text and options as they are given


def bulk(
    src: str | os.PathLike | Sequence[str | os.PathLike],
    inputs: Any = None,
    *,
    fn: str | None = None,
    shared: Mapping[str, Any] | None = None,
    defines: Mapping[str, Any] | None = None,
    backend: str = "auto",
    schedule: str = "auto",
    fp: str = "exact",
    math: str = "host",
    layout: str = "row",
    shapes: Mapping[str, Any] | None = None,
    out: Any = None,
    stream: Any = None,
    strict: bool = False,
    include_dirs: Sequence[str] = (),
    p: int | None = None,
    tune: bool = False,
    devices: Sequence[int] | None = None,
    pack: int | None = None,
    verify: str | bool = "auto",
    outputs: Sequence[str] | None = None,
    status: bool = False,
    stdio: str | None = None,
) -> Any:
    """Run a sequential C program on p independent inputs at once.

    The results equal, bit for bit, those of the C compiled with ``-fwrapv -fno-strict-aliasing -ffp-contract=off`` and
    run p times; docs/language.md names the functions of math.h for which a GPU differs.

    Args:
        src: A path, or C text: a ``str`` with a newline or a brace; a list of them is one program of several files.
        inputs: One array ``(p, *shape)`` of the C type's dtype where the kernel has one bulk input, else a dict of
            arrays by C name. NumPy, CuPy, or anything with DLPack on a CUDA device; on a device, results stay there.
        fn: The kernel function; see `compile`.
        shared: Arrays and numbers that are one for all inputs, by C name: ``shape``, without the p axis.
        defines: Values of object-like macros, by name; they replace the file's own.
        backend: ``"auto"``, ``"cuda"`` or ``"cpu"``.
        schedule: ``"auto"``, or the name of a schedule.
        fp: ``"exact"``, ``"reassociate"`` or ``"fast"``; see `compile`.
        math: ``"host"`` or ``"correct"``; see `compile`.
        layout: ``"row"``: arrays are ``(p, *shape)``. ``"column"``: ``(*shape, p)``.
        shapes: The shape of one input, by name, where neither the C nor an input tells it.
        out: An array, or a dict of arrays by C name, to write the results to. After an error they may be written in
            part. They may be the inputs.
        stream: The ``cupy.cuda.Stream`` to run on; without it, the current one.
        strict: Make a program that is not oblivious an error instead of a warning.
        include_dirs: Folders in which ``#include`` looks for headers.
        p: The number of inputs; needed only where no input is given.
        tune: Measure the candidate schedules on these inputs; see `compile`.
        devices: Ordinals of the GPUs that work together at each matrix of a loop of Gaussian-elimination type.
        pack: 4, 8 or 16; see `compile`. An element that does not fit is an error.
        verify: ``"auto"``, ``"strict"``, ``"all"`` or ``False``; see `compile`.
        outputs: The variables that come out; see `compile`.
        status: Whether the exit status comes out; see `compile`.
        stdio: ``"discard"`` drops what the kernel prints; see `compile`.

    Returns:
        One array where exactly one variable is an output, else a dict of arrays by C name. ``return`` names the value
        that the kernel returns.

    Raises:
        ParseError: The file cannot be read, or is not C.
        UnsupportedError: The kernel needs something that c2cu does not support; the error names the line.
        NotObliviousError: ``strict`` is set, and the program is not oblivious.
        CompileError: There is no C compiler, no CUDA device where one is asked for, or not enough memory.
        MismatchError: ``verify`` is ``"strict"``, and a schedule's results differ from the C's.
        InputError: An array or an argument is wrong: a ``ValueError``, or a ``TypeError`` for a wrong dtype.
        ExitError: Some inputs ended early, by ``exit``, ``abort``, a failed ``assert`` or a fault; it has all results.
    """
    options = dict(
        fn=fn,
        shared=tuple(by_name("shared", shared)),
        defines=defines,
        backend=backend,
        schedule=schedule,
        fp=fp,
        math=math,
        layout=layout,
        strict=strict,
        include_dirs=folders(include_dirs),
        tune=tune,
        pack=pack,
        verify=verify,
        outputs=outputs,
        status=status,
        stdio=stdio,
    )
    try:
        program = remembered(src, shapes=shapes, **options)
    except UnsupportedError as e:
        inner = inner_shapes(inputs, shared, layout)
        if e.code not in SIZED_BY_SHAPES or not inner:
            raise
        program = remembered(src, shapes={**inner, **by_name("shapes", shapes)}, **options)
    return program(inputs, shared=shared, out=out, stream=stream, p=p, devices=devices)


#: What shapes may mend: rows by address, and rows of a variable length.
SIZED_BY_SHAPES = (catalogue.KERNEL_PARAMETER.code, catalogue.VARIABLE_EXTENT.code)


def inner_shapes(inputs: Any, shared: Any, layout: str) -> dict[str, tuple[int, ...]]:
    """The shape of one input of each array that a call brings, by name."""
    if not isinstance(inputs, Mapping):
        return {}
    shapes = {n: tuple(a.shape) for n, a in inputs.items() if hasattr(a, "shape")}
    shapes = {n: s[1:] if layout == "row" else s[:-1] for n, s in shapes.items()}
    whole = {n: tuple(a.shape) for n, a in shared.items() if hasattr(a, "shape")} if isinstance(shared, Mapping) else {}
    return {n: s for n, s in {**shapes, **whole}.items() if s and all(s)}


def remembered(src: str | os.PathLike | Sequence[str | os.PathLike], **options: Any) -> Program:
    """`compile`, once in a process for the same program and options, as long as it is among the last `PROGRAMS`, and
    the headers that it includes are what they were."""
    settings = (os.environ.get("CC"), os.environ.get("C2CU_VERIFY"))
    quick = (src, *options.values(), *options, type(options.get("pack")), *settings) if is_text(src) else None
    try:
        key = _keys.get(quick)
    except TypeError:  # a dict among the options
        key = quick = None
    source = None
    if key is None:
        source = read_source(src)
        key = _key(source, options, settings)
        if quick is not None:
            if len(_keys) >= 4 * PROGRAMS:
                _keys.clear()
            _keys[quick] = key

    def compiled() -> tuple[Program, Included]:
        began = now()
        program = compile(src, **options)
        return program, Included(program.sources, source or read_source(src), options.get("include_dirs") or (), began)

    program, included = _programs.of(key, compiled)
    if included.changed():
        _programs.drop(key)
        program, _ = _programs.of(key, compiled)
    return program


def _key(source: Source, options: Mapping[str, Any], settings: tuple[str | None, ...]) -> tuple[Any, ...]:
    """What a program is compiled from: the texts, the options, and the environment's."""
    named = {n: sorted(by_name(n, options.get(n)).items()) for n in ("defines", "shapes")}
    listed = {"include_dirs": folders(options.get("include_dirs")), "shared": names("shared", options.get("shared"))}
    texts = tuple((s.name, s.text) for s in source.units)
    return (texts, repr(sorted({**options, **named, **listed}.items())), *settings)


def stream(
    src: str | os.PathLike | Sequence[str | os.PathLike],
    batches: Any,
    *,
    group: int | None = None,
    interval: float | str | None = None,
    depth: int | None = None,
    latency_target: float | str | None = None,
    devices: Sequence[int] | None = None,
    memory: int | str | None = None,
    timeline: bool = False,
    copy: bool = True,
    shared: Mapping[str, Any] | None = None,
    **options: Any,
) -> Stream:
    """Run a sequential C program on inputs that come in batches.

    Results come in order, and equal those of `bulk` bit for bit. Memory is bounded by the size of a group.

    Args:
        src: A path, or C text: a ``str`` with a newline or a brace; a list of them is one program of several files.
        batches: An iterable of arrays ``(p, *shape)``, or of dicts of them by C name, each with a p of its own; an
            array alone is one batch. A thread reads it, a few groups ahead of the results. The first batch is read at
            once, and its shapes hold for all.
        group: How many inputs run together; without it, about 16 MB of them on a GPU and 4 MB on a CPU.
        interval: Seconds, or a text such as ``"5ms"``: no input waits longer for its group to fill; then the group runs
            with the inputs that it has. Without it, a group waits until it is full.
        depth: Groups in flight on each device: 4 on a GPU, 2 on a CPU, unless given.
        latency_target: Seconds from an input's arrival to its result, or a text such as ``"5ms"``. Measurements on the
            first batch choose the largest group that meets it.
        devices: Ordinals of the GPUs to use; without it, all that are visible.
        memory: Host memory that buffers may take: bytes, or a text such as ``"2G"``; without it, 1 GB.
        timeline: Record what each device does, and when, for `Stream.spans`.
        copy: False promises that no batch is written to before its results are there, so that it need not be copied.
        shared: Arrays and numbers that are one for all inputs, by C name.
        options: The other parameters of `compile`.

    Returns:
        An iterator over results of ``group`` inputs each, whatever the sizes of the batches: a `Result` where exactly
        one variable is an output, else `Results`; on a GPU's arrays, plain CuPy arrays.

    Raises:
        Error: Whatever `bulk` raises. An exception of the iterable itself is raised after the results for all earlier
            batches.
    """
    from .streaming.streams import open_stream

    program = remembered(src, shared=tuple(by_name("shared", shared)), **options)
    return open_stream(
        program,
        batches,
        shared=shared,
        group=group,
        interval=interval,
        depth=depth,
        latency_target=latency_target,
        devices=devices,
        memory=memory,
        timeline=timeline,
        copy=copy,
    )


def check(
    src: str | os.PathLike | Sequence[str | os.PathLike],
    *,
    fn: str | None = None,
    shared: Mapping[str, Any] | Sequence[str] | None = None,
    defines: Mapping[str, Any] | None = None,
    shapes: Mapping[str, Any] | None = None,
    include_dirs: Sequence[str] = (),
    constant_time: bool = False,
    public: Sequence[str] = (),
    stdio: str | None = None,
) -> Report:
    """Analyse a program without compiling it.

    Args:
        src: A path, or C text: a ``str`` with a newline or a brace; a list of them is one program of several files.
        fn: The kernel function; see `compile`.
        shared: Names of variables that all inputs share. The values of a dict that are numbers are used: they decide
            bounds and lengths.
        defines: Values of object-like macros, by name; they replace the file's own.
        shapes: The shape of one input, by name, where the C leaves it open.
        include_dirs: Folders in which ``#include`` looks for headers.
        constant_time: Report what keeps the program from running in constant time. Every input is secret then, but
            those of ``public``: a secret must decide no address, loop's bound or branch, and reach no division,
            remainder or function of math.h, whose time depends on its operands. What a variable holds is no secret
            after ``#pragma c2cu declassify(NAME)``; the report's notes list these.
        public: Names of inputs that are no secrets; implies ``constant_time``.
        stdio: ``"discard"`` if what the kernel prints is to be dropped; see `compile`.

    Returns:
        The verdict. An integer parameter that decides an address or a loop's bound is most likely a length, so the
        program is called oblivious if it is so with one number for all inputs; the report's notes say that, and what is
        true of one number an input. Unless ``constant_time`` is asked for, lengths are taken as public.

    Raises:
        ParseError: The file cannot be read, or is not C.
        UnsupportedError: The kernel needs something that c2cu does not support; the error names the line.
        InputError: An argument is wrong, or the program accesses an array out of bounds or reads an uninitialised
            variable whatever the data.
    """
    from . import pipeline

    source = read_source(src)
    options = options_of(fn, shared, defines, shapes, "exact", include_dirs, stdio=stdio)
    values = shared if isinstance(shared, Mapping) else {}
    plain = ((n, v.item() if hasattr(v, "item") and v.size == 1 else v) for n, v in values.items())
    numbers = {n: str(v) for n, v in plain if isinstance(v, (int, float, str))}
    front, options = _understood(source, options, numbers)
    public = names("public", public)
    known = {b.name for b in front.program.parameters if b.kind != "return"}
    for name in public:
        if name not in known and name not in front.program.unit.variables:
            raise catalogue.UNKNOWN_VARIABLE.error(
                role="public input", name=name, meant=did_you_mean(name, known), known=sorted(known)
            )
    likely, notes = _with_lengths(source, options, front, constant_time or bool(public))
    with lines_of(front.pre.sources):
        secret = pipeline.judged(front) if constant_time or public else None
        return report_of(pipeline.judged(likely), notes, secret, public)


def as_given(
    source: Source, options: Options, numbers: Mapping[str, str] | None = None
) -> tuple[Understood, tuple[str, ...]]:
    """The program understood as it is most likely to be called, lengths given as one number; notes that say so.
    ``numbers``: what shared scalars are, by name. Raises InputError."""
    front, options = _understood(source, options, numbers)
    return _with_lengths(source, options, front)


def _understood(source: Source, options: Options, numbers: Mapping[str, str] | None) -> tuple[Understood, Options]:
    """The program with the numbers it is for, and the options that they belong to."""
    from . import pipeline

    front = pipeline.asked(source, options)
    untouched = front.program.unit.variables.keys() - {s.name for s in front.slots}  # globals that make no difference
    numbers = {n: v for n, v in (numbers or {}).items() if n not in untouched}
    if numbers:
        options = replace(options, values=known_values(front.slots, numbers))
        front = pipeline.asked(source, options)
    return front, options


def _with_lengths(
    source: Source, options: Options, front: Understood, constant_time: bool = True
) -> tuple[Understood, tuple[str, ...]]:
    """The program with what seem to be lengths as one number for all inputs; notes that say so. ``constant_time``:
    whether a verdict on that is made without this assumption, or none at all."""
    from . import pipeline

    names = front.lengths
    if not names:
        return front, ()
    again = pipeline.asked(source, replace(options, shared=(*options.shared, *names)))
    assumed = [b for b in front.program.parameters if b.name in names]
    if again.analysis is None or front.analysis is None or not again.analysis.oblivious:
        return again, tuple(
            f"{b.loc}: note: parameter '{b.name}' is taken as one number for all inputs" for b in assumed
        )
    line = next(f.line for f in front.analysis.findings if f.severe)
    said = " and ".join(f"'{b.name}'" for b in assumed)
    one, each = "is one number", f"with one {said} an input"
    if len(assumed) > 1:
        one, each = "are one number each", "with others for each input"
    how = f"{assumed[0].loc}: note: oblivious if {said} {one} for all inputs; {each}: no, line {line}"
    if constant_time or all(f.kind == "loop-bound" for f in front.analysis.findings):
        return again, (how,)
    return again, (how, f"{assumed[0].loc}: note: constant time as long as {said} may be known: see --constant-time")


def translate(
    src: str | os.PathLike | Sequence[str | os.PathLike],
    *,
    p: int,
    threads: int = 64,
    target: str = "cuda",
    group: int | None = None,
    schedule: str | None = None,
    fp: str = "exact",
    math: str = "host",
    pack: int | None = None,
    lines: str = "",
    fn: str | None = None,
    defines: Mapping[str, Any] | None = None,
    shared: Sequence[str] | None = None,
    shapes: Mapping[str, Any] | None = None,
    include_dirs: Sequence[str] = (),
) -> str:
    """Write a standalone program that behaves as p runs of the original, one after the other.

    Args:
        src: A path, or C text: a ``str`` with a newline or a brace; a list of them is one program of several files. It
            must have a ``main``.
        p: The number of inputs.
        threads: Threads of a CUDA block, of schedule ``thread``; the others have their own number.
        target: ``"cuda"``: CUDA C for nvcc. ``"cpu"``: C for a host compiler.
        group: How many inputs the program reads, runs and writes at a time, so that results come out while later inputs
            still come in. Without it, the program reads all p inputs first.
        schedule: ``"auto"``, or the name of a schedule: the program has the kernels that `compile` would run. Without
            it, the program is the one that is best read: on CUDA that of schedule ``thread``, or of ``private`` where
            that one does not take the program; on a CPU SIMD lanes that every machine has, on one processor. With it,
            lanes and tiles of a CPU are for all processors, and for SIMD registers as wide as this machine's. What
            neither takes runs as it stands, one run after another.
        fp: As for `compile`.
        math: As for `compile`.
        pack: 4, 8 or 16; see `compile`. The program ends with a message where an element does not fit.
        lines: The name of the file that the text will stand in. With it, what comes from the original has ``#line``
            directives, so that debuggers, profilers (nvcc's option -lineinfo) and compilers' messages show that.
        fn: The kernel function; see `compile`.
        defines: Values of object-like macros, by name; they replace the file's own.
        shared: Names of variables that all inputs share.
        shapes: The shape of one input, by name, where the C leaves it open.
        include_dirs: Folders in which ``#include`` looks for headers.

    Returns:
        The program's text, which does not need c2cu.

    Raises:
        ParseError: The file cannot be read, or is not C.
        UnsupportedError: The kernel, or how ``main`` uses it, cannot be translated, or ``schedule`` does not take the
            program; the error names the line.
        InputError: An argument is wrong.
    """
    options = options_of(fn, shared, defines, shapes, fp, include_dirs, pack, math=math)
    if not isinstance(lines, str):
        raise catalogue.WRONG_KIND.error(argument="lines", value=f"{lines!r:.80}", expected="the name of a file")
    return translated(read_source(src), options, p, threads, target, group, schedule, lines)[0]


def translated(
    source: Source,
    options: Options,
    p: int,
    threads: int = 64,
    target: str = "cuda",
    group: int | None = None,
    schedule: str | None = None,
    lines: str = "",
) -> tuple[str, Understood | None]:
    """What `translate` returns, and the program understood; None where its text runs as it stands."""
    from . import pipeline
    from .frontend.adapter import original_name
    from .frontend.passed import passed
    from .standalone.program import require_runs, runs_as_it_stands, standalone
    from .standalone.turns import in_turn

    p, threads = whole("p", p), whole("threads", threads)
    group = None if group is None else whole("group", group)
    options = replace(options, stdio="keep", portable=True)
    try:
        front = pipeline.asked(source, options)
        if values := passed(front.program):
            front = pipeline.asked(source, replace(options, values=values))
    except UnsupportedError as e:
        require_runs(p, threads, target, group)
        pre = preprocess(source, options.defines, options.include_dirs)
        in_turns = target == "cpu" and runs_as_it_stands(schedule) and options.math == "host"
        text = in_turn(source.name, pre, p, e) if in_turns else None
        if text is None:
            raise
        return text, None
    if name := original_name(front.program.kernel):
        if target != "cpu" or not runs_as_it_stands(schedule):
            raise catalogue.ROWS_OF_MAIN.error(front.program.unit.functions[name].loc, name=name)
        if options.shapes or options.dtypes:
            bare = replace(options, shapes={}, dtypes={})
            return translated(source, bare, p, threads, target, group, schedule, lines)
    judge(front, strict=False)
    with lines_of(front.pre.sources):
        text = standalone(front, p=p, threads=threads, target=target, group=group, schedule=schedule, lines=lines)
        return text, front


def library(
    src: str | os.PathLike | Sequence[str | os.PathLike],
    name: str,
    *,
    target: str = "cuda",
    schedule: str = "auto",
    fp: str = "exact",
    math: str = "host",
    pack: int | None = None,
    lines: bool = False,
    fn: str | None = None,
    defines: Mapping[str, Any] | None = None,
    shared: Sequence[str] | None = None,
    shapes: Mapping[str, Any] | None = None,
    include_dirs: Sequence[str] = (),
) -> Library:
    """Write the kernel as a source file and a header, with one function that C, C++ and Fortran programs call.

    The function takes an array for each variable that goes in or out, batch-first, then p, a workspace, and a stream
    (CUDA, where all pointers are the device's) or a number of threads; the header says what each is. It needs no Python
    and allocates nothing.

    Args:
        src: A path, or C text: a ``str`` with a newline or a brace; a list of them is one program of several files.
        name: The function's name, and that of its files: the source includes ``NAME.h``.
        target: ``"cuda"``: CUDA C++ for nvcc. ``"cpu"``: C for a host compiler, for SIMD registers as wide as this
            machine's.
        schedule: ``"auto"`` or a schedule's name.
        fp: As for `compile`.
        math: As for `compile`.
        pack: 4, 8 or 16; see `compile`. The header says so: the function does not look at elements, so the caller must
            know that they fit.
        lines: Whether what comes from the original has ``#line`` directives; see `translate`. C text that is no file is
            called ``<input>`` there.
        fn: The kernel function; see `compile`.
        defines: Values of object-like macros, by name; they replace the file's own.
        shared: Names of variables that all inputs share.
        shapes: The shape of one input, by name, where the C leaves it open.
        include_dirs: Folders in which ``#include`` looks for headers.

    Returns:
        The texts, as the attributes ``source`` and ``header``, and ``cmake``: a CMakeLists.txt that builds them.

    Raises:
        ParseError: The file cannot be read, or is not C.
        UnsupportedError: No schedule that has a form as a library takes the program; the error names the line.
        InputError: An argument is wrong.
    """
    from . import pipeline
    from .standalone import library as libraries

    source = read_source(src)
    options = options_of(fn, shared, defines, shapes, fp, include_dirs, pack, math=math)
    front = pipeline.asked(source, replace(options, portable=True))
    judge(front, strict=False)
    with lines_of(front.pre.sources):
        return libraries.library(front, name, target=target, schedule=schedule, fp=fp, lines=lines)


__all__ = [
    "NotObliviousWarning",
    "Program",
    "Report",
    "bulk",
    "check",
    "compile",
    "library",
    "stream",
    "translate",
]
