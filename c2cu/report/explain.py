"""`c2cu explain`: what will run, where, why, and what it should cost."""

from __future__ import annotations

import contextlib
import json
from dataclasses import replace
from typing import Any

import numpy

from .. import tune
from ..base.diagnostics import UnsupportedError
from ..frontend.parse import deeply
from ..gep import Gep, NotGep, Place
from ..gep.closure import closure
from ..gep.distances import distances
from ..ir.nodes import Expr, Kernel, Region, Var
from ..ir.walk import expressions, statements, subexpressions
from ..program.contest import recalled
from ..program.verify import expected, mode
from ..schedule import registry
from ..schedule.artifact import Artifact, CpuArtifact, CudaArtifact
from ..schedule.choose import Measurement, Plan, choose, foreseen, require_known, scheduled
from ..schedule.estimate import USUAL, Device
from ..schedule.roofline import Limits, Roofline, rate, scaled
from ..schedule.schedule import Candidate
from ..schedule.slots import bytes_moved
from ..schedule.understood import Understood
from ..verdict import Report, report_of
from . import cost
from .idioms import idioms

_MATH = {
    "host": "host: functions of math.h have the bits of this machine's C library",
    "correct": "correct: functions of math.h are rounded correctly, with the same bits on every machine",
}
SHOWN = 3  # of a list that may be long


@deeply
def explanation(
    front: Understood,
    backend: str,
    schedule: str,
    p: int | None,
    fp: str,
    device: str,
    limits: Limits | None = None,
    speed: Device = USUAL,
) -> dict[str, Any]:
    """The explanation as plain data, for `as_json` and `text`. Its keys are the words that lines of the text begin
    with. ``limits``: of the machine; without them, the best time that it could reach is left out. ``speed``: of the
    device, for the schedules' estimates."""
    report = report_of(front)
    chosen, artifact = _chosen(front, backend, schedule, p, speed)
    unknown = cost.unknown_length(front)
    moved = bytes_moved(front.slots) if unknown is None else None
    return {
        "file": front.source.name,
        "kernel": front.kernel_name,
        "oblivious": report.oblivious,
        "constant_time": report.constant_time,
        "why_not_analysed": report.why_not,
        "findings": [
            {"kind": f.kind, "file": f.file, "line": f.line, "column": f.column, "message": f.message}
            for f in report.findings
        ],
        "variables": [
            {
                "name": s.name,
                "dtype": str(s.dtype),
                "shape": list(s.shape),
                "bytes": s.nbytes,
                "element_bytes": numpy.dtype(s.dtype).itemsize,
                "input": s.reads,
                "required": s.required,
                "zero_unless_given": s.zero,
                "output": s.writes,
                "shared": s.shared,
            }
            for s in front.slots
        ],
        "bytes_moved_per_input": moved,
        "p": p,
        "bytes_moved": moved * p if moved is not None and p is not None else None,
        "unknown_length": unknown.name if unknown is not None else None,
        "form": _gep(front),
        **_traced(front, p, limits),
        "backend": backend,
        "device": device,
        "schedule": chosen.schedule,
        "lanes": chosen.lanes or None,
        "refill": _refill(artifact),
        "lanes_functions": _functions(artifact),
        "alike": list(artifact.alike) or None if isinstance(artifact, CpuArtifact) else None,
        "threads": chosen.threads or None,
        "launches": dict(chosen.launches) or None,
        "rejected": [{"schedule": name, "reason": reason} for name, reason in chosen.rejected],
        "estimates": [{"schedule": e.schedule, "seconds_per_input": e.seconds(p, speed)} for e in chosen.estimates],
        "measured": _measured(chosen.measured),
        "rival": chosen.rival.schedule if chosen.rival is not None else None,
        "fp": fp,
        "math": front.math,
        "fp_gain": _gain(front, chosen, fp),
        "verify": expected(front, artifact, backend, mode("auto")),
    }


