"""Programs of csmith, a generator of C that finds faults in compilers, and gcc as the judge of their kernels.

Debian has it: ``apt-get install csmith libcsmith-dev``.
"""

import subprocess
import warnings
from collections.abc import Sequence
from pathlib import Path

import numpy as np

import c2cu
from tests.oracle import Original, same

P = 5
OPTIONS = (  # each with what it is for: everything; floats; what gang takes; bit-fields; large expressions
    "",
    "--float",
    "--no-pointers --no-unions --no-structs --no-jumps --max-funcs 3",
    "--no-pointers --no-jumps --no-packed-struct",
    "--no-pointers --no-structs --no-unions --no-jumps --float --max-expr-complexity 20 --max-funcs 2",
)
EQUAL, NO_INPUTS, REFUSED, UNDEFINED = "equal", "no inputs", "refused", "gcc differs from itself"
LEVELS = ("-O0", "-O2", "-O3")


def headers() -> str:
    """The folder of csmith.h, or ""."""
    folders = map(Path, ("/usr/include/csmith", "/usr/local/include"))
    return next((str(d) for d in folders if (d / "csmith.h").exists()), "")


def program(seed: int, folder: str | None = None, more: str = "") -> str:
    """A program. csmith writes its notes of the machine to ``folder``. ``more``: options beside the seed's."""
    options = [*OPTIONS[seed % len(OPTIONS)].split(), *more.split()]
    command = ["csmith", "--no-volatiles", "--no-argc", "--concise", "--seed", str(seed), *options]
    return subprocess.run(command, capture_output=True, text=True, check=True, cwd=folder).stdout


def inputs(slots, seed: int) -> dict[str, np.ndarray]:
    """Random integers for every global that is one, or an array of them; small ones as often as any."""
    rng = np.random.default_rng(seed)
    out = {}
    for s in slots:
        if s.reads and isinstance(s.dtype, str) and np.dtype(s.dtype).kind in "iu":
            limits = np.iinfo(s.dtype)
            a = rng.integers(limits.min, limits.max, (P, *s.shape), dtype=s.dtype, endpoint=True)
            out[s.name] = np.where(rng.random(a.shape) < 0.5, rng.integers(0, 5, a.shape).astype(s.dtype), a)
    return out


def judged(text: str, seed: int, include: str, backend: str, schedules: Sequence[str]) -> dict[str, str]:
    """What a program's ``func_1`` comes to under each schedule: one of the words above, or what is wrong.

    ``include``: the folder of csmith.h. Raises c2cu.Error where ``native`` does not take the program.
    """
    warnings.simplefilter("ignore")
    native = c2cu.compile(text, fn="func_1", backend="cpu", schedule="native", include_dirs=[include])
    values = inputs(native.slots, seed)
    if not values:
        return dict.fromkeys(schedules, NO_INPUTS)
    taking_part = [s for s in native.slots if s.name != "return" and (s.reads or s.writes)]
    variables = [(s.name, np.dtype(s.dtype), s.shape) for s in taking_part]
    # func_1 may return a struct.
    judge = text.replace("csmith.h", f"{include}/csmith.h") + "\nvoid judged(void) { func_1(); }\n"

    def by_gcc(level: str) -> dict[str, np.ndarray]:
        return Original(judge, "judged", variables, level=level).bulk(values, P, fresh=True)

    expected, said = by_gcc("-O1"), {}
    for schedule in schedules:
        try:
            compiled = c2cu.compile(text, fn="func_1", backend=backend, schedule=schedule, include_dirs=[include])
            said[schedule] = _compared(compiled, values, expected)
            if said[schedule] != EQUAL and not all(_alike(by_gcc(level), expected) for level in LEVELS):
                said[schedule] = UNDEFINED  # a float that an integer type does not hold, for example
        except c2cu.UnsupportedError as e:
            said[schedule] = f"{REFUSED}: {e}"
    return said


def _compared(compiled, values: dict[str, np.ndarray], expected: dict[str, np.ndarray]) -> str:
    results = compiled({n: a for n, a in values.items() if any(s.name == n and s.reads for s in compiled.slots)})
    if not isinstance(results, dict):
        results = {next(s.name for s in compiled.slots if s.writes): results}
    for name, right in expected.items():
        value = results[name] if name in results else values.get(name)
        if value is not None and not same(np.asarray(value), right):
            return f"{name} differs"
    return EQUAL


def _alike(a: dict[str, np.ndarray], b: dict[str, np.ndarray]) -> bool:
    return all(same(a[name], b[name]) for name in b)
