"""A schedule is a folder and a line of the registry: what asks for schedules asks the registry."""

import sys
from types import ModuleType

import numpy as np
import pytest

import c2cu
from c2cu.report.explain import explanation
from c2cu.schedule import registry
from c2cu.schedule.native import NativeSchedule
from c2cu.schedule.registry import Entry
from c2cu.schedule.schedule import Schedule

TEXT = "float a[8];\nvoid k(void) { for (int i = 0; i < 8; i++) a[i] = 2 * a[i] + 1; }\n"


@pytest.mark.parametrize("entry", registry.REGISTRY, ids=lambda e: f"{e.backend}-{e.name}")
def test_every_line_has_a_schedule(entry):
    assert type(entry.schedule).emit is not Schedule.emit
    assert registry.find(entry.backend, entry.name) is entry
    assert entry.oversized in ("", *entry.variants)
    assert all(registry.find(entry.backend, v) is entry for v in entry.variants)


class BackwardSchedule(NativeSchedule):
    """Inputs one after the other, the last first."""

    def emit(self, understood, threads, variant):
        from dataclasses import replace

        forward = super().emit(understood, threads, variant)
        loop = "for (long c2cu_id = c2cu_begin; c2cu_id < c2cu_end; c2cu_id++)"
        assert loop in forward.text
        back = "for (long c2cu_id = c2cu_end; c2cu_id-- > c2cu_begin;)"
        return replace(forward, schedule="backward", text=forward.text.replace(loop, back))


def test_a_line_is_all_that_a_schedule_needs(monkeypatch):
    folder = ModuleType("c2cu.schedule.backward")
    folder.BackwardSchedule = BackwardSchedule
    monkeypatch.setitem(sys.modules, folder.__name__, folder)
    monkeypatch.setattr(
        registry, "REGISTRY", (Entry("cpu", "backward", "backward:BackwardSchedule"), *registry.REGISTRY)
    )
    a = np.random.default_rng(1).random((100, 8), np.float32)
    for schedule in ("backward", "auto"):
        program = c2cu.compile(TEXT, backend="cpu", schedule=schedule)
        assert np.array_equal(program(a), 2 * a + 1) and program.plan.schedule == "backward"
    assert explanation(program._front, "cpu", "auto", None, "exact", "")["schedule"] == "backward"
    with pytest.raises(c2cu.InputError, match="backward"):
        c2cu.compile(TEXT, backend="cuda", schedule="backward")
