"""The benchmark of one large matrix, with a device that computes on the CPU."""

import json
import math
from itertools import pairwise

import numpy as np
import pytest

from benchmarks import gep, measure, papers

pytestmark = pytest.mark.slow


class Slow(measure.Host):
    name = "a device"


def measured(wrong: str = ""):
    def one(device, kind, n, schedule, matrices, out, repeats):
        if schedule == "gep:graph":
            raise gep.c2cu.CompileError("C2CU064", "the device does not run it")
        out[0] = gep.stepwise(device, matrices[0], kind)
        if schedule == wrong:
            out[0, 1, 2] += 1
        ms = 2.0 if schedule == "gep:staged" else 3.0
        return {"ms": ms, "trelax_s": n**3 / ms / 1e9, "share": 0.5}

    return one


def test_it_compares_every_variant_and_draws(monkeypatch, tmp_path, capsys):
    pytest.importorskip("matplotlib")
    monkeypatch.setattr(gep, "one", measured())
    out, plot = str(tmp_path / "g.json"), str(tmp_path / "g.png")
    assert gep.main(["--n", "8,16", "--checked", "8", "--json", out, "--plot", plot], Slow()) == 1  # graph failed
    said = capsys.readouterr().out
    assert "WRONG" not in said and said.count("gep:staged") == 2 * 8  # with the fastest of each
    rows = json.loads((tmp_path / "g.json").read_text())["rows"]
    assert len(rows) == 2 * (4 * 5 + 1) and sum("failed" in r for r in rows) == 8
    assert (tmp_path / "g.png").read_bytes()[:4] == b"\x89PNG"
    (tmp_path / "g.png").unlink()
    assert gep.main(["--draw", out, "--plot", plot]) == 1
    assert (tmp_path / "g.png").read_bytes()[:4] == b"\x89PNG" and capsys.readouterr().out in said


def test_a_wrong_result_is_seen(monkeypatch, capsys):
    monkeypatch.setattr(gep, "one", measured(wrong="gep:single"))
    few = ["--n", "8", "--kind", "int32", "--schedule", "gep:staged,gep:single"]
    assert gep.main(few, Slow()) == 1
    assert "WRONG: 1 of 64 elements differ" in capsys.readouterr().out
    assert gep.main([*few, "--seconds", "-1"], Slow()) == 0


@pytest.mark.parametrize("kind", gep.KINDS, ids=lambda k: k.name)
def test_steps_on_arrays_are_what_the_c_does(kind):
    from tests.oracle import Original

    d = gep.graph(64, kind)
    expected = Original(kind.text(64), "f", [("D", kind.dtype, (64, 64))]).bulk({"D": d[None]}, 1)["D"][0]
    assert np.array_equal(gep.stepwise(Slow(), d, kind), expected) and not np.array_equal(d, expected)


def test_unknown_kinds_are_refused(capsys):
    with pytest.raises(SystemExit):
        gep.main(["--kind", "fp8"])
    assert "no kind fp8" in capsys.readouterr().err


def test_the_papers_figures_are_well_formed():
    """Each is of a known kind, once; a run takes longer the larger or the more the graphs, by nearly n^3 and m."""
    figures = papers.figures()
    assert len({(f.source, f.table, f.method, f.kind) for f in figures}) == len(figures)
    for f in figures:
        assert f.kind in papers.KINDS and f.source and f.table and f.machine and f.method
        for times in f.seconds.values():
            assert len(times) > 3
            most = 4.4 if f.gpu else 8  # a CPU's caches hold the smaller graphs alone
            for (n, t), (larger, longer) in pairwise(times.items()):
                assert 0.4 < math.log(longer / t) / math.log(larger / n) < most, (f.method, n)
        for (few, times), (many, more) in pairwise(f.seconds.items()):
            assert few < many and all(0.9 < more[n] / times[n] < 2.2 for n in more), (f.method, few)


def test_the_papers_figures_are_those_that_they_speak_of():
    """Rates and ratios in their texts: tasks a second, speedups from method to method and from table to table."""

    def seconds(source, table, method, graphs=1):
        return next(
            f.seconds[graphs] for f in papers.figures() if (f.source[:4], f.table, f.method) == (source, table, method)
        )

    assert 4096**3 / seconds("Lund", "1", "staged load")[4096] == pytest.approx(73.6e9, rel=1e-3)
    assert 4096**3 / seconds("Lund", "1", "Katz and Kider")[4096] == pytest.approx(14.9e9, rel=3e-3)
    assert 3770 / seconds("Bulu", "1", "recursive, optimized")[8192] == pytest.approx(479.3, rel=1e-3)
    speedups = {
        "3.1": (1.31, 1.16, 1.17, 1.05, 1.11, 1.14, 1.13, 1.13),
        "3.2": (1.12, 1.28, 1.13, 1.03, 1.04, 1, 1, 1.01),
    }
    for table, expected in speedups.items():
        many, one = (seconds("Taka", table, m) for m in ("multiple kernels", "single kernel"))
        assert [many[n] / one[n] for n in one] == pytest.approx(expected, abs=0.0101)
    for without, transfers in (("3.6", "3.8"), ("3.7", "3.9")):  # which take as long for either method
        for graphs in (8, 64, 512):
            many, one = (
                seconds("Taka", transfers, m, graphs)[2048] - seconds("Taka", without, m, graphs)[2048]
                for m in ("multiple kernels", "single kernel")
            )
            assert many == pytest.approx(one, rel=0.02)


def test_the_papers_stand_beside_the_fastest():
    assert papers.fastest(("4-bit",))["Tesla V100"][32768] == 11.402
    beside = papers.fastest(("float", "32-bit"))
    assert set(beside) == {"GeForce 8800 Ultra", "Tesla C1060", "Tesla V100"}  # no CPU
    assert (beside["Tesla V100"][1024], beside["Tesla C1060"][1024]) == (0.001327, 0.0274)
    assert papers.fastest(("32-bit",), 1024)["Tesla V100"][1024] == 0.717  # without transfers
    kind = {"kind": "int32", "trelax_s": 1.0, "share": 0.5, "wrong": ""}
    said = gep.table(
        [{**kind, "n": 1024, "schedule": f"gep:{s}", "ms": ms} for s, ms in (("staged", 2.0), ("graph", 0.5))]
    )
    assert "staged 4.00" in said and said.splitlines()[-1].endswith("Tesla C1060 27.4 (54.8x), Tesla V100 1.327 (2.7x)")


@pytest.mark.parametrize("limits, shared", [((10.0, 16.5, 33.0), True), ((10.0, 16.5, 33.0, 600.0), False)])
def test_kinds_of_other_orders_have_axes_of_their_own(limits, shared):
    pytest.importorskip("matplotlib")
    from benchmarks.plot_gep import figure

    kinds = [gep.Kind(f"kind {limit}", "int", "i4", "exact", limit) for limit in limits]
    rows = [
        {"kind": k.name, "n": n, "schedule": s, "ms": 1.0, "trelax_s": k.limit / 2}
        for k in kinds
        for n in (256, 512)
        for s in ("gep:staged", "gep:graph")
    ]
    axes = figure(rows, kinds, "device").axes
    assert [a.get_title(loc="left") for a in axes] == [k.name for k in kinds]
    assert (len({a.get_ylim() for a in axes}) == 1) == shared
    assert all(f"limit {limit:.1f}" in [t.get_text() for t in a.texts] for a, limit in zip(axes, limits))
