"""The benchmark of a matrix in bands, with a device that computes on the CPU."""

import json

import numpy as np
import pytest

from benchmarks import bands, gep, measure

pytestmark = pytest.mark.slow


class Slow(measure.Host):
    name = "a device"


def measured(monkeypatch, wrong: str = ""):
    def inside(device, text, matrices, repeats):
        return {"schedule": "gep:streams", "seconds": 1.0}, gep.stepwise(device, matrices[0])

    def outside(text, matrices, out, limit, devices, repeats):
        if limit == int(0.01 * matrices.nbytes):
            raise bands.c2cu.CompileError("C2CU064", "too little")
        out[0] = gep.stepwise(Slow(), matrices[0])
        if wrong and limit == int(float(wrong) * matrices.nbytes):
            out[0, 3, 4] += 1
        row = {"schedule": "gep:bands", "seconds": 2.0, "limit": limit, "band": 8, "bands": 2, "streamed": True}
        return {**row, "device_bytes": 1, "bus_gb_s": 1.0, "sent_gb_s": 0.0, "redone": 0}

    monkeypatch.setattr(bands, "inside", inside)
    monkeypatch.setattr(bands, "outside", outside)


def test_bands_are_compared_with_the_whole_matrix(monkeypatch, tmp_path, capsys):
    measured(monkeypatch)
    out = str(tmp_path / "b.json")
    few = ["--memory", "pageable", "--devices", "2"]
    assert bands.main(["--n", "16,24", "--share", "all,0.5", "--json", out, *few], Slow()) == 0
    rows = json.loads((tmp_path / "b.json").read_text())["rows"]
    assert [(r["n"], r["share"]) for r in rows] == [(n, s) for n in (16, 24) for s in (None, "all", "0.5")]
    assert rows[1]["limit"] is None and rows[2]["limit"] == 512 and rows[2]["devices"] == 2
    assert "WRONG" not in capsys.readouterr().out
    assert bands.main(["--n", "16", "--share", "0.01", *few], Slow()) == 1  # it does not fit


def test_a_wrong_result_is_seen(monkeypatch, capsys):
    measured(monkeypatch, wrong="0.5")
    assert bands.main(["--n", "16", "--share", "all,0.5", "--memory", "pageable"], Slow()) == 1
    assert capsys.readouterr().out.count("WRONG: 1 rows") == 1


def test_rows_that_differ_in_a_bit_are_counted():
    a = np.zeros((3, 3), "f4")
    b = a.copy()
    b[1, 1] = -0.0
    assert bands.differing(a, a) == 0 and bands.differing(a, b) == 1
