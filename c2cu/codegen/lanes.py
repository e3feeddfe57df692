"""What cpu/lanes.h.j2 is filled with: vector types and instructions."""

from __future__ import annotations


def vectors(lanes: int, widest: int) -> list[dict[str, object]]:
    """The vector types of ``lanes`` lanes, for cpu/lanes.h.j2."""
    names = {
        "i8": "signed char",
        "u8": "unsigned char",
        "i16": "short",
        "u16": "unsigned short",
        "i32": "int",
        "u32": "unsigned int",
        "i64": "long",
        "u64": "unsigned long",
        "f32": "float",
        "f64": "double",
    }
    return [
        {
            "name": n,
            "scalar": c,
            "size": int(n[1:]) // 8,
            "mask": f"i{n[1:]}",
            "floating": n[0] == "f",
            "repeated": ", ".join(["x"] * lanes),
        }
        for n, c in names.items()
        if int(n[1:]) // 8 <= widest
    ]


def extreme_text(name: str, lanes: int) -> dict[str, str]:
    """The smaller or the larger of two vectors, as x86 has it; ``name``: "min_f32" and the like."""
    op, rep = name.split("_")
    width = lanes * int(rep[1:]) // 8
    kind = {"f32": "ps", "f64": "pd", "i32": "epi32", "u32": "epu32", "i64": "epi64", "u64": "epu64"}[rep]
    prefix, needs = {64: ("_mm512", "__AVX512F__"), 32: ("_mm256", "__AVX2__")}.get(width, ("_mm", "__SSE4_1__"))
    return {
        "name": name,
        "vector": rep,
        "mask": f"i{rep[1:]}",
        "sign": "<" if op == "min" else ">",
        "instruction": f"{prefix}_{op}_{kind}",
        "register": f"__m{8 * width}" + {"ps": "", "pd": "d"}.get(kind, "i"),
        "needs": "__AVX512VL__" if rep in ("i64", "u64") and width < 64 else needs,
    }
