"""Programs of csmith, a generator of C that finds faults in compilers: as kernels and through ``translate``, like gcc.

Debian has it: ``apt-get install csmith libcsmith-dev``.
"""

import multiprocessing
import os
import shutil
import subprocess
import warnings
from pathlib import Path

import numpy as np
import pytest

import c2cu
from tests.oracle import FLAGS, Original, same

HEADERS = next(
    (str(d) for d in map(Path, ("/usr/include/csmith", "/usr/local/include")) if (d / "csmith.h").exists()), ""
)
COUNT = int(os.environ.get("C2CU_PROGRAMS", "2000")) // 100  # each takes some seconds
SEED = int(os.environ.get("C2CU_SEED", "0"))
SECONDS = 60  # for one program: some never end
P = 5
OPTIONS = (  # each with what it is for: everything; floats; what gang takes; bit-fields; large expressions
    "",
    "--float",
    "--no-pointers --no-unions --no-structs --no-jumps --max-funcs 3",
    "--no-pointers --no-jumps --no-packed-struct",
    "--no-pointers --no-structs --no-unions --no-jumps --float --max-expr-complexity 20 --max-funcs 2",
)

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not (shutil.which("csmith") and HEADERS), reason="csmith is not installed: apt-get install csmith libcsmith-dev"
    ),
]


def program(seed: int) -> str:
    options = OPTIONS[seed % len(OPTIONS)].split()
    command = ["csmith", "--no-volatiles", "--no-argc", "--concise", "--seed", str(seed), *options]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


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


def compared(seed: int) -> str:
    """What is wrong with a program as a kernel, or "". Raises c2cu.Error where it is refused."""
    text = program(seed)
    warnings.simplefilter("ignore")
    compiled = c2cu.compile(text, fn="func_1", backend="cpu", schedule="native", include_dirs=[HEADERS])
    given = inputs(compiled.slots, seed)
    if not given:
        return ""
    taking_part = [s for s in compiled.slots if s.name != "return" and (s.reads or s.writes)]
    variables = [(s.name, np.dtype(s.dtype), s.shape) for s in taking_part]
    judge = (
        text.replace("csmith.h", f"{HEADERS}/csmith.h") + "\nvoid judged(void) { func_1(); }\n"
    )  # it may return a struct
    expected = Original(judge, "judged", variables).bulk(given, P, fresh=True)
    programs = [compiled]
    if not c2cu.check(text, fn="func_1", include_dirs=[HEADERS]).why_not:
        programs.append(c2cu.compile(text, fn="func_1", backend="cpu", schedule="gang", include_dirs=[HEADERS]))
    for one in programs:
        results = one({n: a for n, a in given.items() if any(s.name == n and s.reads for s in one.slots)})
        if not isinstance(results, dict):
            results = {next(s.name for s in one.slots if s.writes): results}
        for name, wanted in expected.items():
            value = results[name] if name in results else given.get(name)
            if value is not None and not same(np.asarray(value), wanted):
                return f"{one.plan.schedule}: {name} differs"
    return ""


def translated(seed: int) -> str:
    """What is wrong with a whole program's translation, or ""."""
    text = program(seed)
    warnings.simplefilter("ignore")
    ours = c2cu.translate(text, p=3, target="cpu", fn="func_1", include_dirs=[HEADERS])
    outputs = []
    for name, c in (("original", text), ("translation", ours)):
        with pytest.MonkeyPatch.context() as patch:
            folder = Path(os.environ["C2CU_TEST_FOLDER"]) / f"csmith{seed}"
            folder.mkdir(exist_ok=True)
            patch.chdir(folder)
            command = ["gcc", "-O1", *FLAGS, f"-I{HEADERS}", "-x", "c", "-", "-o", name, "-lm"]
            done = subprocess.run(command, input=c.encode(), capture_output=True)
            if done.returncode:
                return f"{name}: {done.stderr.decode()[:1000]}"
            outputs.append(subprocess.run([f"./{name}"], capture_output=True, timeout=SECONDS).stdout)
    return "" if outputs[0] * 3 == outputs[1] else f"{outputs[0]!r} became {outputs[1]!r}"


def outcome(work, seed: int) -> str:
    """What ``work`` says, from a process of its own: "refused: ..." where c2cu takes no such program, "" where it does
    not end."""
    context = multiprocessing.get_context("fork")
    mine, theirs = context.Pipe(duplex=False)

    def run() -> None:
        try:
            theirs.send(work(seed))
        except c2cu.UnsupportedError as e:
            theirs.send(f"refused: {e}")
        except subprocess.TimeoutExpired:
            theirs.send("")
        except BaseException as e:
            theirs.send(f"{type(e).__name__}: {e}")

    process = context.Process(target=run)
    process.start()
    theirs.close()
    try:
        return mine.recv() if mine.poll(SECONDS) else ""
    except EOFError:
        return "the process died"
    finally:
        process.kill()
        process.join()


@pytest.mark.parametrize("seed", range(SEED * 10**6, SEED * 10**6 + COUNT))
def test_as_a_kernel(seed):
    said = outcome(compared, seed)
    assert not said, f"seed {seed}: {said}"


@pytest.mark.parametrize("seed", range(SEED * 10**6, SEED * 10**6 + COUNT, 4))
def test_whole_program(seed):
    said = outcome(translated, seed)
    if said.startswith("refused"):
        pytest.skip(said.partition("\n")[0])
    assert not said, f"seed {seed}: {said}"
