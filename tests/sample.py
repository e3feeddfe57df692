"""Which cases of a parametrised test the quick run takes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def sampled(cases: Iterable[Any], every: int) -> list:
    """Arguments for `parametrize`: the first and each ``2 * every``th after it, and the others with --all only."""
    return [case if k % (2 * every) == 0 else slow(case) for k, case in enumerate(cases)]


def slow(case: Any) -> Any:
    return pytest.param(*(case if isinstance(case, tuple) else (case,)), marks=pytest.mark.slow)
