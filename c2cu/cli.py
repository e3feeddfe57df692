"""The command line. stdout carries data only; messages go to stderr.

Exit status: 0 success, 1 an error with a diagnostic, 2 wrong usage, 3 `check` found a program that is not oblivious or,
with --constant-time, not constant-time.
"""

from __future__ import annotations

import contextlib
import errno
import functools
import io
import os
import re
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import click

from .base import catalogue, quantities, reading
from .base.diagnostics import Diagnostic, Error, Loc, UnsupportedError, render, to_json
from .base.notices import Notice
from .base.version import __version__
from .schedule.registry import names, variants

WRONG_USAGE, NOT_OBLIVIOUS = 2, 3
#: Errors in the value of one option, whatever the source: click ends with the same status where it finds them itself.
_OF_USAGE = frozenset(
    m.code
    for m in (
        catalogue.UNKNOWN_CHOICE,
        catalogue.NOT_EXTENTS,
        catalogue.BAD_EXTENT,
        catalogue.BAD_MACRO_NAME,
        catalogue.FAST_AND_CORRECT,
        catalogue.FEW_RUNS,
        catalogue.GROUP_RANGE,
        catalogue.THREADS_RANGE,
    )
)


class _Pairs(click.ParamType):
    """An option's value of the form NAME=VALUE, as a tuple of two texts."""

    name = "NAME=VALUE"

    def convert(self, value: Any, param: Any, ctx: Any) -> tuple[str, str]:
        if isinstance(value, tuple):
            return value
        name, equals, rest = value.partition("=")
        if not equals or not name:
            self.fail(f"'{value}' is not of the form NAME=VALUE", param, ctx)
        return name, rest


class _Quantity(click.ParamType):
    """An option's value that a function of `quantities` reads, such as 2G or 5ms."""

    def __init__(self, name: str, read: Callable[[str], Any]):
        self.name, self._read = name, read

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        try:
            return self._read(value) if isinstance(value, str) else value
        except ValueError as e:
            self.fail(str(e), param, ctx)


COUNT, AMOUNT = _Quantity("integer", quantities.count), _Quantity("integer", quantities.some)
PAIR = _Pairs()
SOURCE = click.argument("source", metavar="FILE.c...", nargs=-1, required=True)


def choice(name: str, *choices: str, help: str) -> Any:
    """An option with a fixed set of values; the first is the default."""
    return click.option(name, type=click.Choice(choices), default=choices[0], show_default=True, help=help)


