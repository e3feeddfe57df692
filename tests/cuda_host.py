"""Generated CUDA without a GPU: compiled by nvcc where there is one, and executed on the CPU."""

from __future__ import annotations

import ctypes
import functools
import hashlib
import re
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from c2cu.artifact import Artifact

HEADER = Path(__file__).parent / "cuda_on_cpu.h"
FLAGS = ["-std=c++17", "-O1", "-w", "-fPIC", "-shared", "-pthread", "-ffp-contract=off", "-fno-strict-aliasing"]
KERNELS = ("c2cu_pack", "c2cu_run", "c2cu_unpack")
_folder = tempfile.TemporaryDirectory(prefix="c2cu-cuda-")


def nvcc_accepts(text: str) -> str:
    """nvcc's messages where it rejects ``text`` or warns of it; "" where it is content or is not installed."""
    if shutil.which("nvcc") is None:
        return ""
    path = Path(_folder.name) / (hashlib.sha256(text.encode()).hexdigest()[:16] + ".cu")
    path.write_text(text)
    done = subprocess.run(
        ["nvcc", "-std=c++17", "--fmad=false", "-ptx", "-o", "/dev/null", str(path)], capture_output=True, text=True
    )
    return done.stdout + done.stderr if done.returncode else ""


def run_cuda_text(artifact: Artifact, inputs: Mapping[str, np.ndarray], p: int) -> dict[str, np.ndarray]:
    """The outputs of a CUDA artifact for ``p`` inputs. ``inputs``: batch-first arrays by name, (p, *shape); one
    copy for a shared slot. Raises AssertionError where signed arithmetic overflows, which a device compiler may use.
    """
    library = _library(artifact.text)
    table = np.zeros((max(1, len(artifact.slots)), 4), np.int64)
    kept, outputs = [], {}
    for row, slot in zip(table, artifact.slots):
        if slot.name in inputs:
            array = np.ascontiguousarray(inputs[slot.name])
            assert array.nbytes == slot.nbytes * (1 if slot.shared else p), slot.name
            kept.append(array)
            row[:2] = array.ctypes.data, 0 if slot.shared else slot.nbytes
        if slot.writes:
            outputs[slot.name] = np.zeros((p, *slot.shape), np.dtype(slot.dtype))  # type: ignore[call-overload]
            row[2:] = outputs[slot.name].ctypes.data, slot.nbytes
    blocks = -(-p // artifact.lanes)
    library.host_bytes.restype = ctypes.c_ulonglong
    memory = np.full(blocks * library.host_bytes() + 128, 0xA5, np.uint8)  # as undefined as device memory is
    start = -memory.ctypes.data % 128
    library.host_run(
        ctypes.c_void_p(table.ctypes.data),
        ctypes.c_longlong(p),
        ctypes.c_void_p(memory.ctypes.data + start),
        ctypes.c_uint(blocks),
        ctypes.c_uint(artifact.lanes),
    )
    return outputs


@functools.cache
def _library(text: str) -> ctypes.CDLL:
    kernels = [k for k in KERNELS if re.search(rf"__global__ void {k}\(", text)]
    barriers = "true" if "__syncthreads" in text else "false"
    calls = "".join(
        f"    cuda_launch([&] {{ {k}(slot, p, memory); }}, blocks, threads, {barriers});\n" for k in kernels
    )
    program = (
        f'#include "{HEADER}"\n{text}\nextern "C" unsigned long long host_bytes() {{ return c2cu_bytes; }}\n'
        f'extern "C" void host_run(const c2cu_slot *slot, long long p, void *memory, unsigned blocks, unsigned threads)'
        f" {{\n{calls}}}\n"
    )
    path = Path(_folder.name) / (hashlib.sha256(program.encode()).hexdigest()[:16] + ".so")
    done = subprocess.run(
        [
            "g++",
            *FLAGS,
            "-fsanitize=signed-integer-overflow",
            "-fsanitize-undefined-trap-on-error",
            "-x",
            "c++",
            "-",
            "-o",
            str(path),
        ],
        input=program,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[:4000] + "\n" + text
    return ctypes.CDLL(str(path))