def _gep(front: Understood) -> dict[str, Any] | None:
    """Whether three nested loops are of Gaussian-elimination type, and how; or why not."""
    match front.gep:
        case None:
            return None
        case NotGep(message=message, loc=loc, is_near=is_near):
            return {
                "recognised": False,
                "near": is_near,
                "reason": message,
                "file": loc.file,
                "line": loc.line,
                "column": loc.column,
            }
        case Gep() as g:
            return {
                "recognised": True,
                "file": g.loc.file,
                "line": g.loc.line,
                "column": g.loc.column,
                "arrays": [r.name for r in g.regions],
                "steps": max(0, g.k.high - g.k.low),
                "updates": g.updates,
                "scale": [g.element(r, part.where) for part in g.scale for r, _ in part.values],
                "update": [
                    {"element": g.element(r, "ij"), "from": [g.element(p.region, p.where) for p in _sources(g, value)]}
                    for r, value in g.update.values
                ],
                "row_moves": g.row_moves,
                "column_moves": g.column_moves,
                "distances": [r.name for r in distances(g)],
                "closure": isinstance(closure(g), Region),
            }


def _sources(g: Gep, value: Expr) -> list[Place]:
    """The other elements that ``value``, the new value of an element, is computed from."""
    read = {x.var for x in subexpressions(value) if isinstance(x, Var)}
    return [p for p in g.update.places if p.variable in read and p.where != "ij"]


def _traced(front: Understood, p: int | None, limits: Limits | None) -> dict[str, Any]:
    """The part of the explanation that comes from the exact trace; every value is None where there is none."""
    trace = cost.complete(front)
    keys = ("steps", "operations", "footprint", "footprint_bytes", "loops", "faults", "model", "machine")
    sections: dict[str, Any] = {"why_not_traced": cost.untraced(front), **dict.fromkeys(keys)}
    if trace is None or front.analysis is None:
        return sections
    first = cost.first_accesses(front.analysis, trace)
    sections.update(
        steps=trace.steps,
        operations=dict(trace.operations),
        footprint=sum(r.footprint for r in trace.regions),
        footprint_bytes=sum(r.footprint * r.region.type.size for r in trace.regions),
        loops=cost.loops(front, trace),
        faults=cost.faults(trace),
        model=cost.model(trace, first, p) if first.elements else None,
    )
    if limits is not None:
        sections["machine"] = _roofline(cost.on_machine(front, trace, limits, p), limits)
    return sections


def _roofline(r: Roofline, limits: Limits) -> dict[str, Any]:
    return {
        "name": limits.name,
        "bandwidth": limits.bandwidth,
        "bandwidth_from": limits.bandwidth_from,
        "rate": r.peak,
        "rates": dict(limits.rates),
        "rates_from": limits.rates_from,
        "p": r.p,
        "bytes_moved": r.bytes_moved,
        "operations": r.operations,
        "not_counted": dict(r.unrated),
        "memory_seconds": r.memory,
        "operations_seconds": r.compute,
        "every_access_seconds": r.every_access,
        "binds": r.binds,
        "seconds": r.seconds,
    }


def _chosen(
    front: Understood, backend: str, schedule: str, p: int | None, device: Device
) -> tuple[Plan, Artifact | None]:
    """The artifact is None where an extent is not known yet."""
    if any(-1 in s.shape for s in front.slots):
        try:
            return replace(foreseen(front, backend, schedule), lanes=0), None
        except UnsupportedError as e:
            return Plan(backend, "none", ((schedule, e.diagnostic.message),), 0), None
    require_known(backend, schedule)
    measured = tune.recall(front, backend, schedule, p)
    if measured is not None:
        with contextlib.suppress(UnsupportedError):
            return scheduled(front, backend, measured.winner, measured)
    plan, artifact = choose(front, backend, schedule, p=p, device=device)
    while (measured := recalled(front, plan)) is not None and plan.rival is not None:
        following = plan.rival.after(measured.winner.schedule)
        plan, artifact = scheduled(front, backend, measured.winner, measured)
        plan = replace(plan, rival=following)
    return plan, artifact


def _refill(artifact: Artifact | None) -> dict[str, Any] | None:
    """The loop at whose end lanes or threads take other inputs, if there is one."""
    r = artifact.refill if isinstance(artifact, (CpuArtifact, CudaArtifact)) else None
    return None if r is None else {"file": r.loc.file, "line": r.loc.line, "gangs": r.gangs}


def _measured(m: Measurement | None) -> dict[str, Any] | None:
    if m is None:
        return None
    return {
        "p": m.p,
        "times": [{"schedule": c.schedule, "threads": c.threads, "seconds_per_input": t} for c, t in m.times],
        "rejected": [{"schedule": name, "reason": reason} for name, reason in m.rejected],
    }


