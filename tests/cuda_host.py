"""Runs a CUDA artifact on the CPU, through cuda_on_cpu.h."""

from __future__ import annotations

import ctypes
import hashlib
import subprocess
from pathlib import Path

import numpy as np

HEADER = Path(__file__).parent / "cuda_on_cpu.h"


class _Slot(ctypes.Structure):
    _fields_ = [
        ("in_", ctypes.c_void_p),
        ("in_stride", ctypes.c_longlong),
        ("out", ctypes.c_void_p),
        ("out_stride", ctypes.c_longlong),
    ]


def run_on_cpu(artifact, inputs: dict[str, np.ndarray], p: int, folder: Path) -> dict[str, np.ndarray]:
    """The outputs of p inputs by name; ``inputs`` as for `c2cu.bulk`."""
    launches = []
    for name in ("c2cu_pack", "c2cu_run", "c2cu_unpack"):
        if f"__global__ void {name}(" in artifact.text:
            barriers = "true" if name != "c2cu_run" else "false"
            launches.append(f"c2cu_launch<c2cu_slot>({name}, slot, p, memory, lanes, {barriers});")
    text = (
        f'#include "{HEADER}"\n{artifact.text}\n'
        'extern "C" void everything(const c2cu_slot *slot, long long p, int lanes) {\n'
        "    size_t bytes = (size_t)c2cu_bytes * ((p + lanes - 1) / lanes);\n"
        "    void *memory = aligned_alloc(128, (bytes + 255) / 128 * 128);\n"
        f"    memset(memory, 0x5a, bytes);\n    {' '.join(launches)}\n    free(memory);\n}}\n"
    )
    library = folder / (hashlib.sha256(text.encode()).hexdigest()[:16] + ".so")
    command = [
        "g++",
        "-std=c++20",
        "-O1",
        "-fwrapv",
        "-fno-strict-aliasing",
        "-ffp-contract=off",
        "-w",
        "-shared",
        "-fPIC",
    ]
    done = subprocess.run(
        [*command, "-x", "c++", "-", "-o", str(library), "-pthread"], input=text.encode(), capture_output=True
    )
    assert done.returncode == 0, done.stderr.decode() + artifact.text
    table = (_Slot * max(1, len(artifact.slots)))()
    outputs: dict[str, np.ndarray] = {}
    keep = []
    for entry, s in zip(table, artifact.slots):
        if s.name in inputs:
            a = np.ascontiguousarray(inputs[s.name])
            keep.append(a)
            entry.in_, entry.in_stride = a.ctypes.data, s.nbytes
        if s.writes:
            outputs[s.name] = np.empty((p, *s.shape), s.dtype)
            entry.out, entry.out_stride = outputs[s.name].ctypes.data, s.nbytes
    ctypes.CDLL(str(library)).everything(table, ctypes.c_longlong(p), artifact.lanes)
    return outputs
