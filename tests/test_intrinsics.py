"""immintrin.h cut down to what a text names: the machine code stays, and any doubt brings the whole header back."""

import platform
import re
from pathlib import Path

import pytest

import c2cu
from c2cu.base import intrinsics, toolchain
from c2cu.base.intrinsics import INCLUDE, shortened
from c2cu.runtime import cpu

PROGRAMS = Path(c2cu.__file__).parent.parent / "benchmarks" / "programs"

HEADER = """
typedef long long __v2di __attribute__ ((__vector_size__ (16)));
typedef long long __m128i __attribute__ ((__vector_size__ (16), __may_alias__));
typedef unsigned char __mmask8;
extern __inline __attribute__ ((__gnu_inline__)) int
atoi (const char *__nptr)
{
  return 0;
}
extern __inline __m128i __attribute__((__gnu_inline__, __always_inline__, __artificial__))
_mm_set_epi64x (long long __q1, long long __q0)
{
  return __extension__ (__m128i)(__v2di){ __q0, __q1 };
}
extern __inline __m128i __attribute__((__gnu_inline__, __always_inline__, __artificial__))
_mm_cvtsi64_si128 (long long __A)
{
  return _mm_set_epi64x (0, __A);
}
#pragma GCC push_options
#pragma GCC target("avx512f")
extern __inline __m512i
__attribute__ ((__gnu_inline__, __always_inline__, __artificial__))
_mm512_setzero_si512 (void)
{
  return __extension__ (__m512i)(__v8di){ 0, 0, 0, 0, 0, 0, 0, 0 };
}
#pragma GCC pop_options
extern __inline int
__attribute__ ((__gnu_inline__, __always_inline__, __artificial__))
_mm_popcnt_u32 (unsigned int __X)
{
  return __builtin_popcount (__X);
}
"""


def test_what_a_text_names_and_what_that_names_in_the_header_s_order():
    short = shortened(INCLUDE + "__m128i x = _mm_cvtsi64_si128(1);\n", HEADER)
    assert (
        "immintrin" not in short and "atoi" not in short and "_mm_popcnt_u32" not in short and "__mmask8" not in short
    )
    places = [short.index(f"{n} (" if n.startswith("_mm") else f"{n} __") for n in
              ("__v2di", "__m128i", "_mm_set_epi64x", "_mm_cvtsi64_si128")]  # fmt: skip
    assert places == sorted(places)


def test_an_instruction_that_the_flags_do_not_have_is_left_out_with_its_dead_code():
    text = INCLUDE + "#ifdef __AVX512F__\n#define zero() _mm512_setzero_si512()\n#endif\nint x = _mm_popcnt_u32(7);\n"
    short = shortened(text, HEADER)
    assert "_mm_popcnt_u32 (unsigned int __X)" in short and "_mm512_setzero_si512 (void)" not in short


@pytest.mark.parametrize("name", ["_mm_extract_epi8(x, 1)", "_mm_no_function", "_MM_SHUFFLE(1, 0, 3, 2), _mm_pause()"])
def test_a_text_that_names_what_is_no_function_there_is_left_as_it_is(name):
    text = INCLUDE + f"int f(void) {{ return {name}; }}\n"
    assert shortened(text, HEADER) == text


X86 = pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="immintrin.h is of x86")
GANG = f"""{INCLUDE}typedef int i32 __attribute__((vector_size(16)));
void add(i32 *x, long long y) {{ *x += (i32)_mm_unpacklo_epi32(_mm_cvtsi64_si128(y), _mm_loadu_si128((__m128i *)x)); }}
"""


@X86
def test_the_header_of_this_compiler(monkeypatch):
    compiler = toolchain.find_compiler()
    if "clang" in toolchain.compiler_version(compiler):
        pytest.skip("clang's header is read as it is")
    given = []
    fed = toolchain.fed
    monkeypatch.setattr(toolchain, "fed", lambda command, text, *rest: given.append(text) or fed(command, text, *rest))
    command = (*compiler, "-O2", "-w", "-S")
    labels = re.compile(rb"\.L\w+")
    short = labels.sub(b"", toolchain.compiled(command, GANG))
    assert INCLUDE not in given[-1] and "_mm_unpacklo_epi32 (" in given[-1]
    monkeypatch.setattr(toolchain, "_shortened", lambda command, text: text)
    assert labels.sub(b"", toolchain.compiled(command, GANG)) == short and INCLUDE in given[-1]


@X86
@pytest.mark.parametrize("lost", ["_mm_unpacklo_epi32", "__m128i"])
def test_what_is_declared_nowhere_is_no_function_that_the_linker_misses(lost, monkeypatch):
    header = toolchain._immintrin
    monkeypatch.setattr(toolchain, "_immintrin", lambda command: header(command).replace(lost, f"{lost}_elsewhere"))
    monkeypatch.setattr(
        intrinsics, "_function", lambda name, header, of=intrinsics._function: of(name, header) or (0, "")
    )
    assert b"punpckldq" in toolchain.compiled((*toolchain.find_compiler(), "-O2", "-w", "-S"), GANG)


@X86
@pytest.mark.parametrize("kernel", ["mandelbrot", "snake", "base64", "kepler"])
def test_what_gangs_name_is_found(kernel, monkeypatch):
    """So that no text is compiled twice."""
    program = c2cu.compile(PROGRAMS / f"{kernel}.c", fn=kernel, backend="cpu", schedule="gang", strict=False)
    artifact, compiler = program._current().artifact, toolchain.find_compiler()
    if INCLUDE not in artifact.text or "clang" in toolchain.compiler_version(compiler):
        pytest.skip("the text is compiled as it is")
    given = []
    fed = toolchain.fed
    monkeypatch.setattr(toolchain, "fed", lambda command, text, *rest: given.append(text) or fed(command, text, *rest))
    toolchain.compiled((*compiler, *cpu.FLAGS, *toolchain.generated_flags(compiler), *artifact.flags), artifact.text)
    assert [INCLUDE in text for text in given if text != INCLUDE] == [False]


@X86
def test_where_the_short_text_is_rejected_the_whole_header_is_read(monkeypatch):
    monkeypatch.setattr(toolchain, "_shortened", lambda command, text: text.replace(INCLUDE, ""))
    assert b"punpckldq" in toolchain.compiled((*toolchain.find_compiler(), "-O2", "-w", "-S"), GANG)


@X86
@pytest.mark.parametrize("kernel", ["mandelbrot", "kepler", "rk45", "smith_waterman"])
@pytest.mark.parametrize("width, flag", [(64, "-march=skylake-avx512"), (32, "-march=haswell")])
def test_what_gangs_name_is_found_for_other_processors(kernel, width, flag, monkeypatch):
    compiler = toolchain.find_compiler()
    if "clang" in toolchain.compiler_version(compiler):
        pytest.skip("clang's header is read as it is")
    monkeypatch.setattr(toolchain, "vector_bytes", lambda: width)
    library = c2cu.library(PROGRAMS / f"{kernel}.c", "many", fn=kernel, target="cpu", schedule="gang")
    text = library.source.replace('#include "many.h"', library.header)
    assert INCLUDE in text
    given = []
    fed = toolchain.fed
    monkeypatch.setattr(toolchain, "fed", lambda command, text, *rest: given.append(text) or fed(command, text, *rest))
    toolchain.compiled((*compiler, "-O1", "-w", "-S", flag), text)
    assert [INCLUDE in text for text in given if text != INCLUDE] == [False]