def _gain(front: Understood, chosen: Plan, fp: str) -> str:
    """What another value of fp would give."""
    if fp == "fast":
        return "nothing: 'fast' already allows the most"
    if not registry.rounds_freely(chosen.backend, chosen.schedule):
        return f"nothing: schedule {chosen.schedule} rounds as C does under every value"
    if front.analysis is None or not _has_floats(front.analysis.kernel):
        return "nothing: there is no floating point"
    minima = idioms(front.analysis.kernel)
    shown = [f"{i.name} at {i.loc.file or '<input>'}:{i.loc.line}" for i in minima[:SHOWN]]
    more = [f"{len(minima) - SHOWN} more"] if len(minima) > SHOWN else []
    choices = f"{_joined([*shown, *more])} in place of compare and select, " if minima else ""
    return f"with fast: {choices}products and sums fused"


def _fp(e: dict[str, Any]) -> str:
    what, _, why = e["fp_gain"].partition(": ")
    if e["fp"] == "fast":
        return "fast, which allows the most"
    return f"{e['fp']}; --fp fast would {'not make it faster' if what == 'nothing' else 'allow'}: {why}"


def _has_floats(kernel: Kernel) -> bool:
    return any(x.type.is_float for s in statements(kernel.body) for e in expressions(s) for x in subexpressions(e))


def text(e: dict[str, Any], report: Report) -> str:
    """The explanation for a reader."""
    rows = [
        ("kernel", [e["kernel"], *map(_variable, e["variables"])]),
        ("steps", _steps(e)),
        ("form", _form(e["form"])),
        ("loops", [_loop(x) for x in e["loops"] or ()]),
        ("faults", [_fault(x) for x in e["faults"] or ()]),
        ("backend", [f"{e['backend']} ({e['device']})"]),
        ("schedule", _schedule(e)),
        ("memory", [_memory(e)]),
        ("model", _model(e)),
        ("machine", _machine(e["machine"]) if e["machine"] else []),
        ("fp", [_fp(e)]),
        ("math", [_MATH[e["math"]]]),
        ("verify", [e["verify"]]),
    ]
    lines = [str(report), ""]
    for name, texts in rows:
        lines += [f"{name if k == 0 else '':10} {line}" for k, line in enumerate(texts)]
    return "\n".join(lines)


def _variable(v: dict[str, Any]) -> str:
    roles = [
        r
        for r, on in (
            ("required input" if v["required"] else "input", v["input"]),
            ("zero unless given", v["zero_unless_given"]),
            ("output", v["output"]),
            ("shared", v["shared"]),
        )
        if on
    ]
    shape = ", ".join(["p"] * (not v["shared"]) + ["n" if n == -1 else str(n) for n in v["shape"]])
    element = v["dtype"]
    if element.startswith("{"):  # NumPy's description of a struct, which --json has
        element = f"struct of {v['element_bytes']} bytes"
    return f"{v['name']}: {element} ({shape}), {', '.join(roles) or 'scratch'}"


def _steps(e: dict[str, Any]) -> list[str]:
    if e["steps"] is None:
        return [f"not counted: {e['why_not_traced']}"]
    operations = [f"{n:,} {name}" for name, n in e["operations"].items()]
    return [
        f"t = {e['steps']:,} accesses to array elements; {e['footprint']:,} elements"
        f" ({e['footprint_bytes']:,} bytes) are touched",
        f"operations on data: {', '.join(operations) or 'none'}",
    ]


def _form(g: dict[str, Any] | None) -> list[str]:
    if g is None:
        return []
    if not g["recognised"] and not g["near"]:
        return []  # nobody would think of it; --json has why
    if not g["recognised"]:
        return [f"three loops, but not of Gaussian-elimination type: {_at(g)}: {g['reason']}"]
    computed = "; ".join(f"{u['element']} from {_joined(u['from'])}" for u in g["update"] if u["from"])
    lines = [f"of Gaussian-elimination type: {computed}; {g['updates']:,} updates in {g['steps']:,} steps"]
    if g["scale"]:
        lines.append(f"each step first computes {_joined(g['scale'])} anew")
    if g["closure"]:
        lines.append("a transitive closure: a GPU does large matrices of zeros and ones on bits")
    moving = [name for name, on in (("row", g["row_moves"]), ("column", g["column_moves"])) if on]
    if not moving:
        return [*lines, "a step's updates leave what they read of row and column k as it is: they may be done at once"]
    when = "; they change on a negative cycle only" if g["distances"] else ""
    return [*lines, f"a step's updates may be done at once while no bit of {_joined(moving)} k changes{when}"]


