"""Masks with a bit for each lane, as AVX-512 has them: for kernels whose lanes end their loops at different turns.

A mask of vectors is as wide as what it chooses from, so that one comparison of 64-bit numbers that decides about 32-bit
ones goes through several instructions. Where the CPU has masks of bits, a choice is a part of the instruction that it
chooses from. templates/cpu/masks.h.j2 has both.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..ir.nodes import Call
from .simd import Printer

NAMES = {"<": "lt", "<=": "le", ">": "gt", ">=": "ge", "==": "eq", "!=": "ne"}


@dataclass
class MaskPrinter(Printer):
    @property
    def mask_type(self) -> str:
        return "mask"

    @property
    def every_lane(self) -> str:
        return "EVERY_LANE"

    def everywhere(self, scalar: str) -> str:
        return f"every_lane({scalar} != 0)"

    def compared(self, left: str, op: str, right: str, rep: str) -> str:
        return f"{NAMES[op]}_{rep}({left}, {right})"

    def ones(self, mask: str, rep: str) -> str:
        return f"ones_{rep}({mask})"

    def lane(self, mask: str) -> str:
        return f"LANE({mask}, l)"

    def within(self, mask: str, value: str, rep: str) -> str:
        return f"choose_{rep}({mask}, {value}, ({rep}){{0}})"

    def merged(self, mask: str, yes: str, no: str) -> str:
        return f"(({yes} & {mask}) | ({no} & ~{mask}))"

    def select(self, mask: str, yes: str, no: str, rep: str) -> str:
        return f"choose_{rep}({mask}, {yes}, {no})"

    def active(self, e: Call) -> str:
        return f"if ({self.lane(self.mask)}) " if self.mask else ""
