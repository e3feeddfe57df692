"""For all tests: what `pytest` leaves out unless it is given ``--all``, and where what they compile goes."""

import os
import signal
import threading
import time
from collections import defaultdict

import pytest

from c2cu.program import kept
from c2cu.runtime import cpu, cuda, native
from c2cu.trace import run as tracing
from tests.answers import remember_answers
from tests.compiled import FOLDER
from tests.oracle import LENIENT


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--all", action="store_true", help="slow tests too, and kernels compiled as users' are")
    parser.addoption("--minutes", type=float, help="skip what has not started after so many")


def pytest_configure(config: pytest.Config) -> None:
    _listen_to_signals()
    os.environ["C2CU_VERIFY"] = "off"  # tests compare with gcc's results themselves
    kept.ON = False  # tests change stages
    if not config.getoption("all"):
        cpu.FLAGS = tuple(f.replace("-O3", "-O1") for f in cpu.FLAGS)
        native.FLAGS = tuple(f.replace("-O3", "-O1") for f in native.FLAGS)
        tracing.FLAGS = ("-O0", "-w")
    if config.getoption("minutes"):  # worker processes inherit it
        os.environ.setdefault("C2CU_TEST_END", str(time.time() + 60 * config.getoption("minutes")))


@pytest.fixture
def kept_programs(tmp_path, monkeypatch):
    """Programs are kept, in a cache of the test's own."""
    monkeypatch.setattr(kept, "ON", True)
    monkeypatch.setenv("C2CU_CACHE_DIR", str(tmp_path / "cache"))


def _listen_to_signals() -> None:
    """A shell starts what it runs in the background deaf to Ctrl-C, nohup to the terminal's end, and the programs that
    tests interrupt with it."""
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.default_int_handler)
        if hasattr(signal, "SIGHUP"):
            signal.signal(signal.SIGHUP, signal.SIG_DFL)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Random programs go last: of them there may be more than there is time for."""
    if not config.getoption("all"):
        config.hook.pytest_deselected(items=[x for x in items if x.get_closest_marker("slow")])
        items[:] = [x for x in items if not x.get_closest_marker("slow")]
        items[:] = _few_of_each_test(items, gpu=1 << 20 if cuda.available() else 1)
    items.sort(key=lambda x: "test_random_programs.py" in x.nodeid)


def _few_of_each_test(items: list[pytest.Item], gpu: int) -> list[pytest.Item]:
    """The first and the last of what differs in its parameters only, of what is costly the first; of tests on a GPU the
    first ``gpu``: without a device one says so for all."""
    tests: dict[tuple, list[pytest.Item]] = defaultdict(list)
    for x in items:
        tests[x.path, x.nodeid.partition("[")[0]].append(x)
    chosen = {x for cases in tests.values() for x in _few(cases, gpu)}
    return [x for x in items if x in chosen]


def _few(cases: list[pytest.Item], gpu: int) -> list[pytest.Item]:
    if cases[0].get_closest_marker("gpu"):
        return cases[:gpu]
    return cases[:1] if cases[0].get_closest_marker("costly") else [cases[0], cases[-1]]


def pytest_runtest_setup() -> None:
    if time.time() > float(os.environ.get("C2CU_TEST_END", "inf")):
        pytest.skip("no time left: see --minutes")


@pytest.fixture
def old_c(monkeypatch: pytest.MonkeyPatch) -> None:
    """A compiler that takes C of before C99, with a warning."""
    if LENIENT:
        monkeypatch.setenv("CC", " ".join(["gcc", *LENIENT]))


@pytest.fixture(autouse=True, scope="module")
def kernel_cache(request: pytest.FixtureRequest):
    """Compiled kernels are kept for the run: tests of a module, in whatever processes, share them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("C2CU_CACHE_DIR", str(FOLDER / request.module.__name__))
        remember_answers(patch)
        yield