COMMON = [
    click.option(
        "-D",
        "defines",
        multiple=True,
        metavar="NAME[=VALUE]",
        help="Define a macro, in place of the file's own definition. The default VALUE is 1.",
    ),
    click.option("-I", "include_dirs", multiple=True, metavar="DIR", help="Look for headers in this folder too."),
    click.option(
        "--fn",
        metavar="NAME",
        help="The kernel function. By default, the one called after '#pragma kernel' in main, or the only function that"
        " is neither main nor called by another.",
    ),
    click.option(
        "--shape",
        "shapes",
        multiple=True,
        type=PAIR,
        metavar="NAME=N[,N..][:DTYPE]",
        help="The extents of one input or output, where neither the C nor an input array gives them; the dtype of what"
        " a 'void *' points to.",
    ),
    choice(
        "--diagnostics-format", "text", "json", help="Print errors and warnings as text or as one JSON object each."
    ),
]
MATH = choice(
    "--math",
    "host",
    "correct",
    help="What functions of math.h give: 'host' the bits of this machine's C library, 'correct' the exact result,"
    " rounded once, on every machine.",
)
VARIANTS = f"Variants: {', '.join(v for backend in ('cpu', 'cuda') for v in variants(backend))}."
PACK = click.option(
    "--pack",
    type=click.Choice(["4", "8", "16"]),
    help="Every distance of a shortest-paths kernel fits into so many bits, so that a GPU may keep two in a word.",
)
MACHINE = [
    choice("--backend", "auto", "cuda", "cpu", help="Where to run. 'auto' is cuda where CuPy sees a GPU, else cpu."),
    click.option(
        "--schedule",
        default="auto",
        show_default=True,
        metavar="NAME",
        help=f"How to map inputs to the hardware. On a CPU: {', '.join(names('cpu'))}; on a GPU: "
        f"{', '.join(names('cuda'))}. {VARIANTS}",
    ),
    choice(
        "--fp",
        "exact",
        "reassociate",
        "fast",
        help="What floating point may do: 'exact' gives the C compiler's bits, 'reassociate' may reorder sums, 'fast'"
        " may also fuse multiply-adds and use approximate functions.",
    ),
    MATH,
]
STREAMING = [
    click.option(
        "--group",
        type=AMOUNT,
        help="How many inputs run together; it bounds the memory that a run needs. The default is about 16 MB of them"
        " on a GPU and 4 MB on a CPU.",
    ),
    click.option(
        "--memory",
        type=_Quantity("SIZE", quantities.size),
        help="The host memory that buffers may take, in bytes or such as 2G. The default is 1G.",
    ),
    click.option(
        "--depth",
        type=click.IntRange(min=1),
        help="How many groups are in flight on each device. The default is 4 on a GPU and 2 on a CPU.",
    ),
    click.option(
        "--interval",
        type=_Quantity("TIME", quantities.seconds),
        help="Run a group that is not full once its first input has waited so long: seconds, or such as 5ms. By default"
        " a group waits until it is full.",
    ),
    click.option(
        "--latency-target",
        type=_Quantity("TIME", quantities.seconds),
        help="Choose the largest group whose results come within this time: seconds, or such as 5ms.",
    ),
    click.option(
        "--devices",
        type=_Quantity("N[,N..]", quantities.numbers),
        help="The numbers of the GPUs to use, counted from 0. The default is all that are visible.",
    ),
    click.option("--resume", is_flag=True, help="Continue an interrupted run after the last group that it completed."),
]
STDIO = click.option(
    "--stdio", type=click.Choice(["discard"]), help="Run a kernel that prints, and drop what it prints."
)
SHARED_VALUES = click.option(
    "--shared",
    multiple=True,
    metavar="NAME[=N]",
    help="This variable is one for all inputs; with N, it is a scalar of this value.",
)


def with_options(*groups: Any) -> Callable[[Any], Any]:
    def apply(f: Any) -> Any:
        for option in reversed([o for g in groups for o in (g if isinstance(g, list) else [g])]):
            f = option(f)
        return f

    return apply


@dataclass(frozen=True)
class Common:
    """The values of the options ``COMMON``."""

    defines: tuple[str, ...]
    include_dirs: tuple[str, ...]
    fn: str | None
    shapes: tuple[tuple[str, str], ...]
    diagnostics_format: str

    def options(self) -> dict[str, Any]:
        """As the functions of `api` take them. Raises InputError where --shape does not give extents."""
        return {
            "fn": self.fn,
            "defines": macros(self.defines),
            "shapes": extents(self.shapes),
            "include_dirs": self.include_dirs,
        }


def common_options(f: Any) -> Any:
    """Give a command the options ``COMMON``, whose values it takes as one argument ``common``."""

    @functools.wraps(f)
    def command(**values: Any) -> Any:
        common = Common(**{field.name: values.pop(field.name) for field in fields(Common)})
        return f(common=common, **values)

    return with_options(COMMON)(command)


