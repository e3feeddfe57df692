"""How far c2cu reaches into C that was not written for it: functions of public code bases, tried one by one.

The code bases, and the tables that say what to try, lie in a folder of the user's and are no part of this repository:
``DIR/NAME/`` is a code base, ``DIR/NAME.toml`` its table:

    title = "A base"
    include = ["include"]                     # folders, from DIR/NAME
    define = ["WIDTH=8"]
    [[functions]]
    files = ["src/{}.c", "src/common.c"]      # the first has the function; {} is its name
    try = ["dot n=8 x:f64[8]@-1..1 y:f64[8] s:i32 out>f64[8] .state:u8[16]"]

A line of ``try`` has the function and its parameters in order: ``n=8`` one number for all inputs, ``s:i32`` a number
for each, ``x:f64[8]`` an array for each, random in a range after ``@`` (``@bits``: any bits), ``out>f64[8]`` an array
that the function fills, ``.state:u8[16]`` a global instead of a parameter. Types: i8 to i64, u8 to u64, f32, f64, and
``str``, lowercase letters and a NUL. ``STEM/NAME`` puts STEM for ``{}``.

Each function is compiled under "auto" for the CPU and run on 37 inputs; gcc's build of the same files (-O1), a fresh
process for each input, decides what is right: every array, global and returned value must have the same bits (but those
of a NaN); a pointer that is all that comes out, the same place. What a function prints is dropped. Usage:

    python benchmarks/reach.py --bases DIR [--only TEXT] [--jobs 2] [--table docs/reach.md] [--reasons FILE]
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
import zlib
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

P = 37
FLAGS = ["-std=gnu11", "-O1", "-fwrapv", "-fno-strict-aliasing", "-ffp-contract=off", "-w", "-ffunction-sections"]
C_TYPES = {
    "i8": "signed char", "u8": "unsigned char", "str": "char", "i16": "short", "u16": "unsigned short", "i32": "int",
    "u32": "unsigned", "i64": "long", "u64": "unsigned long", "f32": "float", "f64": "double",
}  # fmt: skip
EXACT = ("analysed", "native")
OUTCOMES = ("analysed", "native", "refused", "WRONG", "crash", "too long", "no judge")
_ARGUMENT = re.compile(r"(\.?)(\w+)([:>=])(\w+|-?[\d.]+)(?:\[(\d+)\])?(?:@(\S+))?")


@dataclass(frozen=True)
class Argument:
    """``kind``: ':' goes in and may come out, '>' comes out, '=' a number for all. ``count``: None for a number."""

    name: str
    kind: str
    type: str
    count: int | None = None
    range: str = ""
    in_file: bool = False  # a variable at file scope, no parameter

    @property
    def dtype(self) -> str:
        return {"f": "<f", "i": "<i", "u": "<u", "s": "<i"}[self.type[0]] + str(self.width)

    @property
    def width(self) -> int:
        return 1 if self.type == "str" else int(self.type[1:]) // 8

    @property
    def extents(self) -> tuple[int, ...]:
        return () if self.count is None else (self.count,)

    @property
    def nbytes(self) -> int:
        return self.width * (1 if self.count is None else self.count)


@dataclass(frozen=True)
class Trial:
    """One function of a code base, and how to call it."""

    base: str
    function: str
    files: tuple[str, ...]
    arguments: tuple[Argument, ...]
    include: tuple[str, ...] = ()
    define: tuple[str, ...] = ()

    @property
    def buffers(self) -> tuple[Argument, ...]:
        """What differs between inputs."""
        return tuple(a for a in self.arguments if a.kind != "=")


@dataclass
class Outcome:
    base: str
    function: str
    outcome: str
    schedule: str = ""
    reason: str = ""  # why it was not analysed, was refused, or what is wrong
    code: str = ""
    seconds: float = field(default=0.0, compare=False)


def trials(bases: Path) -> tuple[dict[str, str], list[Trial]]:
    """Titles by base, and every trial that the tables in a folder describe."""
    titles: dict[str, str] = {}
    out: list[Trial] = []
    for table in sorted(bases.glob("*.toml")):
        root, t = bases / table.stem, tomllib.loads(table.read_text())
        titles[table.stem] = t["title"]
        for group in t["functions"]:
            include = [*group.get("include", ()), *t.get("include", ())]
            define = (*t.get("define", ()), *group.get("define", ()))
            for line in group["try"]:
                out.append(_trial(table.stem, root, group["files"], include, define, line))
    return titles, out


def _trial(base: str, root: Path, files: Sequence[str], include: Sequence[str], define: Any, line: str) -> Trial:
    name, *words = line.split()
    stem, _, name = name.rpartition("/")  # FILE/FUNCTION: {} is the file's
    arguments = []
    for word in words:
        m = _ARGUMENT.fullmatch(word)
        if m is None:
            raise SystemExit(f"{base}.toml: {line}: not an argument: {word}")
        count = None if m[5] is None else int(m[5])
        arguments.append(Argument(m[2], m[3], m[4], count, m[6] or "", m[1] == "."))
    paths = tuple(str(root / f.replace("{}", stem or name)) for f in files)
    folders = tuple(str(root / f) for f in include)
    return Trial(base, name, paths, tuple(arguments), folders, tuple(define))


# inputs


def inputs(trial: Trial) -> dict[str, Any]:
    """(37, n) arrays, or (37,) of numbers, for all that goes in; zeros for what comes out."""
    import numpy as np

    random = np.random.default_rng(zlib.crc32(f"{trial.base} {trial.function}".encode()))
    return {a.name: _values(np, random, a) for a in trial.buffers}


def _values(np: Any, random: Any, a: Argument) -> Any:
    shape = (P, *a.extents)
    if a.kind == ">":
        return np.zeros(shape, a.dtype)
    if a.type == "str":
        low, high = a.range.split("..") if a.range else ("a", "z")
        out = random.integers(ord(low), ord(high) + 1, shape).astype("i1")
        ends = random.integers(0, out.shape[1], P)
        out[np.arange(P), ends] = 0
        out[:, -1] = 0
        return out
    if a.range == "bits":
        return np.frombuffer(random.bytes(P * a.nbytes), a.dtype).reshape(shape).copy()
    if a.type[0] == "f":
        low, high = map(float, a.range.split("..")) if a.range else (-8.0, 8.0)
        return random.uniform(low, high, shape).astype(a.dtype)
    least, most = np.iinfo(a.dtype).min, np.iinfo(a.dtype).max
    low, high = map(int, a.range.split("..")) if a.range else (least, most)
    return random.integers(low, high, shape, a.dtype, endpoint=True)


# gcc's build: the function's own file with one function appended, and a program around it

AROUND = r"""
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
unsigned long reach_call(unsigned char **, unsigned char *);
int main(int argc, char **argv) {
    enum { RETURN = 64 };
    int n = argc - 2, p = atoi(argv[1]);
    long size[64], whole = RETURN + 16;
    for (int k = 0; k < n; k++) { size[k] = atol(argv[k + 2]); whole += (size[k] + 63) / 64 * 64 + 64; }
    unsigned char *m = mmap(0, whole, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    FILE *to = fdopen(dup(1), "w");
    freopen("/dev/null", "w", stdout);
    for (int id = 0; id < p; id++) {
        unsigned char *buffer[64], *at = m + RETURN + 16;
        memset(m, 0, RETURN + 16);
        for (int k = 0; k < n; k++) {
            at = m + ((at - m) + 63) / 64 * 64;
            buffer[k] = at;
            if (size[k] && fread(at, size[k], 1, stdin) != 1) return 3;
            at += size[k];
        }
        int status = 0;
        if (fork() == 0) {
            alarm(20);
            *(unsigned long *)(m + RETURN) = reach_call(buffer, m);
            _exit(0);
        }
        wait(&status);
        if (status) { fprintf(stderr, "input %d: status %d\n", id, status); return 4; }
        fwrite(m + RETURN, 8, 1, to);
        fwrite(m, RETURN, 1, to);
        for (int k = 0; k < n; k++) fwrite(buffer[k], size[k], 1, to);
    }
    fclose(to);
    return 0;
}
"""


def appended(trial: Trial, returns: str) -> str:
    """``reach_call``: copies globals in, calls the function, copies globals and what it returns out. ``returns``:
    "pointer", "value", or nothing."""
    numbers = {a.name: k for k, a in enumerate(trial.buffers)}
    words, before, after = [], [], []
    for a in trial.arguments:
        k = numbers.get(a.name)
        if a.in_file:
            before.append(f"__builtin_memcpy((void *)&{a.name}, b[{k}], {a.nbytes});")
            after.append(f"__builtin_memcpy(b[{k}], (void *)&{a.name}, {a.nbytes});")
        elif a.kind == "=":
            words.append(a.type)
        elif a.count is None:
            words.append(f"*({C_TYPES[a.type]} *)b[{k}]")
        else:
            words.append(f"(void *)b[{k}]")
    call = f"{trial.function}({', '.join(words)})"
    size = "0"
    if returns == "value":
        call = f"__auto_type value = {call}; __builtin_memcpy(r, &value, sizeof value)"
        size = "sizeof value"
    elif returns == "pointer":
        call = f"__auto_type at = {call}; const char *value = (const void *)&*at; long place = at ? -2 : -1"
        for a in trial.buffers:
            if a.count is not None:
                start = f"(const char *)&{a.name}" if a.in_file else f"(const char *)b[{numbers[a.name]}]"
                call += f"; if (place == -2 && value >= {start} && value - {start} <= {a.nbytes})"
                call += f" place = (value - {start}) / (long)sizeof *at"
        call += "; __builtin_memcpy(r, &place, 8)"
        size = "8"
    body = "\n    ".join([*before, f"{call};", *after, f"return {size};"])
    return f"\nunsigned long reach_call(unsigned char **b, unsigned char *r) {{\n    {body}\n}}\n"


def judged(trial: Trial, arrays: dict[str, Any], folder: Path) -> tuple[dict[str, Any], Any, bool]:
    """What gcc's build leaves in each buffer, and the returned bytes, (37, n); whether these are a pointer's place.
    Raises RuntimeError where it fails."""
    import numpy as np

    include = [x for d in trial.include for x in ("-I", d)]
    define = [f"-D{d}" for d in trial.define]
    rename = [] if any(d.startswith("main=") for d in trial.define) else ["-Dmain=original_main"]
    (folder / "around.c").write_text(AROUND)
    for returns in ("pointer", "value", ""):
        unit = folder / "unit.c"
        unit.write_text(f'#include "{trial.files[0]}"\n#undef main\n{appended(trial, returns)}')
        objects = [str(unit), *trial.files[1:]]
        made = ["gcc", *FLAGS, *include, *define, *rename]
        for k, source in enumerate(objects):
            done = _run([*made, "-c", source, "-o", str(folder / f"{k}.o")], 120)
            if done.returncode:
                break
        else:
            parts = [str(folder / f"{k}.o") for k in range(len(objects))]
            whole = ["-Wl,--gc-sections", "-lm", "-o", str(folder / "judge")]
            done = _run(["gcc", *FLAGS, str(folder / "around.c"), *parts, *whole], 120)
        if done.returncode == 0:
            break
    else:
        raise RuntimeError(done.stderr.decode(errors="replace").strip()[:300])
    stdin = b"".join(arrays[a.name][k].tobytes() for k in range(P) for a in trial.buffers)
    ran = subprocess.run(
        [str(folder / "judge"), str(P), *(str(a.nbytes) for a in trial.buffers)],
        input=stdin, capture_output=True, timeout=120,
    )  # fmt: skip
    if ran.returncode:
        raise RuntimeError(f"gcc's build fails: {ran.stderr.decode(errors='replace').strip()[:200]}")
    rows = np.frombuffer(ran.stdout, "u1").reshape(P, -1)
    size = int(rows[0, :8].view("u8")[0])
    at, out = 8 + 64, {}
    for a in trial.buffers:
        out[a.name] = rows[:, at : at + a.nbytes]
        at += a.nbytes
    return out, rows[:, 8 : 8 + size], returns == "pointer"


def _run(command: Sequence[str], timeout: float) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(command, capture_output=True, timeout=timeout)


# one trial, in a process of its own


def tried(trial: Trial) -> Outcome:
    """Compile, run and compare one function."""
    import c2cu

    out = Outcome(trial.base, trial.function, "refused")
    arrays = inputs(trial)
    with tempfile.TemporaryDirectory(prefix="reach-") as folder:
        try:
            expected, returned, is_place = judged(trial, arrays, Path(folder))
        except (RuntimeError, subprocess.TimeoutExpired) as e:
            out.outcome, out.reason = "no judge", str(e)
            return out
    program = None
    try:
        program, results = _bulk(trial, arrays)
    except c2cu.Error as e:
        out.code, out.reason = e.code, _place(e.diagnostic.loc, e.diagnostic.message)
        return out
    out.schedule = program.plan.schedule
    why = program.report.why_not
    if is_place and "return" not in results:
        returned = returned[:, :0]  # something else comes out
    wrong = _difference(trial, results, arrays, expected, returned)
    if wrong:
        out.outcome, out.reason = "WRONG", wrong
    else:
        out.outcome = "native" if why else "analysed"
        out.reason = why or ""
        if not why and out.schedule == "native":
            rejected = dict(program.plan.rejected)
            out.reason = f"chosen: {rejected.get('gang', '')}"
    return out


def _place(loc: Any, message: str) -> str:
    return f"{loc}: {message}" if loc is not None else message


def _bulk(trial: Trial, arrays: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """The compiled program, and its results by name."""
    import numpy as np

    import c2cu

    shared = {a.name: _number(a.type) for a in trial.arguments if a.kind == "="}
    define = {n: v if equals else "1" for n, equals, v in (d.partition("=") for d in trial.define)}
    words = _words(trial)
    define = {n: v for n, v in define.items() if n in words}  # the rest is an error for c2cu, and nothing for gcc
    options: dict[str, Any] = {"fn": trial.function, "backend": "cpu", "defines": define}
    options |= {"include_dirs": list(trial.include), "stdio": "discard"}
    sources = list(trial.files)
    slots = {s.name: s for s in c2cu.compile(sources, shared=list(shared), **options).slots}
    shapes = {a.name: _shape(a, slots[a.name]) for a in trial.buffers if a.name in slots and a.kind == ">"}
    shapes = {n: s for n, s in shapes.items() if s}
    shapes |= {a.name: (a.nbytes // slots[a.name].nbytes,) for a in trial.buffers if _is_several(a, slots)}
    program = c2cu.compile(sources, shared=list(shared), shapes=shapes or None, **options)
    arguments = {}
    for a in trial.buffers:
        if a.name in slots and a.kind == ":":
            arguments[a.name] = _as_slot(arrays[a.name], slots[a.name])
        elif a.name in slots and slots[a.name].required:
            arguments[a.name] = _as_slot(arrays[a.name], slots[a.name])
    for s in program.slots:  # globals that the table does not name start at zero, as in the judge's fresh process
        if s.required and s.name not in arguments and s.name not in shared:
            arguments[s.name] = np.zeros((P, *s.shape), s.dtype)
    shared = {n: v for n, v in shared.items() if n in slots}
    results = program(arguments or None, shared=shared or None, p=P)
    if not isinstance(results, dict):
        writes = [s.name for s in program.slots if s.writes]
        results = {writes[0]: results} if writes else {}
    return program, results


def _words(trial: Trial) -> set[str]:
    """The names in a trial's files and in the headers that they include."""
    include = [x for d in trial.include for x in ("-I", d)]
    made = _run(["gcc", "-MM", *include, *(f"-D{d}" for d in trial.define), *trial.files], 60).stdout.decode()
    files = {Path(f) for f in made.replace("\\\n", " ").split() if not f.endswith(":")}
    return {w for f in files if f.exists() for w in re.findall(r"\w+", f.read_text(errors="replace"))}


def _shape(a: Argument, slot: Any) -> tuple[int, ...] | None:
    """What tells the length of an array that only comes out."""
    import numpy as np

    if -1 not in slot.shape:
        return None
    known = slot.shape[slot.shape.index(-1) + 1 :]
    count = a.nbytes // np.dtype(slot.dtype).itemsize
    for n in known:
        count //= n
    return count, *known


def _is_several(a: Argument, slots: dict[str, Any]) -> bool:
    """Whether several structs stand where a pointer to one is declared."""
    return a.count is not None and a.name in slots and slots[a.name].shape == () and a.nbytes > slots[a.name].nbytes


def _as_slot(array: Any, slot: Any) -> Any:
    """The bytes as c2cu wants the variable: its dtype, and its shape where the C tells one."""
    import numpy as np

    dtype = np.dtype(slot.dtype)
    if array.ndim == 1:
        return array.astype(dtype)
    flat = np.ascontiguousarray(array).view(dtype)
    known = [n for n in slot.shape if n != -1]
    if -1 in slot.shape:
        return flat.reshape(P, -1, *known) if len(slot.shape) > 1 else flat
    if len(slot.shape) < 2 and flat.shape[1] > (slot.shape or (1,))[0]:
        return flat  # more than the kernel's subscripts need
    return flat.reshape(P, *slot.shape)


def _number(text: str) -> int | float:
    try:
        return int(text, 0)
    except ValueError:
        return float(text)


def _difference(trial: Trial, results: Any, before: dict[str, Any], expected: dict[str, Any], returned: Any) -> str:
    """What differs, in words; an empty text if nothing does."""
    import numpy as np

    for a in trial.buffers:
        if a.count is None and not a.in_file:
            continue
        want = expected[a.name]
        if a.name in results:
            got = np.asarray(results[a.name])
        elif np.array_equal(want, np.ascontiguousarray(before[a.name]).view("u1").reshape(P, -1)):
            continue
        else:
            return f"'{a.name}' changes, but is no output"
        text = _unequal(a.name, got, want)
        if text:
            return text
    if returned.shape[1] and "return" in results:
        return _unequal("return", np.asarray(results["return"]), returned)
    return "the returned value is no output" if returned.shape[1] else ""


def _unequal(name: str, got: Any, want: Any) -> str:
    import numpy as np

    if got.nbytes != want.size:
        return f"'{name}' has {got.nbytes // P} bytes an input, not {want.size // P}"
    a = np.ascontiguousarray(got).reshape(P, -1)
    b = np.ascontiguousarray(want).view(a.dtype).reshape(P, -1)
    for part in a.dtype.names or [None]:
        x, y = (a, b) if part is None else (a[part], b[part])
        same = _same(x, y)
        if not same.all():
            inputs = sorted({int(k) for k in np.argwhere(~same)[:, 0]})
            return f"'{name}'{'.' + part if part else ''} differs for {len(inputs)} inputs, first {inputs[0]}"
    return ""


def _same(x: Any, y: Any) -> Any:
    import numpy as np

    if x.dtype.names or x.dtype.kind == "V":
        x, y = (np.ascontiguousarray(v).view("u1") for v in (x, y))
    if x.dtype.kind == "f":
        bits = f"u{x.dtype.itemsize}"
        if x.dtype.itemsize > 8:
            return (x == y) | ((x != x) & (y != y))
        return (np.ascontiguousarray(x).view(bits) == np.ascontiguousarray(y).view(bits)) | ((x != x) & (y != y))
    return x == y


# all of them


def outcome_of(trial: Trial, timeout: float) -> Outcome:
    """`tried` in a process of its own, whatever becomes of it."""
    failed = Outcome(trial.base, trial.function, "crash")
    environment = {**os.environ, "C2CU_THREADS": "1", "PYTHONWARNINGS": "ignore"}
    child = subprocess.Popen(
        [sys.executable, __file__, "--one"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment,
        start_new_session=True,
    )
    try:
        stdout, stderr = child.communicate(json.dumps(asdict(trial)).encode(), timeout)
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, 9)
        child.communicate()
        failed.outcome, failed.reason = "too long", f"over {timeout:g} s"
        return failed
    last = stdout.decode(errors="replace").strip().rpartition("\n")[2]
    try:
        return Outcome(**json.loads(last))
    except ValueError:
        lines = stderr.decode(errors="replace").strip().splitlines()
        failed.reason = f"status {child.returncode}: {lines[-1] if lines else ''}"[:300]
        return failed


def one() -> None:
    t: dict[str, Any] = json.loads(sys.stdin.read())
    t["arguments"] = [Argument(**a) for a in t["arguments"]]
    fields: dict[str, Any] = {n: tuple(v) if isinstance(v, list) else v for n, v in t.items()}
    trial = Trial(**fields)
    print("\n" + json.dumps(asdict(tried(trial))), flush=True)


# reports


def counted(outcomes: Sequence[Outcome]) -> dict[str, int]:
    n = collections.Counter(o.outcome for o in outcomes)
    return {name: n[name] for name in OUTCOMES}


def kind_of(o: Outcome) -> str:
    """A reason without names, places and numbers, so that reasons of one kind are counted together."""
    text = re.sub(r"^\S+?\.[ch]:\d+(:\d+)?: ", "", o.reason)
    text = re.sub(r"'[^']*'", "'...'", text)
    return f"{o.code} {re.sub(r'[0-9]+', 'N', text)}".strip()[:160]


def reasons(outcomes: Sequence[Outcome]) -> str:
    """Markdown: what stands in the way, most frequent first, with every function."""
    lines = ["# What stands in the way", ""]
    n = counted(outcomes)
    lines += [", ".join(f"{name} {k}" for name, k in n.items()) + f" of {len(outcomes)}", ""]
    for title, chosen in (
        ("Wrong, crashed, too long, no judge", [o for o in outcomes if o.outcome in OUTCOMES[3:]]),
        ("Refused", [o for o in outcomes if o.outcome == "refused"]),
        ("Not analysed", [o for o in outcomes if o.outcome == "native"]),
        ("Analysed, but run by the native schedule", [o for o in outcomes if o.reason.startswith("chosen: ")]),
    ):
        lines += [f"## {title}: {len(chosen)}", ""]
        groups: dict[str, list[Outcome]] = {}
        for o in chosen:
            groups.setdefault(f"{o.outcome}: {kind_of(o)}", []).append(o)
        for kind, group in sorted(groups.items(), key=lambda item: -len(item[1])):
            lines.append(f"- **{len(group)}** {kind}")
            lines += [f"    - {o.base}: {o.function}: {o.reason}" for o in group]
        lines.append("")
    return "\n".join(lines)


def page(titles: dict[str, str], outcomes: Sequence[Outcome]) -> str:
    """docs/reach.md."""
    from c2cu.base.version import __version__

    def row(title: str, some: Sequence[Outcome]) -> str:
        n = counted(some)
        vector = sum(o.outcome == "analysed" and o.schedule != "native" for o in some)
        failed = n["WRONG"] + n["crash"] + n["too long"]
        return f"| {title} | {len(some)} | {n['analysed']} | {vector} | {n['native']} | {n['refused']} | {failed} |"

    tried_ones = [o for o in outcomes if o.outcome != "no judge"]
    exact = [o for o in tried_ones if o.outcome in EXACT]
    share = 100 / max(1, len(tried_ones))
    analysed = sum(o.outcome == "analysed" for o in exact)
    lines = [
        "# How far it reaches",
        "",
        f"{len(tried_ones)} functions of {len({o.base for o in tried_ones})} public code bases, none written for c2cu, "
        f'each compiled under "auto" for the CPU (version {__version__}) and run on {P} random inputs. Right is what '
        "gcc's build of the same files (-O1) does in a fresh process for each input, bit for bit. What they print is "
        'dropped (`stdio="discard"`). The bases are no '
        "part of this repository; `python benchmarks/reach.py --bases DIR` makes this page where a folder has them.",
        "",
        f"**{_percent(len(exact) * share)} exact, {_percent(analysed * share)} analysed.**",
        "",
        "| code base | functions | analysed and exact | of these vectorised | native and exact | refused | failed |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    for base in dict.fromkeys(o.base for o in tried_ones):
        lines.append(row(titles[base], [o for o in tried_ones if o.base == base]))
    lines += [row("**all**", tried_ones), ""]
    lines += [
        "*Analysed*: c2cu knows every access, so the function has a verdict; *native*: it runs the C as it stands. "
        "*Failed*: a wrong result, a crash, or over the time limit.",
        "",
    ]
    for title, some in (
        ("Refused", [o for o in tried_ones if o.outcome == "refused"]),
        ("Failed", [o for o in tried_ones if o.outcome in ("WRONG", "crash", "too long")]),
    ):
        if some:
            lines += [f"## {title}", "", "| code base | function | why |", "| --- | --- | --- |"]
            lines += [f"| {titles[o.base]} | `{o.function}` | {_cell(o)} |" for o in some]
            lines.append("")
    lines += ["## Not analysed, by reason", "", "| functions | reason |", "| --- | --- |"]
    kinds = collections.Counter(kind_of(o) for o in tried_ones if o.outcome == "native")
    lines += [f"| {n} | {kind.replace('|', chr(92) + '|')} |" for kind, n in kinds.most_common()]
    return "\n".join(lines) + "\n"


def _percent(share: float) -> str:
    """Rounded down, so that 100% is all of them."""
    return f"{int(10 * share + 1e-6) / 10:g}%"


def _cell(o: Outcome) -> str:
    text = re.sub(r"^\S*/", "", o.reason).replace("|", "\\|").replace("\n", " ")
    return f"{o.outcome + ': ' if o.outcome != 'refused' else ''}{text}{f' ({o.code})' if o.code else ''}"[:200]


def _kept(results: Path | None, chosen: Sequence[Trial]) -> dict[int, Outcome]:
    """What was exact in an earlier run, by the trial's number."""
    earlier: dict[tuple[str, str], list[Outcome]] = {}
    for x in json.loads(results.read_text()) if results is not None else ():
        earlier.setdefault((x["base"], x["function"]), []).append(Outcome(**x))
    out: dict[int, Outcome] = {}
    for k, t in enumerate(chosen):
        outcomes = earlier.get((t.base, t.function), [])
        if outcomes and (x := outcomes.pop(0)).outcome in EXACT:
            out[k] = x
    return out


def _spread(chosen: Sequence[Trial]) -> list[int]:
    """The numbers of the trials, those of the bases in turn."""
    counts: collections.Counter[str] = collections.Counter()
    order = []
    for k, t in enumerate(chosen):
        order.append((counts[t.base], k))
        counts[t.base] += 1
    return [k for _, k in sorted(order)]


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bases", type=Path, metavar="DIR", help="the folder with code bases and their tables")
    parser.add_argument("--only", default="", metavar="TEXT", help="functions whose 'base: name' contains this pattern")
    parser.add_argument("--jobs", type=int, default=2, metavar="N", help="how many at a time")
    parser.add_argument("--timeout", type=float, default=120, metavar="S", help="seconds that a function may take")
    parser.add_argument("--table", type=Path, metavar="FILE", help="write the page to this file")
    parser.add_argument("--reasons", type=Path, metavar="FILE", help="write what stands in the way to this file")
    parser.add_argument("--results", type=Path, metavar="FILE", help="write every outcome to this file, as JSON")
    parser.add_argument("--keep", type=Path, metavar="FILE", help="an earlier run's --results: keep what was exact")
    parser.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    o = parser.parse_args(arguments)
    if o.one:
        one()
        return
    if o.bases is None or not list(o.bases.glob("*.toml")):
        parser.error("--bases names a folder with code bases DIR/NAME and their tables DIR/NAME.toml")
    titles, all_trials = trials(o.bases.resolve())
    chosen = [t for t in all_trials if re.search(o.only, f"{t.base}: {t.function}")]
    done = _kept(o.keep, chosen)
    with concurrent.futures.ThreadPoolExecutor(o.jobs) as pool:
        running = {pool.submit(outcome_of, chosen[k], o.timeout): k for k in _spread(chosen) if k not in done}
        for future in concurrent.futures.as_completed(running):
            done[running[future]] = x = future.result()
            print(f"{x.base}: {x.function}: {x.outcome} {x.schedule} {x.reason}", flush=True)
            if len(done) % 20 == 0 or len(done) == len(chosen):
                _write(o, titles, [done[k] for k in sorted(done)])
    print(", ".join(f"{name} {k}" for name, k in counted(list(done.values())).items()), f"of {len(done)}")


def _write(o: argparse.Namespace, titles: dict[str, str], outcomes: Sequence[Outcome]) -> None:
    """Whatever was asked for, of the outcomes so far."""
    if o.reasons:
        o.reasons.write_text(reasons(outcomes))
    if o.results:
        o.results.write_text(json.dumps([asdict(x) for x in outcomes], indent=1))
    if o.table:
        o.table.write_text(page(titles, outcomes))


if __name__ == "__main__":
    main()
