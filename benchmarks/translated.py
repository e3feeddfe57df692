"""Standalone programs of public code: what ``c2cu translate`` makes of each, beside three runs of the original.

It reads the folder of code bases and tables that `benchmarks/reach.py` describes. A table may name whole programs:

    [[programs]]
    files = ["linear-algebra/gemm/gemm.c", "utilities/polybench.c"]
    kernel = "kernel_gemm"
    define = ["MINI_DATASET=1"]

Every function of the tables whose parameters are numbers and arrays of numbers gets a ``main`` too: it reads them from
stdin, calls the function, and writes them, and what it returns, to stdout. Each program is translated for three inputs,
``target="cpu"`` and ``target="cuda"``. The CPU's text must compile with ``gcc -Wall``, without a warning that the
original does not have (what is unused apart), and print what three runs of the original print; CUDA's must compile
with ``nvcc -arch=sm_90``. Usage:

    python benchmarks/translated.py --bases DIR [--only TEXT] [--most N] [--jobs 2] [--no-nvcc] [--table docs/reach.md]
"""

from __future__ import annotations

import argparse
import collections
import concurrent.futures
import json
import os
import re
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import reach

P = 3
FLAGS = ["-std=gnu11", "-O1", "-fwrapv", "-fno-strict-aliasing", "-ffp-contract=off"]
WARNINGS = ["-Wall", "-Wno-unused", "-Wno-unknown-pragmas"]
BEGIN, END = "<!-- translated -->", "<!-- end -->"
C_TYPES = reach.C_TYPES | {"i8": "char"}
RETURNED = ("_Bool", "char", "signed char", "unsigned char", "short", "unsigned short", "int", "unsigned int", "long",
            "unsigned long", "long long", "unsigned long long", "float", "double")  # fmt: skip
GENERIC = ", ".join(f'{t}: "reach {t}"' for t in RETURNED)
OUTCOMES = ("equal", "compiles", "refused", "warns", "does not compile", "WRONG", "crash", "too long")


@dataclass(frozen=True)
class Program:
    """``main``: the text of one for a function that has none, which returns what ``probe`` does; ``stdin``: of all."""

    base: str
    kernel: str
    files: tuple[str, ...]
    include: tuple[str, ...] = ()
    define: tuple[str, ...] = ()
    main: str = ""
    probe: str = ""
    stdin: str = ""  # in hexadecimal


@dataclass(frozen=True)
class Outcome:
    base: str
    kernel: str
    target: str
    outcome: str
    reason: str = ""


