"""The collector of cycles does not run while trees are built, and runs again afterwards."""

import gc
import threading

import pytest

from c2cu.base.collecting import no_collection
from c2cu.frontend.parse import deep


@pytest.mark.parametrize("on", [True, False])
def test_it_is_afterwards_as_it_was(on):
    was_on = gc.isenabled()
    (gc.enable if on else gc.disable)()
    try:
        with no_collection(), no_collection():
            assert not gc.isenabled()
        assert gc.isenabled() == on
        with pytest.raises(ZeroDivisionError), no_collection():
            _ = 1 / 0
        assert gc.isenabled() == on
    finally:
        (gc.enable if was_on else gc.disable)()


def test_the_last_of_several_threads_turns_it_on():
    gc.enable()
    entered, leave = threading.Event(), threading.Event()

    def other():
        with no_collection():
            entered.set()
            leave.wait(10)

    thread = threading.Thread(target=other)
    with no_collection():
        thread.start()
        assert entered.wait(10)
    assert not gc.isenabled()
    leave.set()
    thread.join()
    assert gc.isenabled()


def test_trees_are_built_without_it():
    assert gc.isenabled()
    assert deep(gc.isenabled) is False
    assert gc.isenabled()
