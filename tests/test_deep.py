"""Room for deep recursion: any number of threads, and the process's limits as they were."""

import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

import c2cu
from c2cu.frontend.parse import DEPTH, deep


def down(n: int) -> int:
    return 0 if n == 0 else 1 + down(n - 1)


@pytest.fixture
def limits():
    before = sys.getrecursionlimit(), threading.stack_size()
    yield
    assert (sys.getrecursionlimit(), threading.stack_size()) == before


@pytest.mark.usefixtures("limits")
def test_eight_threads_in_check():
    text = "int a[8];\nvoid k(void) { for (int i = 0; i < 8; i++) a[i] = a[7 - i]; }\n"
    with ThreadPoolExecutor(8) as pool:
        assert all(r.oblivious for r in pool.map(c2cu.check, [text] * 24))


@pytest.mark.usefixtures("limits")
def test_the_limit_stays_until_the_last_thread_ends():
    """Seven end while the eighth is still deep down."""
    begun, ended = threading.Barrier(8), threading.Event()

    def work(k: int) -> int:
        begun.wait(60)
        if k == 0:
            ended.wait(60)
            assert sys.getrecursionlimit() == DEPTH
        return down(20_000)

    with ThreadPoolExecutor(8) as pool:
        tasks = [pool.submit(deep, lambda k=k: work(k)) for k in range(8)]
        assert [t.result(60) for t in tasks[1:]] == [20_000] * 7
        ended.set()
        assert tasks[0].result(60) == 20_000


@pytest.mark.usefixtures("limits")
def test_what_fails_inside_is_raised_outside():
    def work() -> None:
        raise KeyError("inside")

    with pytest.raises(KeyError, match="inside"):
        deep(lambda: deep(work))
