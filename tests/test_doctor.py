"""`c2cu doctor` on machines that are made up: what is missing, and the command that mends it."""

import pytest
from click.testing import CliRunner

from c2cu.base import driver
from c2cu.cli import main
from c2cu.report import machine

NO_NVRTC = "CuPy failed to load libnvrtc.so.12: OSError: cannot open shared object file"
NO_HEADERS = 'catastrophic error: cannot open source file "vector_types.h"'
FINE = "with NVRTC and headers"
#: Name -> (CUDA version of the driver, installed packages, what a first kernel fails with, said of CuPy, its mending)
GPUS = {
    "no driver": (None, {}, "", "none: it needs an NVIDIA driver", ""),
    "CuPy without a driver": (None, {"cupy-cuda12x": "13.3"}, "", "13.3: it needs an NVIDIA driver", ""),
    "an old driver": ((11, 8), {}, "", "the driver is for CUDA 11.8: update it", ""),
    "no CuPy": ((12, 4), {}, "", "none, though there is a driver", "pip install 'c2cu[cuda12]'"),
    "no CuPy, CUDA 13": ((13, 1), {}, "", "none, though there is a driver", "pip install 'c2cu[cuda13]'"),
    "no NVRTC": ((12, 4), {"cupy-cuda12x": "13.3"}, NO_NVRTC, NO_NVRTC, "pip install 'c2cu[cuda12]'"),
    "no headers": ((13, 0), {"cupy-cuda13x": "14.2"}, NO_HEADERS, NO_HEADERS, "pip install 'c2cu[cuda13]'"),
    "a driver older than CuPy's CUDA": (
        (12, 8),
        {"cupy-cuda13x": "14.2"},
        "",
        "14.2 for CUDA 13, but the driver is for CUDA 12.8",
        "pip uninstall cupy-cuda13x && pip install 'c2cu[cuda12]'",
    ),
    "all is there": ((12, 8), {"cupy-cuda12x": "14.2"}, "", FINE, ""),
    "a driver newer than CuPy's CUDA": ((13, 1), {"cupy-cuda12x": "14.2"}, "", FINE, ""),
    "CuPy built from its source": ((12, 8), {"cupy": "14.2"}, "", FINE, ""),
}


def told(what: str) -> machine.Capability:
    return next(f for f in machine.findings() if f.what == what)


@pytest.mark.parametrize("name", GPUS)
def test_gpu(name, monkeypatch):
    version, packages, failure, state, mend = GPUS[name]
    monkeypatch.setattr(driver, "cuda_version", lambda: version)
    monkeypatch.setattr(machine, "_version", lambda package: packages.get(package, ""))
    monkeypatch.setattr(machine.cuda, "failure", lambda: failure)
    cupy = told("CuPy")
    assert state in cupy.state and cupy.mend == mend


def test_optional_packages_and_nvcc(monkeypatch):
    monkeypatch.setattr(machine, "_version", lambda package: "")
    monkeypatch.setattr(machine.toolchain, "find_nvcc", lambda: None)
    assert told("matplotlib").mend == "pip install 'c2cu[plot]'"
    assert told("zarr").mend == "pip install 'c2cu[zarr]'"
    assert told("dask").mend == "pip install 'c2cu[dask]'"
    assert "c2cu translate" in told("nvcc").state and told("nvcc").state.startswith("none")


def doctor():
    return CliRunner().invoke(main, ["doctor"])


def test_a_machine_where_c2cu_runs(monkeypatch):
    done = doctor()
    assert done.exit_code == 0 and "C compiler" in done.stdout


def test_no_compiler(monkeypatch, tmp_path):
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    done = doctor()
    assert done.exit_code == 1
    assert "no C compiler found" in done.stdout and "pip install 'c2cu[zig]'" in done.stdout


def test_a_compiler_without_headers(monkeypatch, tmp_path):
    """gcc where the package of C's headers is not installed."""
    fake = tmp_path / "cc"
    fake.write_text(
        "#!/bin/sh\n[ $1 = --version ] && exec gcc $1\necho '<stdin>:1:10: fatal error: math.h: No such file' >&2\nexit 1\n"
    )
    fake.chmod(0o755)
    monkeypatch.setenv("CC", str(fake))
    done = doctor()
    assert done.exit_code == 1
    assert "fatal error: math.h" in done.stdout and "export CC=" in done.stdout