class _Commands(click.Group):
    """What click writes itself, such as help, may meet a full disk too."""

    def main(self, *args: Any, **how: Any) -> Any:
        try:
            return super().main(*args, **how)
        except OSError as e:
            say(catalogue.CANNOT_WRITE.diagnostic("error", path="-", reason=e.strerror or e, how=""), {}, "text")
            sys.exit(1)


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="c2cu")
def main() -> None:
    """Run a sequential C program on many inputs at once, on a GPU or in the SIMD lanes of a CPU."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # None where it is closed
            stream.reconfigure(errors="backslashreplace")


def say(d: Diagnostic, sources: Any, how: str) -> None:
    """Print a diagnostic on stderr. ``how``: text or json."""
    color = sys.stderr.isatty() and not os.environ.get("NO_COLOR")
    click.echo(to_json(d, sources) if how == "json" else render(d, sources, color), err=True, color=color)


@contextlib.contextmanager
def diagnosed(how: str) -> Iterator[None]:
    """Print c2cu's warnings and errors as diagnostics; an error exits with status 1, or 2 where an option's value is
    wrong whatever the source, Ctrl-C with 130."""

    told: set[tuple[str, Loc]] = set()  # a program may be judged before its lengths are known, and after

    def show(message: Any, *_: Any, **__: Any) -> None:
        if hasattr(message, "report"):
            every = ((f, f.diagnostic()) for f in message.report.findings if f.severe)
            for f, d in every if how == "json" else message.report.severe():
                if (f.kind, f.loc) not in told:
                    told.add((f.kind, f.loc))
                    say(d, message.report.sources, how)
        if isinstance(message, Notice):
            say(message.diagnostic, message.sources, how)
        if type(message).__name__ == "StreamWarning":
            say(catalogue.STREAM_NOTICE.diagnostic("warning", message=message), {}, how)

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always")
            warnings.showwarning = show
            yield
    except Error as e:
        say(e.diagnostic, e.sources, how)
        sys.exit(WRONG_USAGE if e.code in _OF_USAGE else 1)
    except (click.exceptions.ClickException, click.exceptions.Exit):
        raise
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(1)
    except MemoryError as e:
        say(catalogue.NO_MEMORY.diagnostic("error", reason=str(e) or "an allocation failed"), {}, how)
        sys.exit(1)
    except KeyboardInterrupt:
        os._exit(130)  # at once: a thread may be in the middle of a long kernel
    except OSError as e:
        say(catalogue.CANNOT_WRITE.diagnostic("error", path="-", reason=e.strerror or e, how=""), {}, how)
        sys.exit(1)
    except Exception as e:
        if os.environ.get("C2CU_DEBUG"):
            raise
        say(catalogue.INTERNAL.diagnostic("error", reason=f"{type(e).__name__}: {e}"), {}, how)
        sys.exit(1)


def macros(defines: tuple[str, ...]) -> dict[str, str]:
    return {n: v if eq else "1" for n, eq, v in (d.partition("=") for d in defines)}


def extents(shapes: tuple[tuple[str, str], ...]) -> dict[str, Any]:
    out: dict[str, Any] = {}
    for name, text in shapes:
        value, _, dtype = text.partition(":")
        parts = value.replace("x", ",").split(",")
        if not all(p.strip().isdecimal() and len(p) < 20 and int(p) <= quantities.MOST for p in parts):
            raise catalogue.NOT_EXTENTS.error(name=name, value=value)
        out[name] = tuple(int(p) for p in parts)
        if dtype:
            out[name] = (out[name], dtype)
    return out


def c_source(source: tuple[str, ...]) -> list[str | Path]:
    """The paths FILE.c..., or for ``-`` the C text on stdin."""
    if source.count("-") > 1:
        raise click.UsageError("stdin holds one file only: '-' stands twice")
    return [_stdin() + "\n" if s == "-" else Path(s) for s in source]


def _stdin() -> str:
    text = sys.stdin.read(reading.MOST + 1) if sys.stdin is not None else None
    if text is None or len(text) > reading.MOST:
        reason = "stdin is closed" if text is None else os.strerror(errno.EFBIG)
        raise catalogue.CANNOT_READ_SOURCE.error(path="-", reason=reason, meant="")
    return text


@main.command(short_help="Write a standalone CUDA or C program for p inputs.")
@with_options(
    SOURCE,
    click.option("-o", "--output", default="-", metavar="FILE", help="Where to write. The default, -, is stdout."),
    click.option("--p", type=COUNT, help="The number of inputs. It is required, except with --emit."),
    click.option(
        "--threads", type=int, default=64, show_default=True, help="Threads of a CUDA block of schedule thread."
    ),
    click.option(
        "--target",
        type=click.Choice(["cuda", "cpu"]),
        help="Write CUDA C for nvcc, or C for a host compiler. The default is cpu where the output ends in .c.",
    ),
    click.option(
        "--group",
        type=COUNT,
        help="The number of inputs that the program reads, runs and writes at a time. By default, it reads all first.",
    ),
    click.option(
        "--library",
        is_flag=True,
        help="Write a source file and a header beside it instead, with one function that other programs call.",
    ),
    click.option(
        "--cmake",
        is_flag=True,
        help="With --library, write a CMakeLists.txt beside them too, for add_subdirectory().",
    ),
    click.option(
        "--schedule",
        metavar="NAME",
        help=f"Whose kernels to write: auto; for --target cuda {', '.join(names('cuda'))}; for --target cpu"
        f" {', '.join(names('cpu'))}. {VARIANTS} The default is the form that is best read, of thread or private, and"
        " for a CPU one that every machine takes; with --library and --emit it is auto.",
    ),
    choice("--fp", "exact", "reassociate", "fast", help="What floating point may do, as for 'c2cu run'."),
    MATH,
    PACK,
    click.option(
        "--lines",
        is_flag=True,
        help="Write #line directives, so that debuggers, profilers (nvcc -lineinfo) and compilers' messages show FILE.c"
        " for what comes from it.",
    ),
    click.option("--shared", multiple=True, metavar="NAME", help="All inputs share this variable."),
    click.option(
        "--emit",
        type=click.Choice(["ast", "ir", "plan", "cuda", "c"]),
        help="Print a stage of the translation instead: the syntax tree, the flat IR, the choice of schedules, or the"
        " generated text of a schedule's kernel.",
    ),
    click.option(
        "--after",
        default="",
        metavar="PASS",
        help="With --emit ir, print the IR after this pass. The default is the last pass before a schedule's own.",
    ),
)
@common_options
def translate(
    source: tuple[str, ...],
    output: str,
    p: int | None,
    threads: int,
    target: str | None,
    group: int | None,
    library: bool,
    cmake: bool,
    schedule: str | None,
    fp: str,
    math: str,
    pack: str | None,
    lines: bool,
    shared: tuple[str, ...],
    emit: str | None,
    after: str,
    common: Common,
) -> None:
    """Write a standalone CUDA or C program that behaves as p runs of FILE.c, one after the other.

    With --library, write the kernel alone instead, as a function for any number of inputs."""
    with diagnosed(common.diagnostics_format):
        from . import api
        from .frontend.options import options_of
        from .frontend.preprocess import read_source
        from .io import files
        from .report import stages
        from .schedule.choose import AUTO
        from .standalone.gain import gain
        from .standalone.turns import stands_for

        if any("=" in name for name in shared):
            raise click.UsageError("translate takes --shared NAME: the program itself gives the value")
        options = {**common.options(), "shared": shared, "fp": fp, "math": math, "pack": int(pack) if pack else None}
        target = target or ("cpu" if output.endswith(".c") else "cuda")
        if lines and emit is not None:
            raise click.UsageError("--lines goes with a program or a library, not with --emit")
        if after and emit != "ir":
            raise click.UsageError("--after goes with --emit ir")
        if library and emit is not None:
            raise click.UsageError("--library writes a source file and a header, --emit one stage of the way there")
        if emit is not None:
            if schedule and emit in ("ast", "ir"):
                raise click.UsageError("--schedule goes with --emit plan, cuda or c; for ir, see --after")
            text = stages.emit(read_source(c_source(source)), options_of(**options), emit, after, schedule or AUTO, p)
            files.write(output, text.encode("utf-8", "surrogateescape"))
            return
        if cmake and not library:
            raise click.UsageError("--cmake goes with --library")
        _tell_idle(library, target)
        _tell_ending(output, target)
        if library:
            files.write_together(_library(source, output, target, schedule or AUTO, lines, cmake, options))
            return
        if p is None:
            why = "; only FILE.c itself knows where its input ends" if group is not None else ""
            raise click.UsageError(f"translate needs --p, the number of inputs{why}")
        _refuse_over_source(source, output)
        stored = ("stdin.c" if target == "cpu" else "stdin.cu") if output == "-" else os.path.basename(output)
        text, front = api.translated(
            read_source(c_source(source)),
            options_of(**options),
            p,
            threads,
            target,
            group,
            schedule,
            stored if lines else "",
        )
        files.write(output, text.encode("utf-8", "surrogateescape"))
        if target == "cuda" and not re.search(rf"^#define __T__ {threads}\b", text, re.M):
            _tell({"threads": "here: the schedule chooses the threads of a block"})
        if common.diagnostics_format == "text":
            note = gain(front, group or p) if front is not None and target == "cuda" and schedule is None else ""
            if reason := stands_for(text):
                note = f"note: the program stays as it stands, each run a process of its own: {reason}"
            if note:
                click.echo(note, err=True)


def _tell_idle(library: bool, target: str) -> None:
    """Say of options on the command line that they do nothing here."""
    idle = {
        **dict.fromkeys(("p", "group"), "with --library: the function takes any number of inputs"),
        "threads": "with --library: the function chooses the threads of a CUDA block, and is told those of a CPU",
    }
    if not library:
        idle = {"threads": "with --target cpu: they are of a CUDA block"} if target == "cpu" else {}
    _tell(idle)


def _tell(idle: Mapping[str, str]) -> None:
    """Say of options why they do nothing, if they are on the command line."""
    source = click.get_current_context().get_parameter_source
    for name, why in idle.items():
        if source(name) is click.core.ParameterSource.COMMANDLINE:
            click.echo(f"note: --{name} does nothing {why}", err=True)


def _tell_ending(output: str, target: str) -> None:
    """Say of a file's name that compilers, which go by its ending, will take it for something else."""
    language, ending = ("CUDA C++", ".cu") if target == "cuda" else ("C", ".c")
    if output != "-" and output and not output.endswith(ending):
        click.echo(f"note: '{output}' holds {language}; compilers know that by the ending {ending}", err=True)


