"""Runs the launches of a CUDA artifact on the CPU, streams and all."""

from __future__ import annotations

import ctypes
import functools
import random
import re
from collections.abc import Iterator

import numpy as np

from c2cu.frontend.options import options_of
from c2cu.frontend.preprocess import read_source
from c2cu.pipeline import understand
from c2cu.schedule.gep.require_gep import require_gep
from tests.cuda_host import shared_library, shifted, slot_table

_KERNEL = re.compile(r"__global__ void (?:__launch_bounds__\([\w, ]+\)\s+)?(c2cu_\w+)\((.*?)\) \{", re.S)
_STATIC = "__shared__ __align__(16) unsigned char shared[SHARED];"
_PARAMETERS = re.compile(r"^#define PARAMETERS (.*)$", re.M)


def taken(text: str, fp: str = "exact"):
    """What a schedule of type gep is made from: analysis, form, slots, layout, fp."""
    front = understand(read_source(text), options_of(fp=fp))
    assert front.analysis is not None
    gep = require_gep(front.analysis.kernel, front.gep)
    return front.analysis, gep, front.slots, front.layout, fp


def order(launches, seed: int | None = None) -> Iterator[int]:
    """Numbers of launches as a device may take them: a stream's in order, each after those it names, else as it likes.
    ``seed`` None: the last stream that can go on does."""
    chance = random.Random(seed)
    streams: dict[int, list[int]] = {}
    for n, x in enumerate(launches):
        streams.setdefault(x.stream, []).append(n)
    done: set[int] = set()
    while any(streams.values()):
        ready = [s for s, queue in streams.items() if queue and set(launches[queue[0]].after) <= done]
        assert ready, "launches wait for each other"
        n = streams[max(ready) if seed is None else chance.choice(ready)].pop(0)
        done.add(n)
        yield n


def run_launches(
    artifact,
    inputs: dict[str, np.ndarray],
    p: int,
    seed: int | None = 0,
    in_place: bool = False,
    at_once: int = 3,
    names: tuple[str, ...] | None = None,
) -> tuple[dict[str, np.ndarray], list[bool]]:
    """The outputs of p inputs by name, as `cuda_host.run_on_cpu`, and which inputs were done again in order.
    ``at_once``: blocks side by side. ``names``: of the outputs, all if None."""
    launched = library(artifact.text, artifact.threads, max(x.shared_bytes for x in artifact.launches))
    table, outputs, _keep = slot_table(artifact.slots, inputs, p, in_place, names=names)
    size = ctypes.c_ulonglong.in_dll(launched, "c2cu_bytes").value
    memory = shifted(np.full(p * size, 0x5A, np.uint8), 0)
    for n in order(artifact.launches, seed):
        x = artifact.launches[n]
        grid = (ctypes.c_uint * 3)(*((*x.grid, p) if x.grid[0] else (x.grid[1] * at_once, 1, 1)))
        arguments = (ctypes.c_int * 16)(*x.arguments)
        getattr(launched, f"launch_{x.kernel}")(
            grid, at_once, table, ctypes.c_longlong(p), ctypes.c_void_p(memory.ctypes.data), arguments
        )
    can_be = any(x.kernel == "c2cu_again" for x in artifact.launches)
    return outputs, [can_be and bool(flag) for flag in memory.view(np.int32)[:: size // 4]]


@functools.cache
def library(text: str, threads: int, shared: int = 0) -> ctypes.CDLL:
    """Functions launch_NAME for the kernels of a text. ``shared``: bytes of dynamic shared memory."""
    device = text if "#define SHARED " in text else f"#define SHARED {shared}\n{text}"
    for array in ("extern __shared__ __align__(16) unsigned char shared[];", _STATIC):
        device = device.replace(array, "unsigned char *shared = c2cu_shared_memory;")
    device = device.replace("__shared__ long long next;", "long long &next = *(long long *)(shared + SHARED);")
    assert "__shared__ " not in device.replace("#define", "")
    device = device.replace('extern "C" __device__ const', 'extern "C" const')
    plain = re.sub(
        r"\(PARAMETERS\b", "(" + _PARAMETERS.findall(text)[0], device
    )  # what all kernels have in common, spelled out
    entries = "\n".join(_entry(name, parameters, threads) for name, parameters in _KERNEL.findall(plain))
    return shared_library(f"{device}\n{entries}\n")


def _entry(name: str, parameters: str, threads: int) -> str:
    known = ["slot" if w == "C2CU_SLOTS" else w.split()[-1].lstrip("*") for w in parameters.split(",")]
    common = [w for w in known if w in ("slot", "p", "memory")]
    passed = ", ".join([*common, *(f"a[{k}]" for k in range(len(known) - len(common)))])
    return (
        f'extern "C" void launch_{name}(const unsigned *grid, unsigned at_once, const struct c2cu_slots &slot, long long p,\n'
        f"    unsigned char *memory, const int *a) {{\n    c2cu_grid({{grid[0], grid[1], grid[2]}}, {threads}, SHARED + 16, at_once, "
        f"[=] {{ {name}({passed}); }});\n}}"
    )
