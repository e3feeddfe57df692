"""benchmarks/reach.py: tables of functions to try, gcc as the judge, and the page that it prints."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import numpy as np
import pytest

SCRIPT = Path(__file__).parent.parent / "benchmarks" / "reach.py"
TABLE = """
title = "A base"
include = ["inc"]
define = ["STEP=3"]
[[functions]]
files = ["{}.c", "other.c"]
try = [
    "add n=4 x:f32[4]@-1..1 y>f32[4] .calls:i32@0..9",
    "add/odd x:i32",
    "length s:str[6]",
    "find s:str[6]",
]
"""
FILES = {
    "add.c": '#include "step.h"\nint calls; int twice(int);\nvoid add(int n, const float *x, float *y) '
    "{ for (int i = 0; i < n; i++) y[i] = x[i] + STEP; calls = twice(calls); }\nint odd(int x) { return x & 1; }",
    "length.c": "int length(const char *s) { int n = 0; while (s[n]) n++; return n; }",
    "find.c": "char *find(const char *s) { while (*s && *s < 'm') s++; return *s ? (char *)s : 0; }",
    "other.c": "int twice(int x) { return 2 * x; }",
    "inc/step.h": "#ifndef STEP\n#error no step\n#endif\n",
}


@pytest.fixture
def reach():
    spec = importlib.util.spec_from_file_location("reach", SCRIPT)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    import sys

    sys.modules["reach"] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules["reach"]


@pytest.fixture
def bases(tmp_path):
    for name, text in FILES.items():
        path = tmp_path / "base" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (tmp_path / "base.toml").write_text(TABLE)
    return tmp_path


def test_tables_and_inputs(reach, bases):
    titles, trials = reach.trials(bases)
    assert titles == {"base": "A base"} and [t.function for t in trials] == ["add", "odd", "length", "find"]
    assert trials[1].files[0].endswith("add.c")
    arrays = reach.inputs(trials[0])
    assert {n: (a.dtype, a.shape) for n, a in arrays.items()} == {
        "x": (np.float32, (37, 4)),
        "y": (np.float32, (37, 4)),
        "calls": (np.int32, (37,)),
    }
    assert np.abs(arrays["x"]).max() <= 1 and arrays["calls"].max() <= 9 and not arrays["y"].any()
    text = reach.inputs(trials[2])["s"]
    assert (text[:, -1] == 0).all() and ((text == 0) | ((text >= 97) & (text <= 122))).all()


def test_what_differs_is_found(reach, bases):
    trial = reach.trials(bases)[1][0]
    arrays = reach.inputs(trial)
    expected, returned, is_place = reach.judged(trial, arrays, bases)
    assert not is_place
    right = {n: expected[n].view(arrays[n].dtype).reshape(arrays[n].shape) for n in ("y", "calls")}
    assert (right["y"] == arrays["x"] + np.float32(3)).all() and (right["calls"] == 2 * arrays["calls"]).all()
    assert reach._difference(trial, right, arrays, expected, returned) == ""
    wrong = {**right, "y": right["y"] + np.eye(37, 4, dtype="f4")}
    assert reach._difference(trial, wrong, arrays, expected, returned) == "'y' differs for 4 inputs, first 0"
    assert "no output" in reach._difference(trial, {"y": right["y"]}, arrays, expected, returned)


def test_where_a_pointer_points(reach, bases):
    trial = reach.trials(bases)[1][3]
    arrays = reach.inputs(trial)
    _, returned, is_place = reach.judged(trial, arrays, bases)
    late = (arrays["s"] >= ord("m")) & (np.cumprod(arrays["s"] != 0, axis=1) == 1)
    expected = np.where(late.any(axis=1), late.argmax(axis=1), -1)
    assert is_place and (np.ascontiguousarray(returned).view("i8")[:, 0] == expected).all() and (expected > 0).any()


@pytest.mark.slow
def test_a_run_prints_the_page(reach, bases):
    page, outcomes = bases / "page.md", bases / "outcomes.json"
    reach.main(["--bases", str(bases), "--table", str(page), "--results", str(outcomes)])
    assert [o["outcome"] for o in json.loads(outcomes.read_text())] == ["analysed"] * 4
    assert "100% exact, 100% analysed" in page.read_text() and "| A base | 4 | 4 |" in page.read_text()
