"""What the library does with loops of Gaussian-elimination type: sizes given as numbers, negative cycles, `explain`."""

import json
import warnings

import numpy as np
import pytest

import c2cu
from c2cu.cli import main
from tests.gep_cases import IJ, MIN, NEAR, RECOGNISED
from tests.sample import sampled

SIZED = MIN + (
    "void apsp(int n, float *D) {\n"
    "    for (int k = 0; k < n; k++)\n"
    "        for (int i = 0; i < n; i++)\n"
    "            for (int j = 0; j < n; j++)\n"
    "                D[i * n + j] = min(D[i * n + j], D[i * n + k] + D[k * n + j]);\n"
    "}\n"
)


def distances(d: np.ndarray) -> np.ndarray:
    for k in range(d.shape[1]):
        d = np.minimum(d, d[:, :, k, None] + d[:, k, None, :])
    return d


def graphs(p: int, n: int) -> np.ndarray:
    d = np.random.default_rng(n).integers(1, 50, (p, n, n)).astype(np.float32)
    d[:, range(n), range(n)] = 0
    return d


# A size that is given as a number


@pytest.mark.slow
def test_a_size_given_as_a_number_is_known():
    program = c2cu.compile(SIZED, backend="cpu")
    for n in (5, 9, 5):
        d = graphs(3, n)
        out = program({"D": d.reshape(3, -1), "n": n})
        assert np.array_equal(out.reshape(d.shape), distances(d))
        assert program._last.front.gep.updates == n**3
        assert program._last.front.trace.steps == 4 * n**3


@pytest.mark.costly
@pytest.mark.parametrize("schedule", ["gang", "native"])
@pytest.mark.parametrize("n", [6, np.int32(6), np.array(6, np.int32)], ids=["int", "int32", "array"])
def test_every_schedule_gets_the_number(schedule, n):
    d = graphs(3, 6)
    out = c2cu.bulk(SIZED, {"D": d.reshape(3, -1), "n": n}, backend="cpu", schedule=schedule)
    assert np.array_equal(out.reshape(d.shape), distances(d))
    shared = c2cu.bulk(SIZED, {"D": d.reshape(3, -1)}, shared={"n": n}, backend="cpu", schedule=schedule)
    assert np.array_equal(shared, out)


@pytest.mark.parametrize("schedule", sampled(["auto", "gep", "gang", "native"], 2))
def test_a_global_size_that_all_inputs_share(schedule):
    text = SIZED.replace("void apsp(int n, float *D)", "int n;\nvoid apsp(float *D)")
    program = c2cu.compile(text, backend="cpu", shared=["n"], schedule=schedule)
    for n in (5, 9, 5):
        d = graphs(3, n)
        out = program({"D": d.reshape(3, -1)}, shared={"n": n})
        assert np.array_equal(out.reshape(d.shape), distances(d))
        assert program._last.front.gep.updates == n**3


@pytest.mark.slow
def test_another_number_that_the_loops_use():
    text = SIZED.replace("int n,", "int n, float cap,").replace(
        "D[i * n + k] +", "D[i * n + k] > cap ? cap : D[i * n + k] +"
    )
    program = c2cu.compile(text, backend="cpu")
    for cap in (20, 1000.0):
        d = graphs(2, 5)
        out = program({"D": d.reshape(2, -1), "n": 5, "cap": cap}).reshape(d.shape)
        for k in range(5):
            u = d[:, :, k, None]
            d = np.minimum(d, np.where(u > cap, np.float32(cap), u + d[:, k, None, :]))
        assert np.array_equal(out, d)
        assert program._last.front.gep.updates == 125


def test_a_size_for_each_input():
    d = graphs(3, 6)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        out = c2cu.bulk(SIZED, {"D": d.reshape(3, -1), "n": np.array([6, 2, 0], np.int32)}, backend="cpu")
    assert np.array_equal(out[0].reshape(6, 6), distances(d)[0]) and np.array_equal(out[2], d[2].ravel())


def test_a_size_that_is_too_large_is_seen_before_the_run():
    with pytest.raises(c2cu.Error, match="outside 'D', which has 36 elements") as caught:
        c2cu.bulk(SIZED, {"D": graphs(2, 6).reshape(2, -1), "n": 7}, backend="cpu")
    assert caught.value.line == 6
    with pytest.raises(c2cu.InputError, match="does not fit int32"):
        c2cu.bulk(SIZED, {"D": graphs(2, 6).reshape(2, -1), "n": 1 << 40}, backend="cpu")


def test_other_programs_are_not_compiled_for_each_number():
    text = "void f(int n, float *a) {\n    for (int i = 0; i < n; i++) a[i] *= 2;\n}\n"
    program = c2cu.compile(text, backend="cpu")
    program({"a": np.ones((2, 8), np.float32), "n": 3})
    first = program._last
    assert np.array_equal(program({"a": np.ones((1, 8), np.float32), "n": 5})[0], [2] * 5 + [1] * 3)
    assert program._last.front is first.front


# Negative cycles


