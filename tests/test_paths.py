"""Shortest paths from the three tables in use, against distances; and errors that say what is wrong with a table."""

import numpy as np
import pytest

import c2cu
from c2cu import paths

N = 12
TEXT = """
#define N 12
int D[N][N]; short next[N][N], pred[N][N], mid[N][N];
void apsp(void) {
    for (int k = 0; k < N; k++)
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++)
                if (D[i][k] + D[k][j] < D[i][j]) {
                    D[i][j] = D[i][k] + D[k][j];
                    next[i][j] = next[i][k];
                    pred[i][j] = pred[k][j];
                    mid[i][j] = k;
                }
}
"""
FAR = 1 << 20


def inputs(p: int, edges: float, negative: bool = False) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(5)
    w = np.where(rng.random((p, N, N)) < edges, rng.integers(1, 30, (p, N, N)), FAR)
    if negative:
        potential = rng.integers(0, 40, N)
        w = np.where(w < FAR, w + potential[:, None] - potential, w)
    w[:, range(N), range(N)] = 0
    there, i = w < FAR, np.arange(N)
    tables = {"next": np.where(there, i, -1), "pred": np.where(there, i[:, None], -1), "mid": np.full_like(w, -1)}
    return {"D": w.astype(np.int32)} | {name: t.astype(np.int16) for name, t in tables.items()}


def along(w: np.ndarray, path: list[int]) -> int:
    return sum(int(w[a, b]) for a, b in zip(path, path[1:]))


@pytest.mark.parametrize("negative", [False, True])
@pytest.mark.parametrize("edges", [0.12, 0.3, 1.0])
def test_every_path_is_as_long_as_the_distance(edges, negative):
    arguments = inputs(4, edges, negative)
    out = c2cu.bulk(TEXT, arguments, backend="cpu")
    for q in range(4):
        w, d = arguments["D"][q], out["D"][q]
        float_d = np.where(d < FAR // 2, d, np.inf)
        for i in range(N):
            for j in range(N):
                if np.isfinite(float_d[i, j]):
                    for path in (
                        paths.path(out["next"][q], i, j),
                        paths.by_predecessor(out["pred"][q], i, j),
                        paths.by_middle(out["mid"][q], i, j, float_d),
                    ):
                        assert path[0] == i and path[-1] == j and len(set(path)) == len(path)
                        assert along(w, path) == d[i, j]
                else:
                    for find, table in ((paths.path, "next"), (paths.by_predecessor, "pred"), (paths.by_middle, "mid")):
                        with pytest.raises(c2cu.InputError, match=f"there is no path from {i} to {j}"):
                            find(out[table][q], i, j, float_d)
        lengths, arrived = paths.lengths(w, out["next"][q])
        assert np.array_equal(arrived, np.isfinite(float_d)) and np.array_equal(lengths[arrived], d[arrived])


def test_no_path_without_distances():
    table = np.full((3, 3), -1)
    with pytest.raises(c2cu.InputError, match="there is no path from 0 to 2"):
        paths.path(table, 0, 2)
    assert paths.path(table, 1, 1) == paths.by_predecessor(table, 1, 1) == paths.by_middle(table, 1, 1) == [1]


def test_circles():
    table = np.array([[0, 1, 1], [1, 1, 0], [2, 2, 2]])
    with pytest.raises(c2cu.InputError, match=r"leads in a circle from 0 to 2: 0, 1, 0, 1.*\n.*negative cycle"):
        paths.path(table, 0, 2)
    with pytest.raises(c2cu.InputError, match="leads in a circle from 0 to 2"):
        paths.lengths(np.ones((3, 3)), table)
    with pytest.raises(c2cu.InputError, match="leads in a circle"):
        paths.by_predecessor(np.array([[0, 2, 1], [1, 1, 1], [2, 2, 2]]), 0, 1)
    with pytest.raises(c2cu.InputError, match="leads in a circle"):
        paths.by_middle(np.full((4, 4), 2), 0, 1)


@pytest.mark.parametrize(
    "table, source, target, message",
    [
        (np.zeros((3, 4), int), 0, 1, r"shape \(3, 4\)"),
        (np.zeros((2, 3, 3), int), 0, 1, "one graph's"),
        (np.zeros((3, 3)), 0, 1, "dtype float64"),
        (np.zeros((3, 3), int), 3, 1, "source is 3"),
        (np.zeros((3, 3), int), 0, -1, "target is -1.*\n.*0 to 2"),
    ],
)
def test_tables_that_are_none(table, source, target, message):
    for find in (paths.path, paths.by_predecessor, paths.by_middle):
        with pytest.raises(c2cu.InputError if "is" in message[:10] else TypeError, match=message):
            find(table, source, target)


def test_negative_cycles():
    d = np.zeros((2, 5, 5), np.float32)
    d[1, 3, 3] = -2
    assert np.argwhere(paths.negative_cycles(d)).tolist() == [[1, 3]]


def test_a_vertex_is_a_whole_number():
    table = np.zeros((3, 3), np.int32)
    for wrong in (1.5, "1", None):
        with pytest.raises(c2cu.InputError, match="target is "):
            paths.path(table, 0, wrong)
