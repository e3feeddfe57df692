"""Subscripts that depend on data, in small tables of constants: permutes of registers that hold the table, no gathers.

A permute looks up in one part of the table, and the higher bits of the subscript tell which part has the element. What
it looks up are bytes, or words of four bytes: a short is half of a word, a long or a double is two of them.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..base.ctype import BOOL
from ..ir.nodes import Region
from .simd import is_table, member, memory

TOGETHER = 32  # elements of a table of bytes, beyond which four lookups in one go take less than four


def is_taken_together(r: Region) -> bool:
    """Whether four lookups in ``r`` are one, each of a byte of every lane."""
    return is_table(r) and r.type.size == 1 and r.count > TOGETHER and r.type != BOOL


def padded(r: Region) -> int:
    """Elements of a table that fills registers."""
    size = r.count * r.type.size
    return (64 if size <= 64 else -(-size // 128) * 128) // r.type.size


@dataclass(frozen=True)
class Form:
    """Instructions for registers of ``register`` bytes. ``permute``: looks up in part ``k`` of the table, of ``part``
    bytes. ``blend``: the elements of ``b`` where a subscript has the bit, else those of ``a``; "" where a table may be
    no longer than a part. ``most``: bytes of a table beyond which gathers are faster; of twice as many, where four
    lookups are one.

    For AVX2 measured on one core of an AMD EPYC (Zen 3), nanoseconds of 8 lookups among others: a gather 2.4 to 3.8; of
    bytes 0.4 in a table of 16, 0.7 of 32, 1.2 of 64, 2.4 of 128, 4.5 of 256; of words 0.4 in a table of 8, 1.2 of 16,
    2.1 of 32; four at once in a table of 256 bytes 9.8."""

    needs: str
    register: int
    part: int
    permute: str
    blend: str
    most: int
    x_above: str = "x"  # the subscript of an element above 127, where its highest bit would give 0
    unit: int = 4  # bytes of what a permute of words or longs looks up

    def text(self, unit: int, nbytes: int) -> str:
        """What stands at ``x``, which counts ``unit`` bytes each, in a table of so many bytes."""
        width = self.part
        while width < nbytes:
            width *= 2
        return self.among(0, width, unit, nbytes)

    def among(self, first: int, width: int, unit: int, nbytes: int) -> str:
        """The same, of the bytes from ``first`` on."""
        if width == self.part:
            return self.permute.format(k=first // width, x="x" if first < 128 else self.x_above)
        half = width // 2
        low = self.among(first, half, unit, nbytes)
        if first + half >= nbytes:
            return low
        high = self.among(first + half, half, unit, nbytes)
        return self.blend.format(a=low, b=high, bit=(half // unit).bit_length() - 1)


_TEST = "_mm512_mask_blend_epi{0}(_mm512_test_epi{0}_mask(x, _mm512_set1_epi{0}(({1})(1u << {{bit}}))), {{a}}, {{b}})"
_BIT_OF_BYTE, _BIT_OF_WORD = _TEST.format(8, "char"), _TEST.format(32, "int")
_BIT_OF_LONG = _TEST.format(64, "long long")
_BYTES = (
    Form("__AVX512VBMI__", 64, 64, "_mm512_permutexvar_epi8(x, PART(512, {k}))", "", 64),
    Form(
        "__AVX512VBMI__",
        64,
        128,
        "_mm512_permutex2var_epi8(PART(512, 2 * {k}), x, PART(512, 2 * {k} + 1))",
        _BIT_OF_BYTE,
        256,
    ),
    Form(
        "__AVX512BW__",
        64,
        16,
        "_mm512_shuffle_epi8(_mm512_broadcast_i32x4(PART(128, {k})), {x})",
        _BIT_OF_BYTE,
        128,
        "_mm512_and_si512(x, _mm512_set1_epi8(127))",
    ),
    Form(
        "__AVX2__",
        32,
        16,
        "_mm256_shuffle_epi8(_mm256_broadcastsi128_si256(PART(128, {k})), x)",
        "_mm256_blendv_epi8({a}, {b}, _mm256_slli_epi16(x, 7 - {bit}))",
        64,
    ),
)
_WORDS = (
    Form("__AVX512F__", 64, 64, "_mm512_permutexvar_epi32(x, PART(512, {k}))", "", 64),
    Form(
        "__AVX512F__",
        64,
        128,
        "_mm512_permutex2var_epi32(PART(512, 2 * {k}), x, PART(512, 2 * {k} + 1))",
        _BIT_OF_WORD,
        256,
    ),
    Form(
        "__AVX2__",
        32,
        32,
        "_mm256_permutevar8x32_epi32(PART(256, {k}), x)",
        "(__m256i)_mm256_blendv_ps((__m256){a}, (__m256){b}, (__m256)_mm256_slli_epi32(x, 31 - {bit}))",
        64,
    ),
)
_LONGS = (
    Form("__AVX512F__", 64, 64, "_mm512_permutexvar_epi64(x, PART(512, {k}))", "", 64, unit=8),
    Form(
        "__AVX512F__",
        64,
        128,
        "_mm512_permutex2var_epi64(PART(512, 2 * {k}), x, PART(512, 2 * {k} + 1))",
        _BIT_OF_LONG,
        256,
        unit=8,
    ),
    _WORDS[-1],
)
_FORMS = {1: _BYTES, 2: _WORDS, 4: _WORDS, 8: _LONGS}


def lookup_text(r: Region, count: int, lanes: int, together: bool, bytes_of: bool = False) -> dict[str, object]:
    """What cpu/lookups.h.j2 is filled with for a table, of which ``count`` elements are looked up. ``together``: four
    lookups are one somewhere; ``bytes_of``: and give bytes."""
    unit, element = r.type.size, memory(r.type)
    nbytes, width = unit * count, lanes * max(4, unit)
    four = together or bytes_of
    able = [f for f in _FORMS[unit] if lanes >= 4 and width <= f.register and (f.blend or nbytes <= f.part)]
    return {
        "name": member(r),
        "vector": element if unit >= 4 else "i32",
        "gather": f"gather_{element}",
        "unit": unit,
        "signed": element[0] == "i" and any(v < 0 for v in r.init or ()),
        "forms": _texts([f for f in able if nbytes <= f.most], unit, nbytes, width),
        "together": _texts([f for f in able if nbytes <= 2 * f.most], unit, nbytes, width) if four else [],
        "is_taken_together": together,
        "bytes": element if bytes_of else "",
        "one_by_one": "__AVX512VBMI__" if nbytes <= 128 else "",  # where one lookup is one instruction
    }


def _texts(forms: list[Form], unit: int, nbytes: int, width: int) -> list[dict[str, object]]:
    """The first of the forms for each kind of processor. ``width``: bytes of what is looked up."""
    first: dict[str, Form] = {}
    for f in forms:
        first.setdefault(f.needs, f)
    return [
        {
            "needs": needs,
            "bits": 8 * f.register,
            "narrow": 8 * width,
            "unit": f.unit,
            "text": f.text(1 if unit == 1 else f.unit, nbytes),
        }
        for needs, f in first.items()
    ]
