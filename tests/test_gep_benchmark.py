"""The benchmark of one large matrix, with a device that computes on the CPU."""

import json

import numpy as np
import pytest

from benchmarks import gep, measure


class Slow(measure.Host):
    name = "a device"


def measured(wrong: str = ""):
    def one(device, kind, n, schedule, given, out, repeats):
        if schedule == "gep:graph":
            raise gep.c2cu.CompileError("C2CU064", "the device does not run it")
        out[0] = gep.stepwise(device, given[0])
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
    assert "WRONG" not in said and said.count("gep:staged") == 2 * 6  # with the fastest of each
    rows = json.loads((tmp_path / "g.json").read_text())["rows"]
    assert len(rows) == 2 * 3 * 5 and sum("failed" in r for r in rows) == 6
    assert (tmp_path / "g.png").read_bytes()[:4] == b"\x89PNG"
    assert gep.main(["--draw", out, "--plot", plot]) == 1


def test_a_wrong_result_is_seen(monkeypatch, capsys):
    monkeypatch.setattr(gep, "one", measured(wrong="gep:single"))
    few = ["--n", "8", "--kind", "int32", "--schedule", "gep:staged,gep:single"]
    assert gep.main(few, Slow()) == 1
    assert "WRONG: 1 of 64 elements differ" in capsys.readouterr().out
    assert gep.main([*few, "--seconds", "-1"], Slow()) == 0


def test_steps_on_arrays_are_what_the_c_does():
    from tests.oracle import Original

    kind = gep.KINDS[1]
    d = gep.graph(24, kind)
    text = gep.TEXT.format(n=24, t=kind.type)
    expected = Original(text, "paths", [("D", "f4", (24, 24))]).bulk({"D": d[None]}, 1)["D"][0]
    assert np.array_equal(gep.stepwise(Slow(), d), expected) and not np.array_equal(d, expected)


def test_unknown_kinds_are_refused(capsys):
    with pytest.raises(SystemExit):
        gep.main(["--kind", "fp8"])
    assert "no kind fp8" in capsys.readouterr().err
