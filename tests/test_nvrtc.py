"""NVRTC takes the CUDA text of every kind of program: it compiles without a GPU, and is stricter than nvcc."""

import ctypes
import importlib.util
from pathlib import Path

import pytest

import c2cu
from c2cu import pipeline
from c2cu.frontend.preprocess import read_source
from c2cu.runtime.cuda import nvrtc_options
from c2cu.schedule import registry
from c2cu.schedule.choose import choose
from tests import conversions
from tests import test_annex_c as annex_c
from tests import test_partial_evaluation as partial
from tests.small_state import PROGRAMS as SMALL
from tests.workloads import WORKLOADS


def library() -> Path | None:
    """The package nvidia-cuda-nvrtc's."""
    spec = importlib.util.find_spec("nvidia")
    folders = spec.submodule_search_locations if spec else None
    return next((x for f in folders or () for x in Path(f).rglob("libnvrtc.so.*")), None)


pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(library() is None, reason="NVRTC is not installed: pip install nvidia-cuda-nvrtc"),
]

TEXTS = {
    **{f"annex C, {n}": (annex_c.text_of(*x), "kern") for n, x in annex_c.PROGRAMS.items()},
    **{f"lowering, {n}": (partial.case(*x)[0], "kern") for n, x in partial.PROGRAMS.items()},
    **{f"small, {n}": (text, fn) for n, (text, fn, _) in SMALL.items()},
    **{w.name: (w.text, w.fn) for w in WORKLOADS},
    **{f"floats to {i}": (conversions.case("double", i)[0], "kern") for i in conversions.INTEGERS},
}


def messages(text: str, options: tuple[str, ...]) -> str:
    """What NVRTC says of a text that it rejects; "" where it takes it."""
    path = library()
    assert path is not None
    for x in path.parent.glob("libnvrtc-builtins.so.*"):  # which NVRTC 13.0 looks for in the system's folders alone
        ctypes.CDLL(str(x))
    nvrtc = ctypes.CDLL(str(path))
    program, size = ctypes.c_void_p(), ctypes.c_size_t()
    assert not nvrtc.nvrtcCreateProgram(ctypes.byref(program), text.encode(), b"kernel.cu", 0, None, None)
    words = [o.encode() for o in ("--gpu-architecture=sm_90", *options)]
    failed = nvrtc.nvrtcCompileProgram(program, len(words), (ctypes.c_char_p * len(words))(*words))
    nvrtc.nvrtcGetProgramLogSize(program, ctypes.byref(size))
    log = ctypes.create_string_buffer(size.value)
    nvrtc.nvrtcGetProgramLog(program, log)
    nvrtc.nvrtcDestroyProgram(ctypes.byref(program))
    return log.value.decode() or "failed" if failed else ""


@pytest.mark.filterwarnings("ignore::c2cu.NotObliviousWarning")
@pytest.mark.parametrize("name", TEXTS)
def test_is_taken(name):
    text, fn = TEXTS[name]
    front = pipeline.understand(read_source(text), pipeline.Options(fn=fn))
    compiled = 0
    for schedule in registry.names("cuda"):
        try:
            artifact = choose(front, "cuda", schedule)[1]
        except c2cu.UnsupportedError:
            continue
        rejected = messages(artifact.text, nvrtc_options(artifact))
        assert not rejected, f"{schedule}: {rejected}"
        compiled += 1
    assert compiled or name.startswith("lowering")