def programs(bases: Path, only: str, most: int | None) -> tuple[dict[str, str], list[Program]]:
    """Titles by base; whole programs, then functions that get a ``main``, at most so many of a base."""
    titles, trials = reach.trials(bases)
    out: list[Program] = []
    for name in titles:
        t, root = tomllib.loads((bases / f"{name}.toml").read_text()), bases / name
        for x in t.get("programs", ()):
            include = tuple(str(root / d) for d in (*x.get("include", ()), *t.get("include", ())))
            define = (*t.get("define", ()), *x.get("define", ()))
            stdin = x.get("stdin", "").encode().hex()
            files = tuple(str(root / f) for f in x["files"])
            out.append(Program(name, x["kernel"], files, include, define, stdin=stdin))
    out = [x for x in out if re.search(only, f"{x.base}: {x.kernel}")]
    by_base: dict[str, dict[tuple[str, ...], reach.Trial]] = {}
    for x in trials:
        if re.search(only, f"{x.base}: {x.function}") and not any(a.in_file for a in x.arguments):
            by_base.setdefault(x.base, {}).setdefault((x.function, *x.files), x)
    for some in by_base.values():
        out += map(_with_main, list(some.values())[:: max(1, -(-len(some) // (most or len(some))))])
    return titles, out


def _with_main(trial: reach.Trial) -> Program:
    arrays = reach.inputs(trial)
    coming = [a for a in trial.buffers if a.kind == ":"]
    stdin = b"".join(arrays[a.name][k].tobytes() for k in range(P) for a in coming)
    words = (
        a.type if a.kind == "=" else f"{'*' if a.count is None else ''}({C_TYPES[a.type]} *)0" for a in trial.arguments
    )
    return Program(
        trial.base, trial.function, trial.files, trial.include, trial.define, _main(trial),
        f"{trial.function}({', '.join(words)})", stdin.hex(),
    )  # fmt: skip


def _main(trial: reach.Trial) -> str:
    """A ``main`` in which ``int reach_returned`` stands until the function's type is known."""
    declared, read, wrote, words = [], [], [], []
    for a in trial.arguments:
        if a.kind == "=":
            words.append(a.type)
            continue
        name = f"reach_{a.name}"
        words.append(name)
        declared.append(f"{C_TYPES[a.type]} {name}{'' if a.count is None else f'[{a.count}]'};")
        whole = f"{'' if a.count is not None else '&'}{name}, sizeof {name}, 1"
        if a.kind == ":":
            read.append(f"if (fread({whole}, stdin) != 1) return 9;")
        elif a.count is not None:
            declared[-1] = declared[-1].replace(";", " = {0};")
        if a.count is not None:
            wrote.append(f"fwrite({whole}, stdout);")
    call = f"reach_returned = {trial.function}({', '.join(words)});"
    wrote.append("fwrite(&reach_returned, sizeof reach_returned, 1, stdout);")
    body = "\n    ".join(["int reach_returned;", *declared, *read, "#pragma kernel", call, *wrote, "return 0;"])
    return f"int main(void) {{\n    {body}\n}}\n"


# one program, in a process of its own


def tried(program: Program, nvcc: bool) -> Iterator[Outcome]:
    import c2cu

    with tempfile.TemporaryDirectory(prefix="translated-") as name:
        folder = Path(name)
        built = original(program, folder)
        if built is None:
            return
        program, warned = built
        expected, status = b"", 0
        for k in range(P):
            size = len(program.stdin) // 2 // P
            stdin = bytes.fromhex(program.stdin)[k * size : (k + 1) * size]
            ran = _ran([str(folder / "original")], 60, stdin)
            if ran.returncode < 0:
                return  # the original crashes: nobody can say what is right
            expected, status = expected + ran.stdout, status or ran.returncode
        words = reach._words(reach.Trial(program.base, "", program.files, (), program.include, program.define))
        define = {n: v if equals else "1" for n, equals, v in (d.partition("=") for d in program.define)}
        define = {n: v for n, v in define.items() if n in words}
        for target in ("cpu", "cuda"):
            said = Outcome(program.base, program.kernel, target, "refused")
            try:
                text = c2cu.translate(
                    list(program.files), p=P, target=target, fn=program.kernel, defines=define,
                    include_dirs=program.include,
                )  # fmt: skip
            except c2cu.Error as e:
                yield replace(said, reason=reach._place(e.diagnostic.loc, e.diagnostic.message))
                continue
            judge = judged_cuda if target == "cuda" else judged_cpu
            if target == "cpu" or nvcc:
                outcome, reason = judge(text, folder, bytes.fromhex(program.stdin), (expected, status), warned)
                yield replace(said, outcome=outcome, reason=reason)


def original(program: Program, folder: Path) -> tuple[Program, set[str]] | None:
    """The program with a ``main`` of the right type, built as ``original``, and the kinds of warning that it gives;
    None where the compiler does not take it."""
    options = [*(x for d in program.include for x in ("-I", d)), *(f"-D{d}" for d in program.define)]
    if not program.main:
        done = _ran(["gcc", *FLAGS, *WARNINGS, *options, *program.files, "-lm", "-o", str(folder / "original")], 120)
        return (program, _kinds(done.stderr)) if done.returncode == 0 else None
    unit = folder / "unit.c"
    new_name = [d.partition("=")[2] for d in program.define if d.startswith("main=")]
    define = tuple(d for d in program.define if not d.startswith("main="))
    whole = replace(program, files=(str(unit), *program.files[1:]), define=define)
    options = [*(x for d in program.include for x in ("-I", d)), *(f"-D{d}" for d in define)]
    head = f"#define main {new_name[0] if new_name else 'original_main'}\n"
    text = f'{head}#include "{program.files[0]}"\n#undef main\n#include <stdio.h>\n'
    unit.write_text(f"{text}const char *reach_type = _Generic({program.probe}, {GENERIC});\n")
    probed = _ran(["gcc", *FLAGS, "-w", *options, "-S", "-o", "-", str(unit)], 120).stdout.decode()
    returned = re.search(r'"reach (\w[\w ]*)', probed)
    main = program.main
    if returned is None:
        main = re.sub(r" *(int reach_returned;|fwrite\(&reach_returned.*)\n", "", main).replace("reach_returned = ", "")
    else:
        main = main.replace("int reach_returned;", f"{returned[1]} reach_returned;")
    unit.write_text(text + main)
    check = ["-Werror=incompatible-pointer-types", "-Werror=int-conversion"]
    done = _ran(["gcc", *FLAGS, *WARNINGS, *check, *options, *whole.files, "-lm", "-o", str(folder / "original")], 120)
    return (whole, _kinds(done.stderr)) if done.returncode == 0 else None


def _kinds(text: bytes) -> set[str]:
    return set(re.findall(r"\[(-W[\w=-]+)\]", text.decode(errors="replace")))


def judged_cpu(text: str, folder: Path, stdin: bytes, expected: tuple[bytes, int], warned: set[str]) -> tuple[str, str]:
    (folder / "translated.c").write_text(text, errors="surrogateescape")
    to = str(folder / "translated")
    done = _ran(["gcc", *FLAGS, *WARNINGS, str(folder / "translated.c"), "-lm", "-pthread", "-o", to], 120)
    if done.returncode:
        return "does not compile", _first_line(done.stderr)
    ran = _ran([to], 60, stdin)
    if (ran.stdout, ran.returncode) != expected:
        theirs, status = expected
        said = f"prints {len(ran.stdout)} bytes, status {ran.returncode}; the original {len(theirs)}, {status}"
        return "WRONG", said
    new = _kinds(done.stderr) - warned
    return ("warns", ", ".join(sorted(new))) if new else ("equal", "")


def judged_cuda(
    text: str, folder: Path, stdin: bytes, expected: tuple[bytes, int], warned: set[str]
) -> tuple[str, str]:
    (folder / "translated.cu").write_text(text, errors="surrogateescape")
    command = ["nvcc", "-arch=sm_90", "-diag-suppress=177,550", "-c", "-o", str(folder / "translated.o")]
    done = _ran([*command, str(folder / "translated.cu")], 300)
    if done.returncode:
        return "does not compile", _first_line(done.stderr + done.stdout)
    return "compiles", ""


def _first_line(said: bytes) -> str:
    lines = said.decode(errors="replace").splitlines()
    return next((line for line in lines if "error" in line), lines[0] if lines else "")[:300]


def _ran(command: Sequence[str], timeout: float, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    try:
        return subprocess.run(command, input=stdin, capture_output=True, timeout=timeout)
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(command, -1, b"", b"error: over the time limit")


# all of them


def outcomes_of(program: Program, nvcc: bool, timeout: float) -> list[Outcome]:
    """`tried` in a process of its own, whatever becomes of it."""
    child = subprocess.Popen(
        [sys.executable, __file__, "--one", *([] if nvcc else ["--no-nvcc"])],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONWARNINGS": "ignore"},
        start_new_session=True,
    )
    failed = Outcome(program.base, program.kernel, "cpu", "crash")
    try:
        stdout, stderr = child.communicate(json.dumps(asdict(program)).encode(), timeout)
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, 9)
        child.communicate()
        return [replace(failed, outcome="too long", reason=f"over {timeout:g} s")]
    if child.returncode:
        lines = stderr.decode(errors="replace").strip().splitlines()
        return [replace(failed, reason=f"status {child.returncode}: {lines[-1] if lines else ''}"[:300])]
    return [Outcome(**json.loads(line)) for line in stdout.decode().splitlines()]


def one(nvcc: bool) -> None:
    read: dict[str, Any] = json.loads(sys.stdin.read())
    fields: dict[str, Any] = {n: tuple(v) if isinstance(v, list) else v for n, v in read.items()}
    program = Program(**fields)
    for outcome in tried(program, nvcc):
        print(json.dumps(asdict(outcome)), flush=True)


def section(titles: dict[str, str], outcomes: Sequence[Outcome]) -> str:
    """The part of docs/reach.md that this file makes."""
    lines = [
        BEGIN,
        "## Translated programs",
        "",
        f"`c2cu translate` of the programs that have a `main`, and of functions that get one (numbers and arrays of "
        f"numbers from stdin, results to stdout), for p = {P}. *Equal*: the CPU's text compiles with `gcc -Wall` "
        f"without a new warning and prints what {P} runs of the original print. *Compiles*: CUDA's compiles with nvcc "
        "for sm_90. "
        "`python benchmarks/translated.py --bases DIR` makes this table again.",
        "",
        "| code base | programs | CPU: equal | refused | failed | CUDA: compiles | refused | failed |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for base in [*dict.fromkeys(o.base for o in outcomes), ""]:
        some = [o for o in outcomes if base in ("", o.base)]
        cells = [titles[base] if base else "**all**", sum(o.target == "cpu" for o in some)]
        for target, good in (("cpu", "equal"), ("cuda", "compiles")):
            n = collections.Counter(o.outcome for o in some if o.target == target)
            cells += [n[good], n["refused"], sum(n.values()) - n[good] - n["refused"]]
        lines.append(f"| {' | '.join(map(str, cells))} |")
    kinds = collections.Counter((o.target, _kind(o)) for o in outcomes if o.outcome == "refused")
    lines += ["", "| refused | target | why |", "| --- | --- | --- |"]
    lines += [f"| {n} | {target} | {kind} |" for (target, kind), n in kinds.most_common()]
    bad = [o for o in outcomes if o.outcome not in ("equal", "compiles", "refused")]
    if bad:
        lines += ["", "| failed | target | code base | function | why |", "| --- | --- | --- | --- | --- |"]
        lines += [f"| {o.outcome} | {o.target} | {titles[o.base]} | `{o.kernel}` | {_cell(o.reason)} |" for o in bad]
    return "\n".join([*lines, END]) + "\n"


def _kind(o: Outcome) -> str:
    text = re.sub(r"^\S+?\.[ch]:\d+(:\d+)?: ", "", o.reason)
    return _cell(re.sub(r"[0-9]+", "N", re.sub(r"'[^']*'", "'...'", text)))


def _cell(text: str) -> str:
    return re.sub(r"\S*/", "", text).replace("|", "\\|").replace("\n", " ")[:160]


def put_in(page: Path, text: str) -> None:
    """Write the section into a page, in place of the one that it has."""
    old = page.read_text() if page.exists() else ""
    before, _, rest = old.partition(BEGIN)
    page.write_text(before.rstrip("\n") + "\n\n" + text + rest.partition(END)[2].lstrip("\n"))


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bases", type=Path, metavar="DIR", help="the folder with code bases and their tables")
    parser.add_argument(
        "--only", default="", metavar="TEXT", help="programs whose 'base: kernel' contains this pattern"
    )
    parser.add_argument("--most", type=int, metavar="N", help="at most so many functions of a base, evenly chosen")
    parser.add_argument("--no-nvcc", action="store_true", help="translate for CUDA, but do not compile it")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="programs at a time")
    parser.add_argument("--timeout", type=float, default=200, metavar="S", help="seconds that a program may take")
    parser.add_argument("--table", type=Path, metavar="FILE", help="write the section into this page")
    parser.add_argument("--results", type=Path, metavar="FILE", help="write every outcome to this file, as JSON")
    parser.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    o = parser.parse_args(arguments)
    if o.one:
        return one(not o.no_nvcc)
    if o.bases is None or not list(o.bases.glob("*.toml")):
        parser.error("--bases names a folder with code bases DIR/NAME and their tables DIR/NAME.toml")
    titles, chosen = programs(o.bases.resolve(), o.only, o.most)
    outcomes: list[Outcome] = []
    with concurrent.futures.ThreadPoolExecutor(o.jobs) as pool:
        for some in pool.map(lambda program: outcomes_of(program, not o.no_nvcc, o.timeout), chosen):
            outcomes += some
            for x in some:
                print(f"{x.base}: {x.kernel}: {x.target}: {x.outcome} {x.reason}", flush=True)
            if o.results:
                o.results.write_text(json.dumps([asdict(x) for x in outcomes], indent=1))
            if o.table:
                put_in(o.table, section(titles, outcomes))
    n = collections.Counter((x.target, x.outcome) for x in outcomes)
    print(", ".join(f"{target} {name} {n[target, name]}" for target, name in sorted(n)))


if __name__ == "__main__":
    main()
