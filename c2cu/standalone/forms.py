"""A schedule's artifact as a text that others stand around: a library's function, a whole program."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from ..schedule import registry
from ..schedule.artifact import (
    BUSY,
    DEEP,
    IN_A_ROW,
    UNASKED,
    Artifact,
    CpuArtifact,
    CpuTeamArtifact,
    CudaArtifact,
    CudaLaunchesArtifact,
    Launch,
)
from ..schedule.choose import choose
from ..schedule.gang.functions import for_any_library

if TYPE_CHECKING:
    from ..schedule.understood import Understood

CUDA = (CudaArtifact, CudaLaunchesArtifact)
NATIVE = registry.names("cpu")[-1]
FORMS = (CpuArtifact, CpuTeamArtifact, *CUDA)  # the artifacts that have a form as a library and as a whole program


def form(front: Understood, target: str, schedule: str, p: int | None = None) -> Artifact | None:
    """The artifact of a schedule by name, or of the one that is chosen for ``p`` inputs (None: for many); None where it
    is not one of `FORMS`. Raises InputError for an unknown schedule, UnsupportedError where it does not take the
    program."""
    with for_any_library():
        artifact = choose(front, target, schedule, p=p)[1]
    return artifact if isinstance(artifact, FORMS) else None


def launched(artifact: Artifact) -> dict[str, Any]:
    """The values of ``cuda/launches.cuh.j2``, which launches all on one stream."""
    match artifact:
        case CudaArtifact():
            launches = tuple(Launch(k, shared_bytes=artifact.shared_bytes) for k in artifact.kernels)
        case CudaLaunchesArtifact():
            launches = artifact.one_stream or artifact.launches
        case _:
            raise AssertionError(artifact)
    text = re.sub(r'extern "C" __device__ (?:const )?(unsigned.* c2cu_bytes)', r"static const \1", artifact.text)
    return {
        "text": text.replace('extern "C" __global__', "static __global__").rstrip(),
        "launches": launches,
        "large": sorted({(x.kernel, x.shared_bytes) for x in launches if x.shared_bytes > UNASKED}),
        "block_inputs": artifact.inputs,
        "block_threads": artifact.threads,
        "given": _given(text, launches),
        "at_once": _at_once(artifact),
        "deep": DEEP if isinstance(artifact, CudaLaunchesArtifact) else 0,
    }


def _given(text: str, launches: tuple[Launch, ...]) -> list[str]:
    """The kernels that take arguments of their own behind those that all take: ``c2cu_pivot(..., block)``."""
    out = []
    for name in dict.fromkeys(x.kernel for x in launches if x.arguments):
        parameters = re.search(rf"\b{name}\(PARAMETERS, (.*?)\) {{", text, re.S)
        assert parameters is not None
        out.append(f"{name}(..., {', '.join(x.split()[-1] for x in parameters[1].split(','))})")
    return out


def _at_once(artifact: Artifact) -> dict[str, int] | None:
    """Where blocks share out the inputs: those of a multiprocessor that keep it busy, and the inputs of one if its
    threads have many."""
    if not isinstance(artifact, CudaArtifact) or artifact.refill is None:
        return None
    return {"busy": -(-BUSY // artifact.threads), "inputs": IN_A_ROW * artifact.inputs}