def _at(x: dict[str, Any]) -> str:
    return f"{x['file'] or '<input>'}:{x['line']}"


def _near(x: dict[str, Any], other: dict[str, Any]) -> str:
    return f"line {x['line']}" if x["file"] == other["file"] else _at(x)


def _loop(x: dict[str, Any]) -> str:
    entered = f" in {x['entries']:,} entries" if x["entries"] > 1 else ""
    turns = f"{_at(x)}: {x['turns']:,} turn{'s' * (x['turns'] != 1)}{entered}"
    if x["independent"]:
        b = x["barrier"]
        after = f", after a barrier: '{b['element']}' is used at {_near(b['first'], x)}" if b else ""
        return f"{turns}, independent{after}"
    if not x["conflicts"]:
        return f"{turns}, in order"
    more = f" (and {len(x['conflicts']) - 1} more)" if len(x["conflicts"]) > 1 else ""
    return f"{turns}, in order: {_conflict(x['conflicts'][0], x)}{more}"


def _conflict(c: dict[str, Any], loop: dict[str, Any]) -> str:
    name, first, second = f"'{c['element']}'", _near(c["first"], loop), _near(c["second"], loop)
    if c["kind"] == "output" and c["first"] == c["second"] == {k: loop[k] for k in ("file", "line", "column")}:
        return f"the last {name} is used after the loop"
    counts = {
        "flow": f"{name} is stored at {first}, and loaded at {second} in a later turn",
        "anti": f"{name} is loaded at {first}, and stored at {second} in a later turn",
        "output": f"{name} is stored at {first}, and again at {second} in a later turn",
    }[c["kind"]]
    return counts + ", depending on data" * c["conditional"]


def _fault(f: dict[str, Any]) -> str:
    counters = ", ".join(f"{name} = {value}" for name, value in f["counters"].items())
    when = ["if a branch on data is taken"] * (not f["certain"]) + [counters] * bool(counters)
    return f"{_at(f)}: {f['message']}" + (f" ({'; '.join(when)})" if when else "")


def _schedule(e: dict[str, Any]) -> list[str]:
    return [
        f"{e['schedule']}{_shape(e)}",
        *_refilled(e["refill"], "thread" if e["threads"] else "lane"),
        *_sorted(e["alike"]),
        *_side_by_side(e["lanes_functions"], e["backend"], e["math"]),
        *_times(e),
        *(f"not {r['schedule']}: {r['reason']}" for r in e["rejected"]),
    ]


def _shape(e: dict[str, Any]) -> str:
    """How inputs are laid over lanes, or over a block's threads."""
    lanes, threads = e["lanes"], e["threads"]
    if not lanes:
        return ""
    if registry.is_oversized(e["backend"], e["schedule"]):
        return f", a matrix in bands of rows, in blocks of {threads} threads; launches depend on the devices' memory"
    if e["launches"]:
        launches = ", ".join(f"{n} of {name}" for name, n in e["launches"].items())
        return f", the whole device at an input, in blocks of {threads} threads; launches: {launches}"
    inputs = f"{lanes} input{'s' if lanes > 1 else ''}"
    if not threads:
        return f", {inputs} side by side" if lanes > 1 else ", one input after the other"
    each = threads // lanes
    return f", {inputs} in a block of {threads} threads: {each} thread{'s' if each > 1 else ''} an input"


def _refilled(r: dict[str, Any] | None, worker: str) -> list[str]:
    if r is None:
        return []
    turns = f"; {r['gangs']} gangs of lanes go in turn" if r["gangs"] > 1 else ""
    return [f"a {worker} whose input has ended the loop at {_at(r)} takes the next input{turns}"]


def _functions(artifact: Artifact | None) -> dict[str, list[str]] | None:
    """The functions of math.h that have the library's bits: for all lanes at once, or lane by lane."""
    if artifact is None:
        return None
    alone = artifact.alone if isinstance(artifact, CpuArtifact) else ()
    return {"together": list(artifact.functions), "alone": list(alone)} if artifact.functions or alone else None


