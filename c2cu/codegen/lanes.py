"""What cpu/lanes.h.j2 is filled with: vector types, instructions, and functions of complex.h."""

from __future__ import annotations

from ..base.libm import COMPLEX_PARTS
from ..ir.nodes import Call, Kernel
from ..ir.walk import expressions, statements, subexpressions


def complex_parts(kernel: Kernel) -> list[str]:
    """C for the parts of complex functions that a kernel calls."""
    every = (x for s in statements(kernel.body) for e in expressions(s) for x in subexpressions(e))
    return [_part(name) for name in sorted({x.name for x in every if isinstance(x, Call)} & COMPLEX_PARTS.keys())]


def _part(name: str) -> str:
    function, part = name.split("_")
    result, params = COMPLEX_PARTS[name]
    letters = "abcd"[: len(params)]
    numbers = (f"__builtin_complex({x}, {y})" for x, y in zip(letters[::2], letters[1::2]))
    value = f"__{part}__ __builtin_{function}({', '.join(numbers)})"
    return f"static {result} {name}({', '.join(f'{result} {x}' for x in letters)}) {{ return {value}; }}"


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


#: What x86 calls the elements of a vector.
_KINDS = {"f32": "ps", "f64": "pd", "i16": "epi16", "i32": "epi32", "u32": "epu32", "i64": "epi64", "u64": "epu64"}


def extreme_text(name: str, lanes: int) -> dict[str, str]:
    """The smaller or the larger of two vectors, as x86 has it; ``name``: "min_f32" and the like."""
    op, rep = name.split("_")
    width = lanes * int(rep[1:]) // 8
    kind = _KINDS[rep]
    of_bw = rep == "i16" and width == 64
    prefix, needs = {64: ("_mm512", "__AVX512F__"), 32: ("_mm256", "__AVX2__")}.get(width, ("_mm", "__SSE4_1__"))
    return {
        "name": name,
        "vector": rep,
        "mask": f"i{rep[1:]}",
        "sign": "<" if op == "min" else ">",
        "instruction": f"{prefix}_{op}_{kind}",
        "register": f"__m{8 * width}" + {"ps": "", "pd": "d"}.get(kind, "i"),
        "needs": "__AVX512VL__" if rep in ("i64", "u64") and width < 64 else "__AVX512BW__" if of_bw else needs,
    }


#: Functions that round to a whole number, and x86's number of how: the last two without "inexact".
_HOW = {"floor": 9, "ceil": 10, "trunc": 11, "rint": 4, "nearbyint": 12}
ROUNDINGS = frozenset(f"{name}{suffix}" for name in _HOW for suffix in ("", "f"))


def rounded_text(name: str, lanes: int) -> dict[str, object]:
    """A function that rounds each lane to a whole number; ``name``: "floor_f64" and the like. GCC has no vector
    instruction for a loop over the lanes without -ftree-slp-vectorize."""
    op, rep = name.split("_")
    width = lanes * int(rep[1:]) // 8
    register, kind = f"__m{8 * width}" + ("d" if rep == "f64" else ""), _KINDS[rep]
    needs, instruction = {
        64: ("__AVX512F__", "_mm512_roundscale"),
        32: ("__AVX__", "_mm256_round"),
        16: ("__SSE4_1__", "_mm_round"),
    }.get(width, ("", ""))
    return {
        "name": name,
        "vector": rep,
        "needs": needs,
        "instruction": f"{instruction}_{kind}(({register})x, {_HOW[op]})",
        "library": op + ("f" if rep == "f32" else ""),
    }


