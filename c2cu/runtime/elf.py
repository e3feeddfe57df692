"""The parts of a shared library that the runtime asks for: its writable sections and its symbols (ELF, 64 bits)."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

SYMTAB, STRTAB, NOBITS, DYNSYM, VERNEED, VERSYM = 2, 3, 8, 11, 0x6FFFFFFE, 0x6FFFFFFF
WRITE, ALLOC, TLS = 1, 2, 0x400
RELRO = 0x6474E552


@dataclass(frozen=True)
class Section:
    """``offset``: in the file; ``link``: the number of the section that has its strings or symbols."""

    name: str
    type: int
    flags: int
    address: int
    offset: int
    size: int
    link: int


@dataclass(frozen=True)
class ElfSymbol:
    """``defined``: in this file; ``shared``: other files see it; ``library``: the file that is to define it."""

    name: str
    defined: bool
    shared: bool
    library: str = ""


class Elf:
    """A shared library or an object file. Raises ValueError for other data."""

    def __init__(self, data: bytes):
        if data[:6] != b"\x7fELF\2\1":
            raise ValueError("no ELF file of 64 bits, little endian")
        self._data = data

    @cached_property
    def sections(self) -> tuple[Section, ...]:
        (table,) = struct.unpack_from("<Q", self._data, 0x28)
        size, count, names = struct.unpack_from("<3H", self._data, 0x3A)
        rows = [struct.unpack_from("<2I4Q2I", self._data, table + k * size) for k in range(count)]
        start = rows[names][4] if rows else 0
        return tuple(Section(self._text(start + r[0]), r[1], r[2], r[3], r[4], r[5], r[6]) for r in rows)

    @cached_property
    def read_only_after_start(self) -> tuple[int, int]:
        """Addresses, first and end, of what the loader protects once it has relocated it."""
        (table,) = struct.unpack_from("<Q", self._data, 0x20)
        size, count = struct.unpack_from("<2H", self._data, 0x36)
        for k in range(count):
            kind, _, _, address, _, _, length, _ = struct.unpack_from("<2I6Q", self._data, table + k * size)
            if kind == RELRO:
                return address, address + length
        return 0, 0

    def writable(self) -> tuple[Section, ...]:
        """The sections that stay writable. Those of threads (`TLS`) are the image that each thread's copy starts as."""
        first, end = self.read_only_after_start
        sections = (s for s in self.sections if s.flags & ALLOC and s.flags & WRITE and s.size)
        return tuple(s for s in sections if s.flags & TLS or not first <= s.address < end)

    def symbols(self, dynamic: bool = False) -> Iterator[ElfSymbol]:
        """All named symbols, or the dynamic linker's."""
        libraries = self._libraries() if dynamic else {}
        versions = next((s for s in self.sections if s.type == VERSYM), None) if dynamic else None
        for table in self.sections:
            if table.type != (DYNSYM if dynamic else SYMTAB):
                continue
            strings = self.sections[table.link].offset
            for k in range(table.size // 24):
                name, info, _, section, _, _ = struct.unpack_from("<I2BH2Q", self._data, table.offset + 24 * k)
                if not name:
                    continue
                number = struct.unpack_from("<H", self._data, versions.offset + 2 * k)[0] & 0x7FFF if versions else 0
                yield ElfSymbol(self._text(strings + name), section != 0, info >> 4 != 0, libraries.get(number, ""))

    def _libraries(self) -> dict[int, str]:
        """The library that each version of a symbol is from, by the version's number."""
        libraries: dict[int, str] = {}
        for needed in self.sections:
            if needed.type != VERNEED:
                continue
            strings, at = self.sections[needed.link].offset, needed.offset
            while True:
                _, count, file, aux, following = struct.unpack_from("<2H3I", self._data, at)
                version = at + aux
                for _ in range(count):
                    _, _, number, _, step = struct.unpack_from("<I2H2I", self._data, version)
                    libraries[number] = self._text(strings + file)
                    version += step
                if not following:
                    break
                at += following
        return libraries

    def _text(self, at: int) -> str:
        return self._data[at : self._data.index(b"\0", at)].decode("utf-8", "replace")