def _refuse_over_source(source: tuple[str, ...], path: str) -> None:
    """Raise InputError where writing to ``path`` would replace one of the source's files."""
    if any(os.path.exists(path) and os.path.exists(s) and os.path.samefile(s, path) for s in source):
        raise catalogue.OVER_SOURCE.error(path=path)


def _library(
    source: tuple[str, ...],
    output: str,
    target: str,
    schedule: str,
    lines: bool,
    cmake: bool,
    options: dict[str, Any],
) -> dict[str, bytes]:
    """A library's files by their paths."""
    from . import api

    stem, suffix = os.path.splitext(output)
    if output == "-" or suffix == ".h":
        raise catalogue.LIBRARY_FILE.error(path=output, suffix="cu" if target == "cuda" else "c")
    header, lists = f"{stem}.h", os.path.join(os.path.dirname(output), "CMakeLists.txt")
    for path in (output, header):
        _refuse_over_source(source, path)
    if cmake and suffix != (expected := ".cu" if target == "cuda" else ".c"):
        raise catalogue.CMAKE_SUFFIX.error(path=output, suffix=expected, stem=stem)
    made = api.library(
        c_source(source), os.path.basename(stem), target=target, schedule=schedule, lines=lines, **options
    )
    if cmake and not _is_ours(lists, made.cmake):
        raise catalogue.CMAKE_LISTS.error(path=lists)
    written = {output: made.source.encode("utf-8", "surrogateescape"), header: made.header.encode()}
    return {**written, lists: made.cmake.encode()} if cmake else written