@pytest.mark.parametrize("name", sampled(["if", "fminf", "hoisted", "early continue", "short", "next"], 1))
def test_results_tell_negative_cycles(name):
    program = c2cu.compile(RECOGNISED[name][0], backend="cpu")
    inputs = {s.name: np.broadcast_to(50 - 50 * np.eye(12), (4, 12, 12)).astype(s.dtype) for s in program.slots}
    matrix = program.slots[0].name
    inputs[matrix][2, 4, 7], inputs[matrix][2, 7, 4] = -3, 2
    results = program(inputs)
    cycles = c2cu.paths.negative_cycles(results[matrix] if isinstance(results, dict) else results)
    assert cycles.shape == (4, 12) and cycles[2, 4] and cycles[2, 7] and not cycles[[0, 1, 3]].any()


def test_negative_weights_without_a_cycle_are_nothing_to_tell():
    d = graphs(3, 12)
    potential = np.arange(12, dtype=np.float32) * 7
    d += potential[:, None] - potential
    assert (d < 0).any()
    results = c2cu.bulk(RECOGNISED["if"][0], d, backend="cpu")
    assert np.array_equal(results, distances(d)) and not c2cu.paths.negative_cycles(results).any()


# explain


def explained(text: str, tmp_path, capsys) -> tuple[dict, str]:
    file = tmp_path / "f.c"
    file.write_text(text)
    main(["explain", str(file), "--backend", "cpu", "--json"], standalone_mode=False)
    data = json.loads(capsys.readouterr().out)
    main(["explain", str(file), "--backend", "cpu"], standalone_mode=False)
    lines = capsys.readouterr().out.split("\n")
    first = next((k for k, line in enumerate(lines) if line.startswith("form")), len(lines))
    told = [line[11:] for line in lines[first : first + 1]]
    told += [line[11:] for line in lines[first + 1 :] if line.startswith(" " * 11)][: len(told) * 2]
    return data["form"], "\n".join(told)


@pytest.mark.slow
def test_explain_says_what_is_computed_from_what(tmp_path, capsys):
    data, text = explained(RECOGNISED["next"][0], tmp_path, capsys)
    assert data["recognised"] and data["updates"] == 1728 and data["steps"] == 12
    assert data["arrays"] == ["D", "next"] and data["distances"] == ["D"]
    assert data["update"][0] == {"element": "D[i][j]", "from": ["D[i][k]", "D[k][j]"]}
    assert data["row_moves"] and data["column_moves"]
    assert "of Gaussian-elimination type: D[i][j] from D[i][k] and D[k][j]; next[i][j] from" in text
    assert "1,728 updates in 12 steps" in text
    assert "while no bit of row and column k changes; they change on a negative cycle only" in text


@pytest.mark.slow
def test_explain_of_an_elimination(tmp_path, capsys):
    data, text = explained(RECOGNISED["LU"][0], tmp_path, capsys)
    assert data["scale"] == ["D[i][k]"] and not data["row_moves"] and not data["distances"]
    assert "each step first computes D[i][k] anew" in text and "may be done at once" in text


@pytest.mark.slow
def test_explain_says_why_not(tmp_path, capsys):
    data, text = explained(NEAR["another row"][0], tmp_path, capsys)
    assert data == {
        "recognised": False,
        "near": True,
        "reason": "it also reads D[k + 1][j]",
        "file": data["file"],
        "line": 5,
        "column": data["column"],
    }
    assert "not of Gaussian-elimination type" in text and "f.c:5: it also reads D[k + 1][j]" in text


def test_explain_says_nothing_of_other_programs(tmp_path, capsys):
    data, text = explained(f"#define N 4\nfloat D[N][N];\nvoid f(void) {{ {IJ} D[i][j] *= 2; }}\n", tmp_path, capsys)
    assert data is None and not text


@pytest.mark.slow
def test_numbers_are_told_apart_by_their_bits():
    text = SIZED.replace("int n,", "int n, float a,").replace("= min(D[i * n + j],", "= a * min(D[i * n + j],")
    program, d = c2cu.compile(text, backend="cpu"), np.ones((1, 49), np.float32)
    for a in (0.0, -0.0, 0.0):
        arguments = {"D": d, "n": 7, "a": np.float32(a)}
        expected = c2cu.bulk(text, arguments, backend="cpu", schedule="native")
        assert np.signbit(expected).any() == np.signbit(a)
        assert np.array_equal(np.signbit(program(arguments)), np.signbit(expected))


def test_numbers_that_change_nothing_are_not_tried_again():
    """A product of matrices is not of the type, whatever it is scaled by."""
    text = (
        "void f(float al, float A[4][4], float C[4][4]) {\n    for (int i = 0; i < 4; i++) for (int j = 0; j < 4; j++) {\n"
        "        float s = 0;\n        for (int k = 0; k < 4; k++) s += A[i][k] * A[k][j];\n        C[i][j] = al * s;\n    }\n}\n"
    )
    program, a = c2cu.compile(text, backend="cpu"), np.ones((2, 4, 4), np.float32)
    program({"A": a, "al": 1.0})
    known = len(program._understandings)
    for al in (2.0, float("nan"), 3.0):
        program({"A": a, "al": al})
    assert len(program._understandings) == known
