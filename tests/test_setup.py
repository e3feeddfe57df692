"""What the Makefile installs on which machine."""

import subprocess
import sys
from pathlib import Path

import pytest

from c2cu.base import driver

ROOT = Path(__file__).parent.parent
SMI = "| NVIDIA-SMI 570.86   Driver Version: 570.86   {}: {}     |"
FOR_DRIVER = {
    "12.4": ("CUDA Version", "cuda12"),
    "13.0": ("CUDA Version", "cuda13"),
    "13.1": ("CUDA UMD Version", "cuda13"),
    "14.2": ("CUDA Version", "cuda13"),
    "11.8": ("CUDA Version", ""),
}


def program(folder: Path, name: str, script: str) -> Path:
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return path


@pytest.fixture
def path(tmp_path) -> Path:
    """A folder that is the whole PATH, with no more than a shell."""
    folder = tmp_path / "path"
    folder.mkdir()
    (folder / "sh").symlink_to("/bin/sh")
    return folder


def make(path: Path, *words: str, **more: str) -> subprocess.CompletedProcess:
    command = [
        "/usr/bin/env",
        "make",
        *words,
        f"PYTHON={more.pop('python', sys.executable)}",
        f"VENV={path.parent}/venv",
    ]
    return subprocess.run(
        command, cwd=ROOT, env={"PATH": str(path), "CUDA_VISIBLE_DEVICES": "", **more}, capture_output=True, text=True
    )


@pytest.fixture(autouse=True)
def has_make(path):
    """`make` itself and what its recipes run, by their names."""
    for tool in ("make", "touch"):
        location = subprocess.run(["sh", "-c", f"command -v {tool}"], capture_output=True, text=True).stdout.strip()
        assert location, f"no {tool}"
        (path / tool).symlink_to(location)


@pytest.mark.parametrize("version", FOR_DRIVER)
def test_a_driver_brings_cupy_for_its_cuda(version, path, monkeypatch):
    title, extra = FOR_DRIVER[version]
    program(path, "nvidia-smi", f"echo '{SMI.format(title, version)}'")
    monkeypatch.setenv("PATH", str(path))
    assert driver.extra(driver.cuda_version()) == extra
    for target in ("run", "test"):
        done = make(path, "-n", target)
        assert (f"'.[{extra}]'" in done.stdout) == bool(extra) and "'.[]'" not in done.stdout, done


@pytest.mark.parametrize("smi", ["exit 9", "echo 'No devices were found'"])
def test_no_driver_no_cupy(smi, path):
    program(path, "nvidia-smi", smi)
    assert ".[cuda" not in make(path, "-n", "run").stdout


@pytest.mark.parametrize("name", ["cc", "gcc", "clang", "$CC"])
def test_with_a_compiler_no_ziglang(name, path):
    compiler = program(path, name.strip("$"), "exit 0")
    done = make(path, "-n", "run", **({"CC": str(compiler)} if name == "$CC" else {}))
    assert "'.[examples]'" in done.stdout


@pytest.mark.parametrize("target, extras", [("run", "examples,zig"), ("test", "examples,zig,test")])
def test_without_a_compiler_ziglang(target, extras, path):
    assert f"'.[{extras}]'" in make(path, "-n", target).stdout


@pytest.mark.parametrize("fails", [True, False])
def test_what_cannot_be_installed_for_a_gpu_does_not_stop_it(fails, path):
    """Python is a script that writes down what it is asked to install."""
    log = path.parent / "log"
    python = program(
        path,
        "python",
        f"""
case "$*" in
  *driver.py) echo cuda12;;
  "-m venv"*) /bin/mkdir -p "$3/bin"; /bin/ln -s "$0" "$3/bin/python";;
  *"install"*) echo "$*" >> {log}; case "$*" in *cuda12*) exit {int(fails)};; esac;;
esac""",
    )
    done = make(path, "run", python=str(python))
    assert done.returncode == 0
    assert [line.split()[-1] for line in log.read_text().splitlines()] == [".[examples,zig]", ".[cuda12]"]
    assert ("c2cu runs on the CPU" in done.stderr) == fails
    assert "examples/graph_atlas.py" in done.stdout