def _is_ours(path: str, text: str) -> bool:
    """Whether there is no such file, or one that was written for a library before."""
    if not os.path.isfile(path):
        return True
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.readline() == text[: text.index("\n") + 1]


@main.command(short_help="Run FILE.c on all inputs of arrays in files, or p times on stdin.")
@with_options(
    SOURCE,
    click.option(
        "--in",
        "inputs",
        multiple=True,
        metavar="[NAME=]FILE",
        help="The array of an input variable, with one row for each input; or, for a parameter, a number. NAME may be"
        " left out where the kernel has one input. Of an .npz file without NAME, each array is the input of its own"
        " name.",
    ),
    click.option(
        "--out",
        "outputs",
        multiple=True,
        metavar="[NAME=]FILE",
        help="Where to write an output variable. NAME may be left out where the kernel has one output. An .npz file may"
        " hold several, each under its C name; without NAME, all. status is each input's exit status.",
    ),
    click.option(
        "--shared",
        multiple=True,
        type=PAIR,
        metavar="NAME=FILE",
        help="The array, or the number, of a variable that is one for all inputs.",
    ),
    click.option(
        "--p",
        type=COUNT,
        help="Without --in and --out, run the whole program p times, one after the other, on stdin. With --out, the"
        " number of inputs of a kernel that reads no arrays.",
    ),
    choice("--layout", "row", "column", help="Whether arrays in files have the axis of inputs first or last."),
    click.option("--strict", is_flag=True, help="Stop with an error if the program is not oblivious."),
    click.option(
        "--tune",
        is_flag=True,
        help="Measure the schedules on the first inputs and use the fastest, in later runs too.",
    ),
    PACK,
    choice(
        "--verify",
        "auto",
        "strict",
        "all",
        "off",
        help="Compare results with those of the C as it stands: 'auto' some of the first run on a machine; 'strict'"
        " makes a difference an error; 'all' every input.",
    ),
    STDIO,
    STREAMING,
    MACHINE,
)
@common_options
def run(
    source: tuple[str, ...],
    inputs: tuple[str, ...],
    outputs: tuple[str, ...],
    shared: Any,
    p: int | None,
    layout: str,
    strict: bool,
    tune: bool,
    verify: str,
    backend: str,
    schedule: str,
    fp: str,
    math: str,
    pack: str | None,
    stdio: str | None,
    common: Common,
    **streaming: Any,
) -> None:
    """Run the kernel of FILE.c on all inputs of the arrays in files, or the whole program p times on stdin."""
    from .io.progress import compilers_shown

    with diagnosed(common.diagnostics_format), compilers_shown():
        from . import api
        from .io.arguments import inner_shapes
        from .io.runs import RunOptions, run_files
        from .io.whole_program import run_program

        options = {**common.options(), "math": math}
        if not inputs and not outputs:
            if p is None:
                raise click.UsageError("give --in and --out, or --p to run the whole program on stdin")
            if "-" in source:
                raise click.UsageError("stdin holds the inputs then: give the C as a file")
            others = {"tune": tune, "pack": pack, "stdio": stdio, "strict": strict, "shared": shared}
            for option, value in {**streaming, **others}.items():
                if value:
                    raise click.UsageError(f"--{option.replace('_', '-')} goes with --in and --out")
            how = {**options, "fp": fp, "schedule": schedule}
            sys.exit(run_program(c_source(source), p, backend, how))
        if "-" in source and any(text.partition("=")[2] == "-" or text == "-" for text in inputs):
            raise click.UsageError("stdin holds the inputs then: give the C as a file")
        compiled = functools.partial(
            api.compile,
            c_source(source),
            shared=[n for n, _ in shared],
            backend=backend,
            schedule=schedule,
            fp=fp,
            pack=int(pack) if pack else None,
            layout=layout,
            strict=strict,
            tune=tune,
            verify=verify,
            outputs=[t.partition("=")[0] for t in outputs] if outputs and all("=" in t for t in outputs) else None,
            stdio=stdio,
        )
        try:
            program = compiled(**options)
        except UnsupportedError as e:
            inner = inner_shapes(inputs, shared, layout)
            if e.code not in api.SIZED_BY_SHAPES or not inner:
                raise
            program = compiled(**{**options, "shapes": {**inner, **options["shapes"]}})

        def report(d: Diagnostic) -> None:
            say(d, program.sources, common.diagnostics_format)

        run_files(program, inputs, outputs, shared, p, layout, RunOptions(**streaming), report)


