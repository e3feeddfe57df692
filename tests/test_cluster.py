"""docs/cluster.md: its scripts run as they stand, but for those that need another machine."""

import ast
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytest.importorskip("distributed")
pytest.importorskip("zarr")

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parent.parent
GUIDE = (ROOT / "docs" / "cluster.md").read_text()
BLOCKS = re.findall(r"^```python\n(.*?)^```", GUIDE, re.M | re.S)
SCRIPTS = {m[1]: block for block in BLOCKS if (m := re.match(r"# (\w+\.py)\n", block))}
COMMANDS = re.findall(r"^\$ (.*)$", GUIDE, re.M)
SECONDS = 400  # after which something hangs: eight at once on two cores took 78


@pytest.fixture
def place(tmp_path):
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    for name, text in SCRIPTS.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def environment() -> dict:
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    return {**os.environ, "PATH": path, "PYTHONPATH": str(ROOT)}


def run(script: str, place: Path) -> str:
    done = subprocess.run(
        [sys.executable, script], cwd=place, env=environment(), capture_output=True, text=True, timeout=SECONDS
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_one_machine(place):
    lines = run("local.py", place).splitlines()
    assert lines[0] == "(4096, 16, 16) float32 (8, 1, 1)" and 0 < float(lines[1]) < 1


def test_zarr(place):
    run("zarr_files.py", place)
    assert (place / "top.zarr").is_dir() and (place / "at.zarr").is_dir()


def test_scheduler_and_worker(place):
    assert [c.split()[:2] for c in COMMANDS] == [["dask", "scheduler"], ["dask", "worker"]]
    started = []
    try:
        for command in COMMANDS:
            with open(place / "log", "a") as log:
                started.append(subprocess.Popen(command.split(), cwd=place, env=environment(), stdout=log, stderr=log))
            until = time.monotonic() + SECONDS
            while not (place / "cluster.json").exists():
                assert time.monotonic() < until and started[0].poll() is None, (place / "log").read_text()
                time.sleep(0.05)
        run("cluster.py", place)
    finally:
        for process in reversed(started):
            process.terminate()
        for process in started:
            process.wait(SECONDS)


def test_the_others_are_python():
    others = [block for block in BLOCKS if block not in SCRIPTS.values()]
    assert len(others) == 2 and len(SCRIPTS) == 3
    for block in others:
        ast.parse(block)
        assert "SLURMCluster" in block or "LocalCUDACluster" in block
