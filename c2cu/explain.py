"""`c2cu explain`: what will run, where, and why."""

from __future__ import annotations

import json
from typing import Any

from . import pipeline, plan
from .diagnostics import UnsupportedError
from .front import Front
from .ir import Kernel
from .report import Report, report_of
from .walk import expressions, statements, subexpressions


def explanation(front: Front, backend: str, schedule: str, p: int | None, fp: str, device: str) -> dict[str, Any]:
    """All there is to say, as plain data."""
    report = report_of(front)
    chosen, rejected, why = _chosen(front, backend, schedule)
    slots = front.slots
    moved = sum(s.nbytes * (s.reads + s.writes) for s in slots if -1 not in s.shape)
    return {
        "file": front.source.name,
        "kernel": front.program.kernel.name,
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
                "input": s.reads,
                "required": s.required,
                "output": s.writes,
                "shared": s.shared,
            }
            for s in slots
        ],
        "bytes_moved_per_input": moved,
        "p": p,
        "bytes_moved": moved * p if p is not None else None,
        "backend": backend,
        "device": device,
        "schedule": chosen,
        "lanes": why,
        "rejected": [{"schedule": name, "reason": reason} for name, reason in rejected],
        "fp": fp,
        "fp_gain": _fp_gain(front, chosen, fp),
    }


def _fp_gain(front: Front, schedule: str, fp: str) -> str:
    """What another value of fp would give."""
    if fp == "fast":
        return "nothing: this is the freest"
    if schedule != "registers":
        return f"nothing: schedule {schedule} rounds as C does under every value"
    if front.analysis is None or not _has_floats(front.analysis.kernel):
        return "nothing: there is no floating point"
    return "with fast: comparisons that choose become minima and maxima, products and sums are fused"


def _has_floats(kernel: Kernel) -> bool:
    return any(x.type.is_float for s in statements(kernel.body) for e in expressions(s) for x in subexpressions(e))


def _chosen(front: Front, backend: str, schedule: str) -> tuple[str, tuple[tuple[str, str], ...], int | None]:
    if any(-1 in s.shape for s in front.slots):
        try:
            found = plan.choose(backend, schedule, front.analysis, front.why_not)
        except UnsupportedError as e:
            return "none", ((schedule, e.diagnostic.message),), None
        return found.schedule, found.rejected, None
    found, artifact = pipeline.schedule(front, backend, schedule)
    return found.schedule, found.rejected, artifact.lanes


def text(e: dict[str, Any], report: Report) -> str:
    """The explanation for a reader."""
    lines = [str(report), "", f"kernel     {e['kernel']}"]
    for v in e["variables"]:
        roles = [
            r
            for r, on in (
                ("required input" if v["required"] else "input", v["input"]),
                ("output", v["output"]),
                ("shared", v["shared"]),
            )
            if on
        ]
        shape = ", ".join(["p"] * (not v["shared"]) + ["n" if n == -1 else str(n) for n in v["shape"]])
        lines.append(f"           {v['name']}: {v['dtype']} ({shape}), {', '.join(roles) or 'scratch'}")
    lines.append(f"backend    {e['backend']} ({e['device']})")
    lanes = f", {e['lanes']} input{'s' if e['lanes'] > 1 else ''} side by side" if e["lanes"] else ""
    lines.append(f"schedule   {e['schedule']}{lanes}")
    lines += [f"           not {r['schedule']}: {r['reason']}" for r in e["rejected"]]
    lines.append(
        f"memory     {e['bytes_moved_per_input']} bytes in and out an input"
        + (f", {e['bytes_moved']} for p = {e['p']}" if e["p"] is not None else "")
    )
    lines.append(f"fp         {e['fp']}; more freedom would gain {e['fp_gain']}")
    return "\n".join(lines)


def as_json(e: dict[str, Any]) -> str:
    return json.dumps(e, indent=1)
