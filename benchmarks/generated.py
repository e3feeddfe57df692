"""Kernels that other programs have written: CasADi, SymPy, m2cgen, emlearn; and by hand, solvers in the manner of such
generators, searches and an environment. One core.

Beside each time: the same C compiled by `cc -O3 -march=native` and called in a loop over the same inputs, in the same
process and in turn, both by the processor's time. Medians, and the median of the ratios; all bits are compared. What is
not installed of the generators (`pip install casadi sympy m2cgen emlearn scikit-learn`) is left out, and said.

    python benchmarks/generated.py [--json FILE] [--quick]
"""

from __future__ import annotations

import importlib.util
import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent))

from benchmarks.data_ended import PROGRAMS, measured  # sets the number of threads
from benchmarks.measure import cpu_name, options, save

Case = tuple[str, str, dict[str, np.ndarray], tuple[str, ...], Path]


def cases(rng: np.random.Generator, quick: bool, folder: Path) -> Iterator[Case]:
    """(title, kernel, inputs, outputs, the folder of its file)"""
    p = 64 if quick else 16384

    def angles(*shape: int) -> np.ndarray:
        return rng.uniform(-2, 2, shape)

    if _is_there("casadi"):
        kernels = casadi_kernels(folder, few=quick)
        for name, (title, ins, outs) in kernels.items():
            count = p // 8 if "Jacobian" in title or "rollout" in title else p
            yield title, name, {n: angles(count, k) for n, k in ins.items()}, outs, folder
    if _is_there("sympy"):
        for name, title in sympy_kernels(folder).items():
            arm = {"angle": angles(p, 7), "length": rng.uniform(0.2, 1, (p, 7))}
            yield title, name, arm, ("jacobian",), folder
    if _is_there("m2cgen") and _is_there("sklearn"):
        forest = m2cgen_forest(folder, trees=4 if quick else 50)
        yield "m2cgen, a forest of 50 trees", "m2cgen_forest", {"features": forest(rng, p)}, ("score_of",), folder
    if _is_there("emlearn") and _is_there("sklearn"):
        forest = emlearn_forest(folder, trees=4 if quick else 50)
        yield "emlearn, a forest of 50 trees", "emlearn_forest", {"features": forest(rng, p)}, ("label",), folder
    yield from by_hand(rng, p // 4)


def by_hand(rng: np.random.Generator, p: int) -> Iterator[Case]:
    gas = {"conc": rng.uniform(0.1, 1, (p, 8)), "temp": rng.uniform(250, 350, p), "tend": rng.uniform(1, 100, p)}
    yield "kinetics, Rosenbrock as by KPP", "kpp", gas, ("reached", "steps"), PROGRAMS
    b = rng.uniform(-1, 1, (p, 6, 6))
    problem = {"P": (np.einsum("pij,pkj->pik", b, b) + 0.1 * np.eye(6)).reshape(p, 36)}
    limits = {"l": rng.uniform(-1, 0, (p, 8)), "u": rng.uniform(0, 1, (p, 8))}
    problem |= {"A": rng.uniform(-1, 1, (p, 48)), "q": rng.uniform(-1, 1, (p, 6)), **limits}
    yield "quadratic program, ADMM", "qp", problem, ("x", "iterations"), PROGRAMS
    board = np.array([[(3 * i + i // 3 + j) % 9 for j in range(9)] for i in range(9)]).ravel()
    boards = np.stack([rng.permutation(9)[board] + 1 for _ in range(p // 4)]).astype(np.uint8)
    boards[rng.permuted(np.tile(np.arange(81) < 45, (p // 4, 1)), axis=1)] = 0
    yield "sudoku, 45 squares free", "sudoku", {"given": boards}, ("solved", "nodes"), PROGRAMS
    p *= 16  # of small programs as many that a call takes little beside them
    patterns = ["ab*c", "^a.*b$", "a*b*c*d", ".*dd", "b.d", "abc", "c*a$", "^b*a"]
    of_bytes = np.array([list(x.encode().ljust(12, b"\0")) for x in patterns], np.int8)
    text = rng.integers(97, 101, (p, 48)).astype(np.int8)
    text[np.arange(48) >= rng.integers(20, 48, (p, 1))] = 0
    matched = {"re": of_bytes[rng.integers(0, len(patterns), p)], "text": text}
    yield "regular expressions", "regex", matched, ("found",), PROGRAMS
    game = {
        "seed": rng.integers(1, 1 << 31, p, dtype=np.uint32),
        "action": rng.integers(0, 4, (p, 64)).astype(np.uint8),
    }
    yield "snake, 64 steps", "snake", game, ("reward", "score"), PROGRAMS


def _is_there(module: str) -> bool:
    if importlib.util.find_spec(module) is not None:
        return True
    print(f"left out, as it is not installed: {module}", file=sys.stderr)
    return False


# CasADi


def casadi_kernels(folder: Path, few: bool) -> dict[str, tuple[str, dict[str, int], tuple[str, ...]]]:
    """Files with a cart pole's Runge-Kutta step and rollout, and a 6-joint arm's forward dynamics and their Jacobian:
    title, inputs with their numbers of doubles, and outputs of each."""
    import casadi as ca

    x, u = ca.SX.sym("x", 4), ca.SX.sym("u", 1)
    step = ca.Function("rk4_step", [x, u], [_rk4(_cart_pole, x, u, 0.02)])
    made = {"casadi_rk4": ("CasADi, RK4 step of a cart pole", step, {"x": 4, "u": 1}, {"y": 4})}
    start, pushes = ca.MX.sym("x", 4), ca.MX.sym("u", 50)
    state = start
    for k in range(50):
        state = step(state, pushes[k])
    rollout = ca.Function("rollout", [start, pushes], [state])
    made["casadi_rollout"] = ("CasADi, rollout of 50 steps", rollout, {"x": 4, "u": 50}, {"y": 4})
    q, qd, tau = (ca.SX.sym(n, 6) for n in ("q", "qd", "tau"))
    qdd = _acceleration(q, qd, tau)
    arm = {"q": 6, "qd": 6, "tau": 6}
    dynamics = ca.Function("dynamics", [q, qd, tau], [qdd])
    made["casadi_dynamics"] = ("CasADi, dynamics of 6 joints", dynamics, arm, {"qdd": 6})
    if not few:
        jacobian = ca.densify(ca.jacobian(qdd, ca.vertcat(q, qd, tau)))
        f = ca.Function("dynamics_jacobian", [q, qd, tau], [jacobian])
        made["casadi_jacobian"] = ("CasADi, Jacobian of these", f, arm, {"jac": 108})
    for name, (_, f, ins, outs) in made.items():
        (folder / f"{name}.c").write_text(_casadi_text(name, f, ins, outs))
    return {name: (title, ins, tuple(outs)) for name, (title, _, ins, outs) in made.items()}


def _casadi_text(name: str, f: Any, ins: dict[str, int], outs: dict[str, int]) -> str:
    """What CasADi generates, and a kernel over globals that calls it."""
    import casadi as ca

    generator = ca.CodeGenerator(f"{name}.c", {"with_header": False})
    generator.add(f)
    arrays = ", ".join(f"{n}[{k}]" for n, k in {**ins, **outs}.items())
    return f"""{generator.dump()}
double {arrays};
void {name}(void) {{
    const double *arg[{f.sz_arg()}] = {{{", ".join(ins)}}};
    double *res[{f.sz_res()}] = {{{", ".join(outs)}}};
    double w[{max(f.sz_w(), 1)}];
    long long iw[{max(f.sz_iw(), 1)}];
    {f.name()}(arg, res, iw, w, 0);
}}
"""


def _cart_pole(x: Any, u: Any) -> Any:
    import casadi as ca

    sine, cosine = ca.sin(x[1]), ca.cos(x[1])
    down = 1 + 0.1 * sine * sine
    first = (u[0] + 0.1 * sine * (0.5 * x[3] ** 2 + 9.81 * cosine)) / down
    second = (-u[0] * cosine - 0.05 * x[3] ** 2 * cosine * sine - 1.1 * 9.81 * sine) / (0.5 * down)
    return ca.vertcat(x[2], x[3], first, second)


def _rk4(f: Any, x: Any, u: Any, h: float) -> Any:
    a = f(x, u)
    b = f(x + h / 2 * a, u)
    c = f(x + h / 2 * b, u)
    d = f(x + h * c, u)
    return x + h / 6 * (a + 2 * b + 2 * c + d)


AXES = [2, 1, 1, 0, 1, 0]  # of the joints
LINKS = [[0, 0, 0.3], [0, 0, 0.4], [0.05, 0, 0.35], [0.2, 0, 0], [0.1, 0, 0], [0.08, 0, 0]]
MASSES = [4, 3.5, 2.5, 1.5, 1, 0.4]
INERTIAS = [
    *([0.03, 0.03, 0.02], [0.05, 0.05, 0.01], [0.03, 0.03, 0.01]),
    *([0.008, 0.01, 0.01], [0.003, 0.004, 0.004], [0.001, 0.001, 0.001]),
]


def _torques(q: Any, qd: Any, qdd: Any, gravity: float) -> Any:
    """Inverse dynamics by Newton and Euler's recursion."""
    import casadi as ca

    w, dw, a = ca.SX.zeros(3), ca.SX.zeros(3), ca.SX([0, 0, gravity])
    turns, forces, moments = [], [], []
    for k, axis in enumerate(AXES):
        turn, z = _turn(axis, q[k]), ca.DM([float(i == axis) for i in range(3)])
        turns.append(turn)
        w, dw, a = turn.T @ w, turn.T @ dw, turn.T @ a
        dw = dw + z * qdd[k] + ca.cross(w, z * qd[k])
        w = w + z * qd[k]
        link, inertia = ca.DM(LINKS[k]), ca.diag(ca.DM(INERTIAS[k]))
        center = a + ca.cross(dw, link / 2) + ca.cross(w, ca.cross(w, link / 2))
        forces.append(MASSES[k] * center)
        moments.append(inertia @ dw + ca.cross(w, inertia @ w))
        a = a + ca.cross(dw, link) + ca.cross(w, ca.cross(w, link))
    force, moment, torques = ca.SX.zeros(3), ca.SX.zeros(3), []
    for k in reversed(range(6)):
        turn, link = turns[k + 1] if k < 5 else ca.SX.eye(3), ca.DM(LINKS[k])
        outer = turn @ force
        moment = moments[k] + turn @ moment + ca.cross(link / 2, forces[k]) + ca.cross(link, outer)
        force = forces[k] + outer
        torques.append(moment[AXES[k]])
    return ca.vertcat(*reversed(torques))


def _turn(axis: int, q: Any) -> Any:
    import casadi as ca

    s, c, rows = ca.sin(q), ca.cos(q), ca.SX.eye(3)
    i, k = [n for n in range(3) if n != axis]
    if axis == 1:
        s = -s
    rows[i, i], rows[i, k], rows[k, i], rows[k, k] = c, -s, s, c
    return rows


def _acceleration(q: Any, qd: Any, tau: Any) -> Any:
    import casadi as ca

    still, unit = ca.SX.zeros(6), ca.SX(ca.DM.eye(6))
    mass = ca.horzcat(*(_torques(q, still, unit[:, k], 0.0) for k in range(6)))
    return ca.solve(mass, tau - _torques(q, qd, still, 9.81))


# SymPy


def sympy_kernels(folder: Path) -> dict[str, str]:
    """Files with the Jacobian of an arm of 7 links, its common subexpressions named or not: title of each."""
    import sympy

    angles, lengths = sympy.symbols("angle0:7"), sympy.symbols("length0:7")
    place = sympy.eye(4)
    for k in range(7):
        turn = (sympy.rot_axis2 if k % 2 else sympy.rot_axis3)(-angles[k])
        link = sympy.eye(4)
        link[2, 3] = lengths[k]
        place = place * sympy.diag(turn, 1) * link
    values = list(place[:3, 3].jacobian(angles))
    named = [f"double {s}{k} = {s}[{k}];" for s in ("angle", "length") for k in range(7)]
    for name, (common, rest) in {"sympy_cse": sympy.cse(values), "sympy_plain": ([], values)}.items():
        lines = [*named, *(f"double {x} = {sympy.ccode(e)};" for x, e in common)]
        lines += [f"jacobian[{k}] = {sympy.ccode(e)};" for k, e in enumerate(rest)]
        head = "#include <math.h>\ndouble angle[7], length[7], jacobian[21];\n"
        (folder / f"{name}.c").write_text(f"{head}void {name}(void) {{\n    " + "\n    ".join(lines) + "\n}\n")
    return {"sympy_cse": "SymPy, Jacobian of 7 links, with cse", "sympy_plain": "SymPy, the same without"}


# forests


def m2cgen_forest(folder: Path, trees: int) -> Any:
    import m2cgen
    from sklearn.ensemble import RandomForestRegressor

    x, y = _samples()
    model = RandomForestRegressor(trees, max_depth=8, random_state=0).fit(x, y)
    text = m2cgen.export_to_c(model)
    call = "double features[12], score_of;\nvoid m2cgen_forest(void) { score_of = score(features); }\n"
    (folder / "m2cgen_forest.c").write_text(text + "\n" + call)
    return lambda rng, p: x[rng.integers(0, len(x), p)] + rng.normal(scale=0.1, size=(p, 12))


def emlearn_forest(folder: Path, trees: int) -> Any:
    import emlearn
    from sklearn.ensemble import RandomForestClassifier

    x, y = _samples()
    model = RandomForestClassifier(trees, max_depth=8, random_state=0).fit((100 * x).astype(np.int16), y)
    made = emlearn.convert(model, method="inline", dtype="int16_t")
    made.save(name="forest", file=str(folder / "forest.h"), format="c")
    call = "int16_t features[12];\nint label;\nvoid emlearn_forest(void) { label = forest_predict(features, 12); }\n"
    (folder / "emlearn_forest.c").write_text((folder / "forest.h").read_text() + call)
    return lambda rng, p: (100 * x[rng.integers(0, len(x), p)] + rng.normal(scale=10, size=(p, 12))).astype(np.int16)


def _samples() -> tuple[np.ndarray, np.ndarray]:
    from sklearn.datasets import make_classification

    x, y, *_ = make_classification(4000, 12, n_informative=8, random_state=0)
    return x, y


def main(arguments: Sequence[str] | None = None) -> None:
    args = options(__doc__, arguments)
    rng = np.random.default_rng(0)
    print(f"{cpu_name()}; one core; microseconds an input, medians; seconds that c2cu.compile took")
    print(f"{'workload':38} {'p':>7} {'schedule':8} {'c2cu':>9} {'gcc loop':>9} {'times':>6} {'compile':>8}")
    rows = []
    with tempfile.TemporaryDirectory() as folder, patch.dict(os.environ, C2CU_CACHE_DIR=folder):  # all is compiled
        for title, name, inputs, outputs, place in cases(rng, args.quick, Path(folder)):
            r = measured(title, name, inputs, outputs, 1 if args.quick else 7, place)
            rows.append(r)
            figures = f"{r['c2cu_us']:9.4f} {r['gcc_us']:9.4f} {r['ratio']:6.2f} {r['compile_s']:8.2f}"
            print(f"{r['workload']:38} {r['p']:7} {r['schedule']:8} {figures}", flush=True)
    save(args.json, rows, cpu=cpu_name())


if __name__ == "__main__":
    main()
