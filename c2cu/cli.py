"""The command line. stdout carries data only; messages go to stderr.

Exit status: 0 done, 1 an error that was diagnosed, 2 usage, 3 `check` found the program wanting.
"""

from __future__ import annotations

import contextlib
import functools
import io
import os
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click

from .base import catalogue, quantities
from .base.diagnostics import Diagnostic, Error, render, to_json
from .base.version import __version__
from .schedule.registry import names

WANTING = 3


class _Pairs(click.ParamType):
    """NAME=VALUE."""

    name = "NAME=VALUE"

    def convert(self, value: Any, param: Any, ctx: Any) -> tuple[str, str]:
        if isinstance(value, tuple):
            return value
        name, equals, rest = value.partition("=")
        if not equals or not name:
            self.fail(f"'{value}' is not of the form NAME=VALUE", param, ctx)
        return name, rest


class _Quantity(click.ParamType):
    """What a function of `quantities` reads."""

    def __init__(self, name: str, read: Callable[[str], Any]):
        self.name, self._read = name, read

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        try:
            return self._read(value) if isinstance(value, str) else value
        except ValueError as e:
            self.fail(str(e), param, ctx)


COUNT, AMOUNT = _Quantity("integer", quantities.count), _Quantity("integer", quantities.some)
PAIR = _Pairs()
SOURCE = click.argument("source", metavar="FILE.c")
FORMAT = click.option("--diagnostics-format", type=click.Choice(["text", "json"]), default="text", show_default=True)
COMMON = [
    click.option("-D", "defines", multiple=True, metavar="NAME[=VALUE]", help="Override a macro of the file."),
    click.option("-I", "include_dirs", multiple=True, metavar="DIR", help="Where to look for headers."),
    click.option("--fn", metavar="NAME", help="The kernel function."),
    click.option("--shape", "shapes", multiple=True, type=PAIR, metavar="NAME=N[,N..]", help="Extents no input tells."),
    FORMAT,
]
MACHINE = [
    click.option("--backend", type=click.Choice(["auto", "cuda", "cpu"]), default="auto", show_default=True),
    click.option(
        "--schedule",
        default="auto",
        show_default=True,
        metavar="NAME",
        help=f"CPU: {', '.join(names('cpu'))}; GPU: {', '.join(names('cuda'))}; of some NAME:VARIANT.",
    ),
    click.option("--fp", type=click.Choice(["exact", "reassociate", "fast"]), default="exact", show_default=True),
]
STREAMING = [
    click.option("--group", type=AMOUNT, help="Inputs at a time: bounds the memory that a run needs."),
    click.option("--memory", type=_Quantity("SIZE", quantities.size), help="Of the buffers, such as 2G."),
    click.option("--depth", type=click.IntRange(min=1), help="Groups on their way at once."),
    click.option("--interval", type=_Quantity("TIME", quantities.seconds), help="Between arrivals, such as 5ms."),
    click.option("--latency-target", type=_Quantity("TIME", quantities.seconds), help="From arrival to result."),
    click.option("--devices", type=_Quantity("N[,N..]", quantities.numbers), help="The GPUs to use."),
    click.option("--resume", is_flag=True, help="Go on where an interrupted run stopped."),
]


