"""What a library's header says beside its function: sizes, whose bits results have, memory, the compiler's command."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ..base import toolchain
from ..base.libm import COMPLEX, CONSTANTS, DECLARED, EXACT
from ..codegen.correct_functions import CALLED
from ..schedule.artifact import Artifact, CpuArtifact, CpuTeamArtifact

if TYPE_CHECKING:
    from ..schedule.understood import Understood

CPU = (CpuArtifact, CpuTeamArtifact)
_CALL = re.compile(r"\b(__builtin_)?(\w+)\(")
_MEMORY = re.compile(r"\b(malloc|calloc|realloc|free|aligned_alloc|abort|exit|abs|labs|llabs)\(")
#: Text that moves 16 bytes at a time what is aligned.
_BY_UNITS = re.compile(r"& 15\)|& \(sizeof\(U\) - 1\)|alignof\(c2cu_unit")
_AVX512_MASK = re.compile(r"^typedef unsigned (char|short) mask;$", re.M)
#: The results that say what is wrong: the same for a CPU and for CUDA. Arrays count down from the last.
CODES = {"p": -1, "workspace": -2, "threads": -3, "first_array": -4}


def facts(front: Understood, artifact: Artifact) -> dict[str, object]:
    """What library.h.j2 is filled with beside names and types, and what the sources ask of it."""
    values: dict[str, object] = {
        "codes": CODES,
        "sizes": _sizes(front),
        "math": _math(front, artifact),
        "needs_workspace": not re.search(r"\bc2cu_bytes = 0;", artifact.text),
        "aligned": bool(_BY_UNITS.search(artifact.text)),
    }
    if isinstance(artifact, CPU):
        team = isinstance(artifact, CpuTeamArtifact)
        values |= {
            "lanes": 0 if team else artifact.lanes,  # 0: threads share an input
            "each": "" if team else _bytes(artifact.copy_bytes),
            "vector_bytes": toolchain.vector_bytes(),
            "avx512": bool(_AVX512_MASK.search(artifact.text)),
        }
    return values


def overrides(front: Understood) -> str:
    """The options that gave macros another value than the file's own."""
    return "".join(f" -D {m.name}={m.value}" for m in front.pre.macros.values() if m.overridden)


def _sizes(front: Understood) -> str:
    """The macros that spell arrays' extents, and those with another value than the file's own."""
    spelled = {n for b in front.program.parameters if b.symbol is not None for n in b.symbol.extents}
    macros = (m for m in front.pre.macros.values() if m.overridden or m.name in spelled)
    return ", ".join(f"{m.name} = {m.value}" + " (in place of the C file's own)" * m.overridden for m in macros)


def _math(front: Understood, artifact: Artifact) -> str:
    """How functions of math.h fall short of the promise of bits, or what it means for them; "" where none is called
    for which that matters."""
    ours = sorted({*artifact.functions, *getattr(artifact, "alone", ())})
    if front.math == "correct":
        rounded = ours or CALLED.search(artifact.text)
        return ", but for functions of math.h, which are rounded correctly" if rounded else ""
    if isinstance(artifact, CPU):
        return ""
    own = called(artifact.text) - EXACT - front.program.unit.functions.keys()
    said = f", but for {', '.join(sorted(own))}, whose last bits are CUDA's" if own else ""
    return said + (f". The bits of {', '.join(ours)} are those of glibc 2.36 on CPUs with FMA" if ours else "")


def called(text: str) -> set[str]:
    """The functions of math.h and complex.h that a text calls."""
    names = {m[2] for m in _CALL.finditer(text) if not (m[1] and m[2] in CONSTANTS)}
    return names & (DECLARED | COMPLEX.keys())


def without_spare_headers(text: str) -> str:
    """A library's text without the headers that nothing in it needs."""
    for header, needed in (("math.h", called(text)), ("stdlib.h", _MEMORY.search(text))):
        if not needed:
            text = text.replace(f"#include <{header}>\n", "")
    return text


def _bytes(count: int) -> str:
    """A number of bytes in words."""
    for unit, size in (("MB", 1 << 20), ("KB", 1 << 10)):
        if count >= 10 * size:
            return f"{round(count / size):,} {unit}"
    return f"{count:,} bytes" if count else ""
