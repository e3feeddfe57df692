"""The programs in examples/from_*: what their CMakeLists.txt tells is done, and each compares with its own loop."""

import os
import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from tests import nvcc

EXAMPLES = Path(__file__).parent.parent / "examples"
SCRIPTS = sysconfig.get_path("scripts")
COMPILERS = {"from_c": "cc", "from_cpp": "c++", "from_fortran": "gfortran", "from_rust": "rustc"}


def needed(command: str) -> str:
    found = shutil.which(command, path=os.pathsep.join([os.environ["PATH"], SCRIPTS]))
    if found is None:
        pytest.skip(f"{command} is missing")
    answer = subprocess.run([found, "--version"], capture_output=True, text=True)
    if answer.returncode != 0:  # rustup's names of commands are there before any compiler is
        pytest.skip(f"{command} --version: {answer.stderr.strip().splitlines()[0]}")
    return found


def told(folder: Path) -> list[str]:
    """The commands in the comment at a CMakeLists.txt's top."""
    head = re.match(r"(#.*\n)+", (folder / "CMakeLists.txt").read_text())[0]
    return re.findall(r"^#   (.*)$", head, re.M)


def done(command: list[str], folder: Path) -> str:
    """Without c2cu on the way, but as the command that it is; a warning is an error."""
    if command[0] == "c2cu":
        command = [sys.executable, "-m", *command]
    where = os.environ["PATH"].split(os.pathsep)
    path = os.pathsep.join(d for d in where if d != SCRIPTS)
    run = subprocess.run(command, cwd=folder, capture_output=True, text=True, env={**os.environ, "PATH": path})
    assert run.returncode == 0, run.stdout + run.stderr
    assert "warning" not in (run.stdout + run.stderr).lower(), run.stdout + run.stderr
    return run.stdout


@pytest.mark.slow
@pytest.mark.parametrize("name", COMPILERS)
def test_built_and_run(name, tmp_path):
    cmake = needed("cmake")
    needed(COMPILERS[name])
    folder = tmp_path / name
    shutil.copytree(EXAMPLES / name, folder)
    for source in EXAMPLES.glob("*.c"):
        shutil.copy(source, tmp_path)
    cuda = shutil.which("nvcc") is not None
    printed = ""
    for command in (c.split() for line in told(folder) for c in line.split(" && ")):
        if not cuda and "cuda" in command[-1]:
            if command[0] == "mkdir":
                done([c for c in command if c != "cuda"], folder)
        elif command[0] != "build/sorts_cuda":  # that needs a device
            command[0] = cmake if command[0] == "cmake" else command[0]
            command += ["-DCMAKE_CUDA_ARCHITECTURES=90"] if "-B" in command and cuda else []
            printed += done(command, folder)
    assert re.search(r": (equal|sorted)\n\Z", printed)


@nvcc.needed
@pytest.mark.parametrize("name", ["from_c", "from_fortran"])
def test_compiled_for_cuda(name, tmp_path):
    cmake = needed("cmake")
    [source, stem] = re.search(r"translate (\S+) .*?/(\w+)\.c$", "\n".join(told(EXAMPLES / name)), re.M).groups()
    done(["c2cu", "translate", str(EXAMPLES / name / source), "--library", "--cmake", "-o", f"{stem}.cu"], tmp_path)
    done([cmake, "-B", "build", "-DCMAKE_CUDA_ARCHITECTURES=90"], tmp_path)
    done([cmake, "--build", "build"], tmp_path)
    assert (tmp_path / "build" / f"lib{stem}.a").stat().st_size > 1000