def with_options(*groups: Any) -> Callable[[Any], Any]:
    def apply(f: Any) -> Any:
        for option in reversed([o for g in groups for o in (g if isinstance(g, list) else [g])]):
            f = option(f)
        return f

    return apply


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="c2cu")
def main() -> None:
    """Write a C program once for one input, run it for millions."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # None where it is closed
            stream.reconfigure(errors="backslashreplace")


def say(d: Diagnostic, sources: Any, how: str) -> None:
    """A diagnostic on stderr."""
    color = sys.stderr.isatty() and not os.environ.get("NO_COLOR")
    click.echo(to_json(d, sources) if how == "json" else render(d, sources, color), err=True, color=color)


@contextlib.contextmanager
def diagnosed(how: str) -> Iterator[None]:
    """Print our warnings as diagnostics, and a diagnosed error with exit status 1; Ctrl-C gives 130."""

    def show(message: Any, *_: Any, **__: Any) -> None:
        for f in message.report.findings if hasattr(message, "report") else ():
            if f.kind != "branch":
                say(f.diagnostic(), message.report.sources, how)
        if type(message).__name__ == "StreamWarning":
            say(catalogue.STREAM_NOTICE.diagnostic("warning", message=message), {}, how)

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always")
            warnings.showwarning = show
            yield
    except Error as e:
        say(e.diagnostic, e.sources, how)
        sys.exit(1)
    except (click.exceptions.ClickException, click.exceptions.Exit):
        raise
    except BrokenPipeError:
        sys.stderr.close()
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


def extents(shapes: tuple[tuple[str, str], ...]) -> dict[str, tuple[int, ...]]:
    out = {}
    for name, value in shapes:
        parts = value.replace("x", ",").split(",")
        if not all(p.strip().isdecimal() and len(p) < 20 and int(p) <= quantities.MOST for p in parts):
            raise catalogue.NOT_EXTENTS.error(name=name, value=value)
        out[name] = tuple(int(p) for p in parts)
    return out


def given(source: str) -> str | Path:
    """FILE.c, whatever its name, or for ``-`` the C text on stdin."""
    return sys.stdin.read() + "\n" if source == "-" else Path(source)


@main.command(short_help="Write a standalone CUDA or C program of p runs.")
@with_options(
    SOURCE,
    click.option("-o", "--output", default="-", metavar="FILE", help="Where to write; - is stdout."),
    click.option("--p", type=COUNT, help="How many inputs."),
    click.option("--threads", type=int, default=64, show_default=True, help="Threads a block."),
    click.option("--target", type=click.Choice(["cuda", "cpu"]), default="cuda", show_default=True),
    click.option("--group", type=COUNT, help="Inputs at a time: results come out while inputs come in."),
    click.option("--emit", type=click.Choice(["ast", "ir", "plan", "cuda", "c"]), help="Stop at a stage and print it."),
    click.option("--after", default="", metavar="PASS", help="With --emit ir: the program after this pass."),
    COMMON,
)
def translate(
    source: str,
    output: str,
    p: int | None,
    threads: int,
    target: str,
    group: int | None,
    emit: str | None,
    after: str,
    defines: tuple[str, ...],
    include_dirs: tuple[str, ...],
    fn: str | None,
    shapes: Any,
    diagnostics_format: str,
) -> None:
    """Write a standalone CUDA or C program that does p runs of FILE.c."""
    with diagnosed(diagnostics_format):
        from . import api
        from .io import files

        options = {"fn": fn, "defines": macros(defines), "shapes": extents(shapes), "include_dirs": include_dirs}
        if after and emit != "ir":
            raise click.UsageError("--after goes with --emit ir")
        if emit is not None:
            from .stages import stage

            files.write(output, stage(given(source), emit, after, **options).encode("utf-8", "surrogateescape"))
            return
        if p is None:
            why = "; only FILE.c itself knows where its input ends" if group is not None else ""
            raise click.UsageError(f"translate needs --p, the number of inputs{why}")
        if os.path.exists(output) and os.path.exists(source) and os.path.samefile(source, output):
            raise catalogue.OVER_SOURCE.error(path=output)
        text = api.translate(given(source), p=p, threads=threads, target=target, group=group, **options)
        files.write(output, text.encode("utf-8", "surrogateescape"))


@main.command(short_help="Run FILE.c for all inputs, or p times on stdin.")
@with_options(
    SOURCE,
    click.option("--in", "inputs", multiple=True, metavar="[NAME=]FILE", help="Input array or number."),
    click.option("--out", "outputs", multiple=True, metavar="[NAME=]FILE", help="Where an output goes."),
    click.option("--shared", multiple=True, type=PAIR, metavar="NAME=FILE", help="One copy for all inputs."),
    click.option("--p", type=COUNT, help="Run the whole program p times in turn on stdin; with --out: the inputs."),
    click.option("--layout", type=click.Choice(["row", "column"]), default="row", show_default=True),
    click.option("--strict", is_flag=True, help="Refuse a program that is not oblivious."),
    click.option("--tune", is_flag=True, help="Measure the schedules on the first inputs, once; the fastest stays."),
    click.option("--pack", type=click.Choice(["4", "8", "16"]), help="Bits that elements of shortest paths fit."),
    STREAMING,
    MACHINE,
    COMMON,
)
def run(
    source: str,
    inputs: tuple[str, ...],
    outputs: tuple[str, ...],
    shared: Any,
    p: int | None,
    layout: str,
    strict: bool,
    tune: bool,
    backend: str,
    schedule: str,
    fp: str,
    pack: str | None,
    defines: tuple[str, ...],
    include_dirs: tuple[str, ...],
    fn: str | None,
    shapes: Any,
    diagnostics_format: str,
    **streaming: Any,
) -> None:
    """Run FILE.c for all the inputs in the arrays, or p times on stdin."""
    with diagnosed(diagnostics_format):
        from . import api
        from .io.runs import RunOptions, run_files
        from .io.whole_program import run_program

        common = {"fn": fn, "defines": macros(defines), "shapes": extents(shapes), "include_dirs": include_dirs}
        if not inputs and not outputs:
            if p is None:
                raise click.UsageError("give --in and --out, or --p to run the whole program on stdin")
            if source == "-":
                raise click.UsageError("stdin holds the inputs then: give the C as a file")
            asked = next((n for n, v in streaming.items() if v), None)
            if asked is not None:
                raise click.UsageError(f"--{asked.replace('_', '-')} goes with --in and --out")
            if tune:
                raise click.UsageError("--tune goes with --in and --out")
            if pack:
                raise click.UsageError("--pack goes with --in and --out")
            sys.exit(run_program(Path(source), p, backend, common))
        if source == "-" and any(text.partition("=")[2] == "-" or text == "-" for text in inputs):
            raise click.UsageError("stdin holds the inputs then: give the C as a file")
        program = api.compile(
            given(source),
            shared=[n for n, _ in shared],
            backend=backend,
            schedule=schedule,
            fp=fp,
            pack=int(pack) if pack else None,
            layout=layout,
            strict=strict,
            tune=tune,
            **common,
        )
        told = functools.partial(say, sources={}, how=diagnostics_format)
        run_files(program, inputs, outputs, shared, p, layout, RunOptions(**streaming), told)


@main.command()
@with_options(
    SOURCE,
    click.option("--constant-time", is_flag=True, help="Also refuse branches that depend on data."),
    click.option("--strict", is_flag=True, help="Findings are errors."),
    click.option("--shared", multiple=True, metavar="NAME[=N]", help="One copy for all inputs; or one number."),
    COMMON,
)
def check(
    source: str,
    constant_time: bool,
    strict: bool,
    shared: tuple[str, ...],
    defines: tuple[str, ...],
    include_dirs: tuple[str, ...],
    fn: str | None,
    shapes: Any,
    diagnostics_format: str,
) -> None:
    """Say whether FILE.c is oblivious, and what speaks against it."""
    with diagnosed(diagnostics_format):
        from . import api

        report = api.check(
            given(source),
            fn=fn,
            shared={name: value or None for name, _, value in (n.partition("=") for n in shared)},
            defines=macros(defines),
            shapes=extents(shapes),
            include_dirs=include_dirs,
        )
        for f in report.findings:
            severity = "error" if strict else "warning"
            if f.kind == "branch" and not constant_time:
                severity = "note"
            say(f.diagnostic(severity), report.sources, diagnostics_format)
        for d in report.faults:
            say(d, report.sources, diagnostics_format)
        if report.why_not:
            say(
                catalogue.NOT_ANALYSED.diagnostic("warning", reason=report.why_not),
                {},
                diagnostics_format,
            )
        if diagnostics_format == "text":
            for note in report.notes:
                click.echo(note, err=True)
            click.echo(report.verdict, err=True)
        sys.exit(0 if (report.constant_time if constant_time else report.oblivious) else WANTING)


@main.command()
@with_options(
    SOURCE,
    click.option("--p", type=AMOUNT, help="How many inputs."),
    click.option("--shared", multiple=True, metavar="NAME[=N]", help="One copy for all inputs; or one number."),
    click.option("--json", "as_json", is_flag=True, help="As JSON."),
    click.option("--plot", metavar="FILE.png", help="Also draw the memory accesses and the roofline (or .svg, .pdf)."),
    MACHINE,
    COMMON,
)
def explain(
    source: str,
    p: int | None,
    shared: tuple[str, ...],
    as_json: bool,
    plot: str | None,
    backend: str,
    schedule: str,
    fp: str,
    defines: tuple[str, ...],
    include_dirs: tuple[str, ...],
    fn: str | None,
    shapes: Any,
    diagnostics_format: str,
) -> None:
    """Say what will run, where, and why."""
    with diagnosed(diagnostics_format):
        from . import api, backends, pipeline
        from .frontend.preprocess import read_source
        from .io import files
        from .report import cost, machine
        from .report import explain as explaining
        from .report import plot as plotting

        if plot is not None:
            plotting.check(plot)
        names, texts = [n.partition("=")[0] for n in shared], dict(n.split("=", 1) for n in shared if "=" in n)
        options = pipeline.Options(fn, macros(defines), include_dirs, tuple(names), extents(shapes), fp)
        front, notes = api.as_given(read_source(given(source)), options, texts)
        chosen = backend if backend != "auto" else backends.best()
        device = machine.device(chosen)
        limits = machine.limits(chosen, cost.widest(front.analysis)) if cost.complete(front) else None
        found = explaining.explanation(front, chosen, schedule, p, fp, device, limits, machine.speed(chosen))
        if plot is not None:
            files.write(plot, plotting.plot(plot, *cost.pictured(front, limits)))
        click.echo(explaining.as_json(found) if as_json else explaining.text(found, api.report_of(front, notes)))


@main.command()
@click.option("--measure", is_flag=True, help="Measure the memory's bandwidth anew, for `c2cu explain`.")
def doctor(measure: bool) -> None:
    """Say what c2cu finds on this machine."""
    with diagnosed("text"):
        from .report import machine

        click.echo(machine.examination(measure))
        sys.exit(0 if machine.can_run() else 1)
