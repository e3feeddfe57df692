"""Programs of csmith, a generator of C that finds faults in compilers: as kernels and through ``translate``, like gcc.

Debian has it: ``apt-get install csmith libcsmith-dev``.
"""

import contextlib
import multiprocessing
import os
import shutil
import signal
import subprocess
import warnings
from pathlib import Path

import pytest

import c2cu
from tests import csmith_programs
from tests.csmith_programs import EQUAL, NO_INPUTS, REFUSED, UNDEFINED, program
from tests.oracle import FLAGS

HEADERS = csmith_programs.headers()
COUNT = int(os.environ.get("C2CU_PROGRAMS", "2000")) // 100  # each takes some seconds
SEED = int(os.environ.get("C2CU_SEED", "0"))
SECONDS = 60  # for one program: some never end

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not (shutil.which("csmith") and HEADERS), reason="csmith is not installed: apt-get install csmith libcsmith-dev"
    ),
]


def compared(seed: int) -> str:
    """What is wrong with a program as a kernel, or "". Raises c2cu.Error where it is refused."""
    said = csmith_programs.judged(made(seed), seed, HEADERS, "cpu", ("native", "gang"))
    wrong = {
        s: what
        for s, what in said.items()
        if what not in (EQUAL, NO_INPUTS, UNDEFINED) and not what.startswith(REFUSED)
    }
    return ", ".join(f"{s}: {what}" for s, what in wrong.items())


def made(seed: int) -> str:
    return program(seed, os.environ["C2CU_TEST_FOLDER"])


def translated(seed: int) -> str:
    """What is wrong with a whole program's translation, or ""."""
    text = made(seed)
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
        os.setsid()  # so that compilers and programs that it starts end with it
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
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
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
