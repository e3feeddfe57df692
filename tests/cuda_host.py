"""Runs a CUDA artifact or a whole CUDA program on the CPU, through cuda_on_cpu.h and cuda_runtime_on_cpu.h."""

from __future__ import annotations

import ctypes
import functools
import re
from pathlib import Path

import numpy as np

from tests.compiled import FOLDER, compiled_once, loaded

HEADER = Path(__file__).parent / "cuda_on_cpu.h"
RUNTIME = Path(__file__).parent / "cuda_runtime_on_cpu.h"
# -fno-gnu-unique: else a library stays loaded
_COMPILE = "g++ -std=c++17 -O0 -fwrapv -fno-strict-aliasing -ffp-contract=off -w -fPIC -fno-gnu-unique".split()
_DYNAMIC = re.compile(r"extern __shared__ __align__\(16\) unsigned char \w+\[\];")
_SHARED = "__shared__ __align__(16) unsigned char shared[SHARED];"
_LAUNCH = re.compile(r"([\w:]+)<<<(.+?),\s+(\w+)(?:,\s+(\w+),\s+(.*?))?>>>\(", re.S)


class _Slot(ctypes.Structure):
    _fields_ = [
        ("in_", ctypes.c_void_p),
        ("in_stride", ctypes.c_longlong),
        ("out", ctypes.c_void_p),
        ("out_stride", ctypes.c_longlong),
    ]


def shifted(array: np.ndarray, shift: int) -> np.ndarray:
    """A contiguous copy that starts ``shift`` bytes behind an address that is a multiple of 256."""
    memory = np.empty(array.nbytes + 512, np.uint8)
    at = -memory.ctypes.data % 256 + shift
    copy = memory[at : at + array.nbytes]
    copy[...] = np.ascontiguousarray(array).reshape(-1).view(np.uint8)  # padding too
    return copy.view(array.dtype).reshape(array.shape)


def slot_table(slots, inputs, p: int, in_place: bool = False, shift: int = 0, names: tuple[str, ...] | None = None):
    """The table that kernels get, the outputs by name, and what must live as long as the table. ``names``: of the
    outputs, all if None; ``in_place``, ``shift``: see `run_on_cpu`."""
    table = (_Slot * max(1, len(slots)))()
    outputs: dict[str, np.ndarray] = {}
    keep = []
    for entry, s in zip(table, slots):
        if s.name in inputs:
            a = shifted(inputs[s.name], shift)
            keep.append(a)
            entry.in_, entry.in_stride = a.ctypes.data, 0 if s.shared else s.nbytes
            if in_place and s.writes:
                outputs[s.name] = a
        if s.writes and (names is None or s.name in names):
            outputs.setdefault(s.name, shifted(np.empty((p, *s.shape), s.dtype), shift))
            entry.out, entry.out_stride = outputs[s.name].ctypes.data, s.nbytes
    return table, outputs, keep


@functools.cache
def _command(header: Path) -> list[str]:
    """g++ with a header compiled beforehand, which takes it as long as a kernel."""
    compiled_once([*_COMPILE, "-x", "c++-header", str(header)], "", f"{header.name}.gch")
    return [*_COMPILE, "-include", str(FOLDER / header.name), "-x", "c++", "-"]


def shared_library(text: str) -> ctypes.CDLL:
    """C++ text that may use CUDA, compiled."""
    return loaded(compiled_once([*_command(HEADER), "-shared"], text))


def run_on_cpu(
    artifact, inputs: dict[str, np.ndarray], p: int, in_place: bool = False, shift: int = 0, in_a_row: int = 1
) -> dict[str, np.ndarray]:
    """The outputs of p inputs by name; ``inputs`` as for `c2cu.bulk`. ``in_place``: where an input is an output too,
    one array serves for both. ``shift``: bytes that arrays lie behind an aligned address.
    ``in_a_row``: of blocks that share out the inputs, how many times fewer there are."""
    launches = []
    cooperative = _waits(artifact.text.split(" c2cu_run(")[-1].split("__global__")[0]) or artifact.shared_bytes
    for name in ("c2cu_pack", "c2cu_run", "c2cu_unpack"):
        if re.search(rf"__global__ void (__launch_bounds__\([\d, ]+\) )?{name}\(", artifact.text):
            barriers = "true" if name != "c2cu_run" or cooperative else "false"
            threads = artifact.threads
            launches.append(f"c2cu_launch({name}, slot, p, memory, lanes, {threads}, {barriers});")
    dynamic = rf"__shared__ \1[{max(16, artifact.shared_bytes)}];"
    device = re.sub(r"extern __shared__ (.*)\[\];", dynamic, artifact.text)
    text = (
        f"{device}\n"
        'extern "C" void everything(const c2cu_slots &slot, long long p, int lanes) {\n'
        "    size_t bytes = (size_t)c2cu_bytes * ((p + lanes - 1) / lanes);\n"
        "    void *memory = aligned_alloc(128, (bytes + 255) / 128 * 128);\n"
        f"    memset(memory, 0x5a, bytes);\n    {' '.join(launches)}\n    free(memory);\n}}\n"
    )
    library = shared_library(text)
    table, outputs, _keep = slot_table(artifact.slots, inputs, p, in_place, shift)
    library.everything(table, ctypes.c_longlong(p), artifact.inputs * in_a_row)
    return outputs


def _waits(text: str) -> bool:
    """Whether threads wait for each other."""
    return "__sync" in text or "_sync(" in text


def program_on_cpu(text: str) -> Path:
    """An executable of a standalone CUDA program. C2CU_SEED orders the work of its streams."""
    return compiled_once(_command(RUNTIME), _on_cpu(text))


def library_on_cpu(text: str) -> ctypes.CDLL:
    """A CUDA library's text. Its function ``finish`` waits for what was launched."""
    finish = 'extern "C" void finish() { cudaDeviceSynchronize(); }\n'
    return loaded(compiled_once([*_command(RUNTIME), "-shared"], _on_cpu(text) + finish))


def _on_cpu(text: str) -> str:
    """A text whose launches are calls of the runtime's."""
    several = _SHARED in text  # blocks of a kernel may wait for each other
    more = " + SHARED + 16" if several else ""

    def launch(m: re.Match[str]) -> str:
        return f"c2cu_launch_in({m[2]}, {m[3]}, {m[4] or 0}{more}, {m[5] or 'nullptr'}, {m[1]}, "

    waits = _waits(text) or "__nanosleep" in text
    text = _LAUNCH.sub(launch, text).replace(", )", ")")
    for array in (_SHARED, *_DYNAMIC.findall(text)):
        text = text.replace(array, f"unsigned char *{array.split()[-1].partition('[')[0]} = c2cu_shared_memory;")
    text = text.replace("__shared__ long long next;", "long long &next = *(long long *)(shared + SHARED);")
    return f"#define C2CU_BLOCKS {(3 if several else 1) if waits else 0}\n{text}"