def _side_by_side(functions: dict[str, list[str]] | None, backend: str, math: str) -> list[str]:
    if functions is None:
        return []
    together, alone = functions["together"], functions["alone"]
    how = "all lanes at once, " if backend == "cpu" else ""
    whose = "with the bits of this machine's library" if math == "host" else "rounded correctly"
    said = [f"{', '.join(together)}: {how}{whose}"] if together else []
    return said + ([f"{', '.join(alone)}: lane by lane"] if alone else [])


def _sorted(names: list[str] | None) -> list[str]:
    if names is None:
        return []
    return [f"inputs are sorted by {' and '.join(names)}: those whose loops turn about as often go side by side"]


def _times(e: dict[str, Any]) -> list[str]:
    """What the candidates take, by measurement or by estimate."""
    m = e["measured"]
    if m is not None:
        times = [f"{Candidate(x['schedule'], x['threads'])} {scaled(x['seconds_per_input'])}" for x in m["times"]]
        chosen = f"chosen by measurement: {', '.join(times)} an input, for {m['p']:,} inputs"
        return [chosen, *(f"not measured: {r['schedule']}: {r['reason']}" for r in m["rejected"])]
    if e["rival"] is not None:
        what = "once there has been enough work, calls compare the two, and the faster one does most of it"
        return [f"{e['rival']} may be faster: {what}"]
    times = [f"{x['schedule']} {scaled(x['seconds_per_input'])}" for x in e["estimates"]]
    many = f"p = {e['p']:,}" if e["p"] is not None else "many inputs"
    return [f"by estimate: {', '.join(times)} an input, for {many}"] if times else []


def _memory(e: dict[str, Any]) -> str:
    if e["bytes_moved_per_input"] is None:
        name = e["unknown_length"]
        return f"not known: the length of '{name}' is not; --shape {name}=n tells it"
    total = f", {e['bytes_moved']:,} for p = {e['p']:,}" if e["p"] is not None else ""
    return f"{e['bytes_moved_per_input']:,} bytes in and out an input{total}"


def _model(e: dict[str, Any]) -> list[str]:
    m = e["model"]
    if m is None:
        return []
    formula = f"Unified Memory Machine, w = {m['width']}, l = {m['latency']}: "
    if m["column"] is None:
        formula += "column-wise t (p/w + l - 1) time units, row-wise t (p + l - 1)"
    else:
        times = m["row"] / m["column"]
        formula += f"column-wise {m['column']:,} time units, row-wise {m['row']:,}: {times:.1f} times as many"
    s = m["simulation"]
    counted = {name: s[name]["simulated"] for name in ("column", "row")}
    equal = all(s[name]["simulated"] == s[name]["formula"] for name in ("column", "row"))
    verdict = "equal to the formulas"
    if not equal:
        verdict = f"formulas {s['column']['formula']:,} and {s['row']['formula']:,}"
        verdict += f"; an input has only {m['words']} words, so neighbours share address groups" * (
            m["words"] < m["width"]
        )
    simulated = f"first {s['accesses']} accesses simulated for p = {s['p']}"
    return [formula, f"{simulated}: {counted['column']:,} and {counted['row']:,}, {verdict}"]


def _machine(r: dict[str, Any]) -> list[str]:
    memory = f"memory     {scaled(r['memory_seconds'])} at {rate(r['bandwidth'])}B/s ({r['bandwidth_from']})"
    operations = "operations no limit is known"
    if r["operations"]:
        limit = f"{scaled(r['operations_seconds'])} at {rate(r['rate'])}op/s ({r['rates_from']})"
        operations = f"operations {limit}"
    elif r["rates"] and not r["not_counted"]:
        operations = "operations none"
    left = [f"{n:,} {name}" for name, n in r["not_counted"].items()]
    many = f"p = {r['p']:,}" if r["p"] != 1 else "each of many inputs"
    return [
        memory,
        operations + (f"; not counted: {', '.join(left)}" if left else ""),
        f"{r['binds']} bind{'s' * (r['binds'] == 'memory')}: expect {scaled(r['seconds'])} at best for {many};"
        f" {scaled(r['every_access_seconds'])} if every access went to memory",
    ]


def _joined(parts: list[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def as_json(e: dict[str, Any]) -> str:
    return json.dumps(e, indent=1)
