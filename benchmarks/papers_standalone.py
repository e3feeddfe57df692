"""Standalone programs that c2cu translates: what their kernels take, beside the library's on the same inputs.

A program reads a seed a line, makes its arrays of it, calls the kernel and prints a sum of the result's bits: so the
library can have the same inputs, and every result is compared. Around the launch in the program's text, which is
otherwise as `translate` wrote it, stand CUDA events: the arrays are copied to the device anew, the device is kept busy
until the host has enqueued everything, and what passes between two events is printed.
"""

from __future__ import annotations

import re
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent))

import c2cu
from benchmarks.measure import BUSY, LONGEST, Host
from tests.workloads import Workload, bitonic, fft, paths, product

K, M = 1 << 10, 1 << 20
PAPER = "thread"  # the schedule that has the paper's form
FIRST, SECOND = 0x9E3779B1, 0x85EBCA77  # odd
_MIXED = f"""
static unsigned mixed(unsigned v) {{
    v = (v ^ v >> 16) * {FIRST:#x}u;
    v = (v ^ v >> 13) * {SECOND:#x}u;
    return v ^ v >> 16;
}}
"""
#: What an element is made of its random number, in C and on arrays.
_VALUES = {
    "float": ("(float)({r} >> 8) / 16777216.0f", lambda r: (r >> 8).astype(np.float32) / np.float32(16777216)),
    "uint32_t": ("{r}", lambda r: r),
}
_EVENTS = """
static __global__ void timed_busy(long long cycles) {{
    long long start = clock64();
    while (clock64() - start < cycles) {{}}
}}

"""
_TIMED = """{{ /* timed: {repeats} launches, fewer if they take long; one before them */
    cudaEvent_t timed_from, timed_to;
    float timed_ms = 0, timed_all = 0;
    __CHECK__(cudaEventCreate(&timed_from));
    __CHECK__(cudaEventCreate(&timed_to));
    for (int timed = 0; timed <= {repeats} && timed_all <= {longest}; timed++) {{
{again}
        timed_busy<<<1, 1>>>({busy}LL);
        __CHECK__(cudaEventRecord(timed_from, 0));
        {launch}
        __CHECK__(cudaEventRecord(timed_to, 0));
        __CHECK__(cudaEventSynchronize(timed_to));
        __CHECK__(cudaEventElapsedTime(&timed_ms, timed_from, timed_to));
        timed_all += timed_ms;
        fprintf(stderr, "timed %g\\n", timed_ms);
    }}
    }}"""
_LAUNCH = re.compile(r"^ *(__CHECK__\(c2cu_device::c2cu_launches\([^;]*;|\w+<<<__B__, __T__>>>\([^;]*;)", re.M)
_COPIED = re.compile(r"^ *__CHECK__\((?:cudaMemcpy\([^;]*HostToDevice|cudaMemcpyToSymbol\(\w+,\s+host)[^;]*;", re.M)


