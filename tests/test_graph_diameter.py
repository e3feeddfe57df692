"""examples/graph_diameter against networkx."""

import runpy
from pathlib import Path

import networkx
import numpy as np
import pytest

from tests.sample import sampled

FOLDER = Path(__file__).parents[1] / "examples" / "graph_diameter"
GRAPHS = {
    "karate": networkx.karate_club_graph,
    "les miserables": networkx.les_miserables_graph,
    "davis": networkx.davis_southern_women_graph,
    "florentine": networkx.florentine_families_graph,
}


@pytest.fixture(scope="module")
def example():
    return runpy.run_path(str(FOLDER / "__main__.py"), run_name="graph_diameter")


@pytest.fixture
def run(example, capsys):
    def run(*arguments):
        status = example["main"]([*map(str, arguments), "--backend", "cpu"])
        said = capsys.readouterr()
        return status, said.out, said.err

    return run


def written(file: Path, g: networkx.Graph, weight: str = "") -> Path:
    names = {v: str(v).replace(" ", "_") for v in g}
    edges = (f"{names[u]} {names[v]} {data[weight] if weight else ''}" for u, v, data in g.edges(data=True))
    file.write_text("# a graph\n" + "\n".join(edges) + "\n")
    return file


@pytest.mark.parametrize("how", [(), ("--bfs",)], ids=["floyd-warshall", "bfs"])
@pytest.mark.parametrize("name", sampled(GRAPHS, 4))
@pytest.mark.slow
def test_real_graphs(name, how, run, tmp_path):
    g = GRAPHS[name]()
    status, out, _ = run(written(tmp_path / "g.txt", g), *how, "--out", tmp_path / "d.npy")
    assert status == 0
    assert f"diameter {networkx.diameter(g)}," in out
    assert f"average shortest path length {networkx.average_shortest_path_length(g):.6g}\n" in out
    order = list(dict.fromkeys(v for e in g.edges for v in e))
    d = np.load(tmp_path / "d.npy")
    for u, lengths in networkx.all_pairs_shortest_path_length(g):
        assert [lengths[v] for v in order] == d[order.index(u)].tolist()


@pytest.mark.parametrize(
    "name", sampled(["karate_club", "les_miserables", "davis_southern_women", "florentine_families"], 4)
)
def test_graphs_that_networkx_ships(name, run):
    g = getattr(networkx, f"{name}_graph")()
    status, out, _ = run("--real", name)
    assert status == 0 and out.startswith(f"{len(g)} vertices, {2 * g.size()} ordered pairs with an edge\n")
    assert f"diameter {networkx.diameter(g)}," in out
    assert f"average shortest path length {networkx.average_shortest_path_length(g):.6g}\n" in out


@pytest.mark.costly
@pytest.mark.parametrize("directed", [False, True])
def test_weights(directed, run, tmp_path):
    rng = np.random.default_rng(3)
    w = np.where(rng.random((20, 20)) < 0.4, rng.integers(1, 9, (20, 20)), 0).astype(np.float32)
    np.fill_diagonal(w, 0)
    np.save(tmp_path / "w.npy", w)
    g = networkx.from_numpy_array(
        w if directed else np.maximum(w, w.T), create_using=networkx.DiGraph if directed else None
    )
    if not directed:
        for u, v in g.edges:
            g[u][v]["weight"] = min(x for x in (w[u, v], w[v, u]) if x)
    status, out, _ = run(tmp_path / "w.npy", "--out", tmp_path / "d.npy", *["--directed"] * directed)
    want = dict(networkx.all_pairs_dijkstra_path_length(g))
    d = np.load(tmp_path / "d.npy")
    assert status == 0 and d.dtype == np.float64
    assert all(d[i, j] == want[i].get(j, np.inf) for i in range(20) for j in range(20))
    assert f"diameter {max(max(x.values()) for x in want.values()):g}," in out


def test_what_is_not_connected_is_said(run, tmp_path):
    (tmp_path / "g.txt").write_text("a b\nb c\nd e\n")
    status, out, _ = run(tmp_path / "g.txt")
    assert status == 0
    assert "not connected: 12 of 20 ordered pairs have no path, from a to d for one" in out and "diameter 2," in out


@pytest.mark.slow
def test_negative_weights(run, tmp_path):
    (tmp_path / "g.txt").write_text("a b 5\nb c -3\na c 4\nc d 1\n")
    status, out, _ = run(tmp_path / "g.txt", "--directed")
    assert status == 0 and "diameter 5, from a to b" in out
    (tmp_path / "g.txt").write_text("a b 5\nb c -3\nc b 2\n")
    status, out, err = run(tmp_path / "g.txt", "--directed")
    assert (status, out) == (1, "") and err == "vertex b is on a negative cycle: there are no distances\n"


@pytest.mark.parametrize(
    "text, message",
    [
        ("a b\nc\n", "g.txt:2: 'c' is not 'u v' or 'u v weight'"),
        ("a b x\n", "g.txt:1: 'a b x' is not"),
        ("a b nan\n", "g.txt:1:"),
        ("# nothing\n", "g.txt has no vertices"),
    ],
)
def test_bad_edge_lists(text, message, run, tmp_path):
    (tmp_path / "g.txt").write_text(text)
    status, out, err = run(tmp_path / "g.txt")
    assert (status, out) == (1, "") and message in err


@pytest.mark.parametrize(
    "array, message", [(np.ones((2, 3)), "shape (2, 3)"), (np.full((2, 2), np.nan), "NaN at [0, 0]")]
)
def test_bad_matrices(array, message, run, tmp_path):
    np.save(tmp_path / "w.npy", array)
    status, _, err = run(tmp_path / "w.npy")
    assert status == 1 and message in err


def test_other_mistakes(run, tmp_path):
    assert run(tmp_path / "none.txt")[2].endswith("none.txt: No such file or directory\n")
    (tmp_path / "g.txt").write_text("a b 2\n")
    assert run(tmp_path / "g.txt", "--bfs")[2] == "--bfs is for graphs without weights\n"
    with pytest.raises(SystemExit):
        run()


def test_compare(run):
    status, out, _ = run("--compare", "--vertices", "24")
    assert status == 0 and out.count(" ms") == 12 and "BFS" in out
