"""Inline assembly of generated CUDA as C++, so that it too is executed without a GPU: what `carry_text.py` and
`whole_rows.cuh.j2` use of PTX."""

from __future__ import annotations

import re

_ASM = re.compile(r'    asm\("\{\\n"\n(.*?)\n        "\}" : (.*?) : (.*?)\);', re.S)
_BRANCHES = re.compile(r"#ifdef __CUDA_ARCH__\n(.*?)#else\n.*?#endif\n", re.S)
_SHIFT = re.compile(
    r'asm\("shf\.l\.wrap\.b32 %0, %1, %2, %3;" : "=r"\((\w+)\) : "r"\((\w+)\), "r"\((\w+)\), "r"\((\w+)\)\);'
)
_ALU = re.compile(r"(add|sub|mad)(c?)(?:\.(lo|hi))?(\.cc)?\.u32")


def assembly_as_cpp(text: str) -> str:
    """The text with the branch for the GPU taken, its assembly as C++. Fails on what it does not know, and where an
    instruction takes a carry that none before it has made."""
    text = _SHIFT.sub(r"\1 = (unsigned int)((((unsigned long long)\3 << 32 | \2) << (\4 & 31)) >> 32);", text)
    return _ASM.sub(_statement, _BRANCHES.sub(lambda m: m[1], text))


def _statement(m: re.Match) -> str:
    body, out, taken = m.groups()
    operands = re.findall(r'"=r"\((\w+)\)', out) + re.findall(r'"r"\((\w+)\)', taken)
    lines = ["unsigned long long sum; unsigned int flag;"]
    flagged = False
    for statement in re.findall(r"([^;\"\\]+);", re.sub(r'\\n"|^ *"', "", body, flags=re.M)):
        op, *rest = statement.split(None, 1)
        args = [re.sub(r"\br(\d+)\b", r"register\1", x.strip()) for x in rest[0].split(",")]  # C++ has its own names
        args = [re.sub(r"%(\d+)", lambda k: operands[int(k[1])], x) for x in args]
        if op == ".reg":
            count = re.fullmatch(r"\.u32 r<(\d+)>", rest[0].strip())
            assert count, statement
            lines.append(f"unsigned int {', '.join(f'register{k}' for k in range(int(count[1])))};")
            continue
        if op == "mov.u32":
            lines.append(f"{args[0]} = {args[1]};")
            continue
        known = _ALU.fullmatch(op)
        assert known, statement
        kind, carried, half, flags = known.groups()
        assert flagged or not carried, f"no carry for {statement}"
        sign = "-" if kind == "sub" else "+"
        first = f"(unsigned long long){args[1]}"
        if kind == "mad":
            first = f"({first} * {args[2]}{' >> 32' if half == 'hi' else ' & 0xffffffffu'})"
        lines.append(
            f"sum = {first} {sign} {args[-1]}{f' {sign} flag' * bool(carried)}; {args[0]} = (unsigned int)sum;"
        )
        if flags:
            lines.append("flag = (unsigned int)(sum >> 32) & 1;")
            flagged = True
    return "    {\n" + "\n".join(f"        {x}" for x in lines) + "\n    }"