@dataclass(frozen=True)
class Case:
    """A workload in a program of its own. ``locals``: arrays that its parameters are given. ``paper``: whether the
    paper's form can be waited for."""

    workload: Workload
    p: int
    quick: int = 3
    paper: bool = True

    @property
    def name(self) -> str:
        return self.workload.name if self.p > 1 else f"{self.workload.name}, one graph"

    @property
    def arrays(self) -> tuple[tuple[str, str, tuple[int, ...]], ...]:
        """(name, C type, shape) of all, outputs too."""
        types = {"float32": "float", "uint32": "uint32_t"}
        return tuple((n, types[t], shape) for n, t, shape in (*self.workload.variables, *self.workload.params))

    @property
    def read(self) -> tuple[tuple[int, str, str, tuple[int, ...]], ...]:
        """Of these what is filled, each with its number."""
        outputs = () if self.workload.file != "montgomery.c" else ("r",)
        return tuple((k, *a) for k, a in enumerate(self.arrays) if a[0] not in outputs)

    def text(self) -> str:
        """The program: the file's own without its main, and a main that reads a seed."""
        w = self.workload
        own = w.text.partition("int main(")[0].rstrip()
        own = re.sub(r"static int read_number\(.*", "", own, flags=re.S).rstrip()
        lines = [f"static {t} {n}[{s[0]}];" for n, t, s in self.arrays if w.params]
        main = [line for k, n, t, shape in self.read for line in self.filled(k, n, t, shape)]
        call = f"{w.fn}({', '.join(n for n, *_ in w.params)});"
        shared = f" shared({', '.join(w.shared)})" if w.shared else ""
        sums = [line for n, t, shape in self.arrays if n in w.outputs for line in summed(n, t, shape)]
        body = ["unsigned seed, sum = 0;", 'if (scanf("%u", &seed) != 1)', "    return 1;", *main]
        body += ["#pragma kernel" + shared, call, *sums, 'printf("%08x\\n", sum);', "return 0;"]
        head = "#include <stdio.h>\n#include <stdint.h>\n#include <string.h>\n"
        inside = "\n".join(line if line.startswith("#") else f"    {line}" for line in body)
        return f"{head}{own}\n" + "\n".join(lines) + f"{_MIXED}\nint main(void) {{\n{inside}\n}}\n"

    def filled(self, k: int, name: str, type_: str, shape: tuple[int, ...]) -> list[str]:
        """C that fills an array; a table that all inputs share has no seed."""
        seed = "0" if name in self.workload.shared else "seed"
        value = _VALUES[type_][0].format(r=f"mixed({seed} * {SECOND:#x}u + {k << 28}u + i)")
        lines = [*over(shape, f"{element(name, shape)} = {value};")]
        if self.workload.file == "montgomery.c":  # odd, with the top bit set; what is multiplied is below it
            top = shape[0] - 1
            lines += [f"{name}[0] |= 1;", f"{name}[{top}] |= 0x80000000u;"] if name == "m" else []
            lines += [f"{name}[{top}] &= 0x7fffffffu;"] if name in "xy" else []
        return lines

    def inputs(self, xp: Any, p: int) -> dict[str, Any]:
        """What the program makes of the seeds 0 to p - 1."""
        made = {}
        for k, name, type_, shape in self.read:
            count = int(np.prod(shape))
            seeds = xp.arange(1 if name in self.workload.shared else p, dtype=xp.uint32)
            with np.errstate(over="ignore"):
                r = seeds[:, None] * np.uint32(SECOND) + np.uint32(k << 28) + xp.arange(count, dtype=xp.uint32)
                a = _VALUES[type_][1](mixed(r)).reshape(len(seeds), *shape)
            made[name] = a[0] if name in self.workload.shared else a
            if self.workload.file == "montgomery.c":
                _odd(a, name)
        return made

    def sums(self, xp: Any, results: Mapping[str, Any], p: int) -> np.ndarray:
        """What the program prints of these results."""
        total = xp.zeros(p, dtype=xp.uint32)
        for name, _, shape in self.arrays:
            if name in self.workload.outputs:
                count = int(np.prod(shape))
                bits = results[name].reshape(p, count).view(xp.uint32)
                weights = 2 * xp.arange(count, dtype=xp.uint32) + xp.uint32(1)
                step = max(1, (1 << 26) // count)  # not all products at once
                for at in range(0, p, step):
                    total[at : at + step] += (bits[at : at + step] * weights).sum(axis=1, dtype=xp.uint32)
        return total.get() if hasattr(total, "get") else total


CASES = (
    Case(bitonic(32), 4 * M),
    Case(bitonic(1024), 128 * K),
    Case(bitonic(32768), 4 * K),
    Case(paths(16), 128 * K),
    Case(paths(64), 16 * K),
    Case(paths(256), K),
    Case(product(512), 2 * M),
    Case(fft(64), 64 * K),
    Case(fft(1024), 64 * K),
    Case(paths(4096), 1, 0, paper=False),
    Case(paths(16384), 1, 0, paper=False),
)


def mixed(v: Any) -> Any:
    """A random number of each."""
    v = (v ^ v >> 16) * np.uint32(FIRST)
    v = (v ^ v >> 13) * np.uint32(SECOND)
    return v ^ v >> 16


def _odd(a: Any, name: str) -> None:
    if name == "m":
        a[:, 0] |= 1
        a[:, -1] |= 0x80000000
    else:
        a[:, -1] &= 0x7FFFFFFF


def element(name: str, shape: Sequence[int]) -> str:
    return f"{name}[i]" if len(shape) == 1 else f"{name}[i / {shape[1]}][i % {shape[1]}]"


def over(shape: Sequence[int], statement: str) -> tuple[str, str]:
    return f"for (unsigned i = 0; i < {int(np.prod(shape))}; i++)", f"    {statement}"


def summed(name: str, type_: str, shape: tuple[int, ...]) -> list[str]:
    """C that adds an array's bits to ``sum``, each by its place."""
    loop = over(shape, "")[0]
    return [
        f"{loop} {{",
        "    unsigned bits;",
        f"    memcpy(&bits, &{element(name, shape)}, sizeof bits);",
        "    sum += bits * (2 * i + 1);",
        "}",
    ]


def timed(text: str, repeats: int = 7) -> str:
    """A CUDA program that says what its kernels take. Raises ValueError for a text that launches elsewhere."""
    head, main, body = text.rpartition("int main(")
    launch = _LAUNCH.search(body)
    if launch is None:
        raise ValueError("no launch is found in main")
    again = "\n".join(f"    {m[0]}" for m in _COPIED.finditer(body[: launch.start()]))
    events = _TIMED.format(repeats=repeats, longest=LONGEST, busy=BUSY, again=again, launch=launch[1])
    return head + _EVENTS.format() + main + body[: launch.start(1)] + events + body[launch.end() :]


@dataclass(frozen=True)
class Built:
    """A program that was translated and compiled, or why not. ``schedule``: the one that ``form`` came to."""

    case: Case
    form: str
    schedule: str
    program: str
    failed: str = ""


def build(case: Case, form: str, p: int, target: str, folder: Path) -> Built:
    """Translate a program under a schedule, and compile it."""
    stem = folder / re.sub(r"\W+", "-", f"{case.workload.name}-{p}-{form}")
    source = stem.with_suffix(".cu" if target == "cuda" else ".c")
    try:
        text = c2cu.translate(case.text(), p=p, target=target, schedule=form)
        source.write_text(timed(text) if target == "cuda" else text)
    except (c2cu.Error, ValueError) as e:
        return Built(case, form, "", "", str(e).splitlines()[0])
    command = ["nvcc", "-O3", "-arch=native"] if target == "cuda" else ["cc", "-O3", "-pthread"]
    done = subprocess.run([*command, str(source), "-o", str(stem), "-lm"], capture_output=True, text=True)
    failed = f"the compiler failed: {(done.stderr.splitlines() or [''])[0]}" if done.returncode else ""
    named = re.search(r"under schedule\s+'([\w:]+)'", text)
    return Built(case, form, named[1] if named else form, str(stem), failed)


def run(built: Built, p: int, seconds: float) -> tuple[dict[str, Any], np.ndarray]:
    """What a program's kernels take, and the sums that it prints."""
    seeds = "\n".join(map(str, range(p))) + "\n"
    start = time.perf_counter()
    done = subprocess.run([built.program], input=seeds, capture_output=True, text=True, timeout=max(1.0, seconds))
    ms = 1e3 * (time.perf_counter() - start)
    if done.returncode:
        raise RuntimeError(f"exit status {done.returncode}: {done.stderr[:200]}")
    times = [float(t) for t in re.findall(r"^timed (\S+)$", done.stderr, re.M)] or [ms]
    times = sorted(times[1:] or times)  # the first is to warm up, unless it took so long that there is no other
    sums = np.array([int(s, 16) for s in done.stdout.split()], np.uint32)
    return {"ms": times[len(times) // 2], "repeats": len(times), "process_ms": ms}, sums


def library(case: Case, p: int, device: Host) -> tuple[dict[str, Any], np.ndarray]:
    """What the library takes from device arrays to device arrays, and the sums of its results."""
    program = case.workload.compile(backend=device.backend, verify=False)
    inputs = case.inputs(device.xp, p)
    first, result = device.once(lambda: program(inputs))
    sums = case.sums(device.xp, case.workload.results(result), p)
    del result
    ms = device.median_ms(lambda: program(inputs), 7)
    return {"ms": ms, "first_ms": first, "schedule": program.plan.schedule}, sums