@main.command(short_help="Tell whether FILE.c is oblivious.")
@with_options(
    SOURCE,
    click.option("--constant-time", is_flag=True, help="Require that no secret decides how long the program takes."),
    click.option(
        "--public",
        multiple=True,
        metavar="NAME",
        help="This input is no secret, all others are; --constant-time goes along.",
    ),
    click.option("--strict", is_flag=True, help="Print findings as errors instead of warnings."),
    click.option(
        "--all",
        "every",
        is_flag=True,
        help="Print all findings. Without it, each line once, and a few of each kind; with --constant-time, all.",
    ),
    SHARED_VALUES,
    STDIO,
)
@common_options
def check(
    source: tuple[str, ...],
    constant_time: bool,
    public: tuple[str, ...],
    strict: bool,
    every: bool,
    shared: tuple[str, ...],
    stdio: str | None,
    common: Common,
) -> None:
    """Tell whether FILE.c is oblivious, and where data decides an address, a loop's bound or a branch.

    With --constant-time, all inputs are secret but those named with --public: a secret must decide no address, loop's
    bound or branch, and reach no division, remainder or function of math.h.

    The verdict goes to stderr, as warnings do. The exit status is 0 if it is so, and 3 if not.
    """
    with diagnosed(common.diagnostics_format):
        from . import api
        from .verdict import json_lines

        constant_time = constant_time or bool(public)
        report = api.check(
            c_source(source),
            shared={name: value or None for name, _, value in (n.partition("=") for n in shared)},
            constant_time=constant_time,
            public=public,
            stdio=stdio,
            **common.options(),
        )
        severity = "error" if strict else "warning"
        for d in report.shown(severity, constant_time, every or common.diagnostics_format == "json"):
            say(d, report.sources, common.diagnostics_format)
        for d in report.faults:
            say(d, report.sources, common.diagnostics_format)
        if report.why_not:
            say(catalogue.NOT_ANALYSED.diagnostic("warning", reason=report.why_not), {}, common.diagnostics_format)
        if common.diagnostics_format == "text":
            for note in report.notes:
                click.echo(note, err=True)
            click.echo(report.verdict, err=True)
        else:
            for line in json_lines(report):
                click.echo(line, err=True)
        sys.exit(0 if (report.constant_time if constant_time else report.oblivious) else NOT_OBLIVIOUS)


