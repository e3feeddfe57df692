"""The documents' commands run as they stand, in order, where only the repository's files are there."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import c2cu

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()
TUTORIAL = (ROOT / "docs" / "tutorial.md").read_text()
BLOCK = re.compile(r"^```([^\n]*)\n(.*?)^```", re.M | re.S)


@pytest.fixture
def shell(tmp_path):
    """Runs a command in an empty folder: (exit status, what it printed, messages first)."""
    tools = tmp_path / "bin"
    tools.mkdir()
    for name, module in (("c2cu", " -m c2cu"), ("python", "")):
        (tools / name).write_text(f'#!/bin/sh\nexec {sys.executable}{module} "$@"\n')
        (tools / name).chmod(0o755)
    env = {**os.environ, "PATH": f"{tools}:{os.environ['PATH']}", "PYTHONPATH": str(ROOT)}

    def run(command):
        done = subprocess.run(command, shell=True, cwd=tmp_path, env=env, capture_output=True, text=True)
        return done.returncode, done.stderr + done.stdout

    return run


def test_readme(shell, tmp_path, pytestconfig):
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    outputs, ran = {}, 0
    for command in re.findall(r"^\$ (.*)$", README, re.M):
        has_nvcc = shutil.which("nvcc") is not None and pytestconfig.getoption("all")
        if "nvcc" in command and not has_nvcc or "cuda" in command.split()[0]:
            continue  # needs CUDA's compiler, or a device
        status, outputs[command] = shell(command.replace("2048", "64"))  # numbers as text take long
        assert status == 0, f"{command}\n{outputs[command]}"
        if "> build/results.txt" in command:
            printed = np.loadtxt(tmp_path / "build" / "results.txt", dtype=np.float32).reshape(-1, 16, 16)
            assert np.array_equal(printed, np.load(tmp_path / "build" / "distances.npy"))
            ran += 1
    assert ran >= 2 and {p.name for p in tmp_path.iterdir()} == {"bin", "examples", "build"}
    assert outputs["c2cu check examples/floyd_warshall.c"] in README


@pytest.mark.slow
def test_tutorial(shell, tmp_path):
    """Fenced blocks with a file's name are files; below a command stands what it prints, "..." for any lines."""
    for info, body in BLOCK.findall(TUTORIAL):
        if " " in info:
            (tmp_path / info.split()[1]).write_text(body)
            continue
        for command, expected in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", body, re.M):
            _, printed = shell(command)
            pattern = re.escape(expected).replace(re.escape("...\n"), r"(?:.*\n)*")
            assert re.fullmatch(pattern, printed), f"{command}\n{printed}"


def test_every_name_of_the_library_is_there():
    for name in re.findall(r"c2cu\.([a-z]\w*)\(", README + TUTORIAL):
        assert hasattr(c2cu, name)