def pair_text(rep: str, lanes: int) -> dict[str, object]:
    """The function that loads an element and the next one for each lane: rows of two, transposed. Processors with
    AVX512-FP16, which gather faster than others, gather twice."""

    def side(first: int) -> str:
        """The rows of every other lane in one register."""
        register, text = "_mm256" if lanes == 4 else "_mm512", f"row({first})"
        text = f"{register}_cast{'si128_si256' if lanes == 4 else 'si128_si512'}({text})"
        for k in range(1, lanes // 2):
            insert = "_mm256_inserti128_si256" if lanes == 4 else "_mm512_inserti64x2"
            text = f"{insert}({text}, row({first + 2 * k}), {k})"
        return text

    return {
        "vector": rep,
        "scalar": next(str(v["scalar"]) for v in vectors(lanes, 8) if v["name"] == rep),
        "needs": {4: "__AVX2__", 8: "__AVX512DQ__"}.get(lanes, ""),
        "sides": (side(0), side(1)) if lanes in (4, 8) else (),
        "gathers": lanes == 8,
        "prefix": "_mm256" if lanes == 4 else "_mm512",
        "register": f"__m{64 * lanes}i",
    }


def fused_text(rep: str, lanes: int) -> dict[str, object]:
    """The function that multiplies and adds without rounding in between."""
    width, kind = lanes * int(rep[1:]), "ps" if rep == "f32" else "pd"
    prefix = {128: "_mm", 256: "_mm256", 512: "_mm512"}.get(width)
    return {
        "vector": rep,
        "suffix": "f" if rep == "f32" else "",
        "needs": "__AVX512F__" if width == 512 else "__FMA__",
        "instruction": f"{prefix}_fmadd_{kind}" if prefix else "",
        "register": f"__m{width}{'' if rep == 'f32' else 'd'}",
    }


def over_text(lanes: int) -> dict[str, object]:
    """What divides by products: see `codegen.division`."""
    fused = fused_text("f64", lanes)
    prefix = str(fused["instruction"]).partition("_fmadd")[0]
    whole = {4: "_mm256_movemask_pd((__m256d)odd)", 8: "_mm512_test_epi64_mask((__m512i)odd, (__m512i)odd)"}
    return {**fused, "least": f"{prefix}_min_pd", "any": whole.get(lanes, "")}


BEYOND = 3  # bytes that an instruction which gathers bytes may read behind the last one


def gather_text(element: str, own: bool, lanes: int) -> dict[str, object]:
    """The function that loads an element for each lane. ``own``: the lane's own, of those that stand lane by lane.

    A gather keeps what its register holds in lanes that are masked: zeros, so that none waits for what was there."""
    size = int(element[1:]) // 8
    loaded = max(size, 4)
    place, bits = f"(__m{32 * lanes}i)at", 8 * loaded
    instructions = []
    if lanes * loaded == 64:
        call = f"_mm512_mask_i32gather_epi{bits}(_mm512_setzero_si512(), -1, {place}, from, {size})"
        instructions.append(("defined(__AVX512F__)", call))
    elif lanes >= 4:
        prefix, word = "_mm256" if lanes * loaded == 32 else "_mm", "int" if loaded == 4 else "long long"
        zeros, all_lanes = f"{prefix}_setzero_si{8 * lanes * loaded}()", f"{prefix}_set1_epi32(-1)"
        call = f"{prefix}_mask_i32gather_epi{bits}({zeros}, (const {word} *)from, {place}, {all_lanes}, {size})"
        instructions.append(("defined(__AVX2__)", call))
    result = element if size >= 4 else "i32"
    return {
        "name": f"gather_own_{element}" if own else f"gather_{element}",
        "vector": result,
        "from": element if own else next(str(v["scalar"]) for v in vectors(lanes, 8) if v["name"] == element),
        "own": own,
        "above": 32 - 8 * size if size < 4 else 0,  # bits of the next elements
        "signed": element[0] == "i",
        "instructions": instructions,
    }


#: By bytes of an element and bits of a vector: the instruction, what it takes, and how it wants places.
_PERMUTES = {
    (4, 128): ("_mm_permutevar_ps", "__m128", "PLACES_4"),
    (4, 256): ("_mm256_permutevar8x32_epi32", "__m256i", "PLACES_8"),
    (8, 256): ("_mm256_permutevar8x32_epi32", "__m256i", "PLACES_OF_PAIRS"),
}


def mask_texts(lanes: int, widest: int) -> list[dict[str, object]]:
    """Comparisons and choices of vectors by masks of bits, for cpu/masks.h.j2."""
    out: list[dict[str, object]] = []
    blends = {128: "_mm", 256: "_mm256"}
    for name, kind in _KINDS.items():
        size = int(name[1:]) // 8
        if not 4 <= size <= widest:
            continue
        width = 8 * size * lanes
        permute, permuted, places = _PERMUTES.get((size, width), ("", "", ""))
        plain = kind.replace("epu", "epi")
        out.append(
            {
                "name": name,
                "prefix": "_mm512" if width == 512 else "_mm256",
                "kind": kind,
                "plain": plain,
                "register": f"__m{width}" + {"ps": "", "pd": "d"}.get(kind, "i"),
                "codes": _FLOAT_CODES if name[0] == "f" else _INTEGER_CODES,
                "blend": f"{blends[width]}_blendv_{'ps' if size == 4 else 'pd'}" if width in blends else "",
                "blended": f"__m{width}{'' if size == 4 else 'd'}",
                "needs": "__AVX2__" if width == 256 else "__SSE4_1__",
                "permute": permute,
                "permuted": permuted,
                "places": places,
            }
        )
    return out


_FLOAT_CODES = {
    "lt": ("<", "_CMP_LT_OS"),
    "le": ("<=", "_CMP_LE_OS"),
    "gt": (">", "_CMP_GT_OS"),
    "ge": (">=", "_CMP_GE_OS"),
    "eq": ("==", "_CMP_EQ_OQ"),
    "ne": ("!=", "_CMP_NEQ_UQ"),
}
_INTEGER_CODES = {
    "lt": ("<", "_MM_CMPINT_LT"),
    "le": ("<=", "_MM_CMPINT_LE"),
    "gt": (">", "_MM_CMPINT_NLE"),
    "ge": (">=", "_MM_CMPINT_NLT"),
    "eq": ("==", "_MM_CMPINT_EQ"),
    "ne": ("!=", "_MM_CMPINT_NE"),
}