@main.command()
@with_options(
    SOURCE,
    click.option(
        "--p",
        type=AMOUNT,
        help="The number of inputs that estimates are for. The default is enough to fill the device.",
    ),
    SHARED_VALUES,
    STDIO,
    click.option("--json", "as_json", is_flag=True, help="Print JSON instead of text."),
    click.option(
        "--plot",
        metavar="FILE.png",
        help="Also draw the memory accesses and the roofline into this file: PNG, SVG or PDF.",
    ),
    MACHINE,
)
@common_options
def explain(
    source: tuple[str, ...],
    p: int | None,
    shared: tuple[str, ...],
    as_json: bool,
    plot: str | None,
    backend: str,
    schedule: str,
    fp: str,
    math: str,
    stdio: str | None,
    common: Common,
) -> None:
    """Tell which schedule would run FILE.c, on what, and why."""
    with diagnosed(common.diagnostics_format):
        from . import api, backends
        from .frontend.options import options_of
        from .frontend.preprocess import read_source
        from .io import files
        from .report import cost, machine
        from .report import explain as explaining
        from .report import plot as plotting

        if plot is not None:
            plotting.check(plot)
        names, texts = [n.partition("=")[0] for n in shared], dict(n.split("=", 1) for n in shared if "=" in n)
        options = options_of(**common.options(), shared=names, fp=fp, stdio=stdio, math=math)
        front, notes = api.as_given(read_source(c_source(source)), options, texts)
        chosen = backend if backend != "auto" else backends.best()
        device = machine.device(chosen)
        limits = machine.limits(chosen, cost.widest(front.analysis)) if cost.complete(front) else None
        explanation = explaining.explanation(front, chosen, schedule, p, fp, device, limits, machine.speed(chosen))
        if plot is not None:
            files.write(plot, plotting.plot(plot, *cost.pictured(front, limits)))
        report = api.report_of(front, notes)
        click.echo(explaining.as_json(explanation) if as_json else explaining.text(explanation, report))


@main.command(short_help="Tell what this machine has for c2cu to use.")
@click.option("--measure", is_flag=True, help="Measure the memory's bandwidth again, which 'c2cu explain' shows.")
def doctor(measure: bool) -> None:
    """Tell what this machine has for c2cu to use: compilers, GPUs, packages, and how to install what is missing."""
    with diagnosed("text"):
        from .report import machine

        click.echo(machine.examination(measure))
        sys.exit(0 if machine.can_run() else 1)
