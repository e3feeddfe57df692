"""The host compiler: which one is taken, and what c2cu says where there is none."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import c2cu
from tests.workloads import EXAMPLES

ROOT = Path(c2cu.__file__).parent.parent
FLOYD = EXAMPLES / "floyd_warshall.c"


@pytest.mark.parametrize("words", [["check"], ["explain"], ["translate", "--p", "9"]], ids=lambda w: w[0])
def test_without_a_compiler_the_error_says_what_to_install(words, tmp_path):
    """A process that finds no program at all, nor the package ziglang."""
    script = "import sys; sys.modules['ziglang'] = None\nfrom c2cu.cli import main\nmain()"
    environment = {"PYTHONPATH": str(ROOT), "PATH": str(tmp_path), "C2CU_CACHE_DIR": str(tmp_path / "cache")}
    environment |= {k: v for k, v in os.environ.items() if k in ("HOME", "LANG", "LD_LIBRARY_PATH")}
    done = subprocess.run(
        [sys.executable, "-c", script, *words, str(FLOYD)], env=environment, capture_output=True, text=True
    )
    assert done.returncode == 1 and not done.stdout
    assert "[C2CU060]" in done.stderr and "pip install 'c2cu[zig]'" in done.stderr


def test_a_compiler_that_was_asked_for_is_missed(monkeypatch):
    monkeypatch.setenv("CC", "/nowhere/cc")
    with pytest.raises(c2cu.CompileError, match="of \\$CC is not found"):
        c2cu.check(FLOYD)
