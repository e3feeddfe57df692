"""The README's commands run as they stand, in order, where only the repository's files are there."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np

import c2cu

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()
COMMANDS = re.findall(r"^\$ (.*)$", README, re.M)


def test_commands(tmp_path):
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    tools = tmp_path / "bin"
    tools.mkdir()
    for name, module in (("c2cu", " -m c2cu"), ("python", "")):
        (tools / name).write_text(f'#!/bin/sh\nexec {sys.executable}{module} "$@"\n')
        (tools / name).chmod(0o755)
    env = {**os.environ, "PATH": f"{tools}:{os.environ['PATH']}", "PYTHONPATH": str(ROOT)}
    outputs = {}
    for command in COMMANDS:
        if "nvcc" in command and shutil.which("nvcc") is None or "cuda" in command.split()[0]:
            continue  # needs CUDA's compiler, or a device
        done = subprocess.run(command, shell=True, cwd=tmp_path, env=env, capture_output=True, text=True)
        assert done.returncode == 0, f"{command}\n{done.stderr}"
        outputs[command] = done.stderr
        if "> results.txt" in command:
            printed = np.loadtxt(tmp_path / "results.txt", dtype=np.float32).reshape(-1, 16, 16)
            assert np.array_equal(printed, np.load(tmp_path / "distances.npy"))
    assert outputs["c2cu check examples/floyd_warshall.c"] in README


def test_every_name_of_the_library_is_there():
    for name in re.findall(r"c2cu\.([a-z]\w*)\(", README):
        assert hasattr(c2cu, name)
