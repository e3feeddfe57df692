"""CUDA functions that add and multiply long numbers with the carry flag, in inline PTX; in plain C++ for the host."""

from __future__ import annotations

from collections.abc import Sequence


def multiply_add_pairs(n: int, moved: bool, fresh: bool) -> tuple[str, str]:
    """Name and text: the words w[0] .. w[2 n] plus the sum of the n products x[k] * y[k] at word 2 k. ``moved``: first
    ``low`` + ``more`` goes to ``low`` and its carry into w[0]. ``fresh``: w[2 n - 1] is written as if it had been 0;
    nothing comes out above it then, and there is no w[2 n]. ptxas makes one instruction of each mad.lo and mad.hi on a
    pair of words."""
    w = [f"w{k}" for k in range(2 * n + (not fresh))]
    read = w[:-1] if fresh else w
    changed = [*w, *["low"] * moved]
    inputs = [*["more"] * moved, *(f"{kind}{k}" for kind in "xy" for k in range(n))]
    asm = ["add.cc.u32 {low'}, {low}, {more};"] * moved
    plain = ["unsigned long long s, a;", "unsigned int carry = 0;"]
    plain += ["s = (unsigned long long)low + more, low = (unsigned int)s, carry = (unsigned int)(s >> 32);"] * moved
    for k in range(n):
        low, high, factors = w[2 * k], w[2 * k + 1], f"{{x{k}}}, {{y{k}}}"
        carried, top = "c" * bool(asm), fresh and k == n - 1
        # A pair of a word and 0 to add to would need a move of 0 into a register: at the top, the word is added after.
        asm.append(f"mad{carried}.lo.cc.u32 {{{low}'}}, {factors}, {'0' if top else f'{{{low}}}'};")
        asm.append(f"madc.hi{'' if top else '.cc'}.u32 {{{high}'}}, {factors}, {'0' if top else f'{{{high}}}'};")
        plain.append(f"s = (unsigned long long)x{k} * y{k};")
        plain.append(f"a = (unsigned long long)(unsigned int)s + {low} + carry, {low} = (unsigned int)a;")
        plain.append(f"s = (s >> 32){'' if top else f' + {high}'} + (a >> 32), {high} = (unsigned int)s;")
        plain += ["carry = (unsigned int)(s >> 32);"] * (not top)
    if fresh:
        asm.append(f"add.cc.u32 {{{w[-2]}'}}, {{{w[-2]}'}}, {{{w[-2]}}};")
        asm.append(f"addc.u32 {{{w[-1]}'}}, {{{w[-1]}'}}, 0;")
    else:
        asm.append(f"addc.u32 {{{w[-1]}'}}, {{{w[-1]}}}, 0;")
        plain.append(f"{w[-1]} += carry;")
    parameters = _parameters(changed, inputs)
    name = f"multiply_add_pairs_{n}{'_moved' * moved}{'_fresh' * fresh}"
    return (
        name,
        f"""__device__ __forceinline__ void {name}({parameters}) {{
#ifdef __CUDA_ARCH__
{_assembly(asm, changed, [*read, *["low"] * moved, *inputs])}
#else
{_lines(plain)}
#endif
}}""",
    )


def add_words(op: str, n: int) -> tuple[str, str]:
    """Name and text: r = a + b or a - b, numbers of n words; returns the carry or borrow, 0 or 1."""
    name, add = (f"add_words_{n}", "add") if op == "+" else (f"subtract_words_{n}", "sub")
    r, a, b = ([f"{kind}{k}" for k in range(n)] for kind in "rab")
    asm = [f"{add}{'c' * (k > 0)}.cc.u32 {{{r[k]}'}}, {{{a[k]}}}, {{{b[k]}}};" for k in range(n)]
    asm.append(f"{add}c.u32 {{carry'}}, 0, 0;")
    plain = ["unsigned long long s;"]
    for k in range(n):
        plain.append(f"s = (unsigned long long){a[k]} {op} {b[k]} {op} carry;")
        plain.append(f"{r[k]} = (unsigned int)s, carry = (unsigned int)(s >> 32) & 1;")
    return (
        name,
        f"""__device__ __forceinline__ unsigned int {name}({_parameters(r, [*a, *b])}) {{
    unsigned int carry = 0;
#ifdef __CUDA_ARCH__
{_assembly(asm, [*r, "carry"], [*a, *b])}
#else
{_lines(plain)}
#endif
    return carry & 1;
}}""",
    )


def _parameters(changed: Sequence[str], inputs: Sequence[str]) -> str:
    return ", ".join([*(f"unsigned int &{x}" for x in changed), *(f"unsigned int {x}" for x in inputs)])


def _lines(text: Sequence[str]) -> str:
    return "\n".join(f"    {x}" for x in text)


def _assembly(lines: Sequence[str], out: Sequence[str], inputs: Sequence[str]) -> str:
    """An asm statement. In ``lines``, ``{x}`` is the value of ``inputs`` at the start and ``{x'}`` that of ``out`` at
    the end, in a register of its own until all is read."""
    operand = {x: f"%{len(out) + k}" for k, x in enumerate(inputs)} | {f"{x}'": f"r{k}" for k, x in enumerate(out)}
    text = [f".reg .u32 r<{len(out)}>;"]
    for line in lines:
        opening, *parts = line.split("{")
        names = [x.split("}") for x in parts]
        text.append(opening + "".join(operand[name] + rest for name, rest in names))
    text += [f"mov.u32 %{k}, r{k};" for k in range(len(out))]
    quoted = "\n".join(f'        "{x}\\n"' for x in text)
    written, inputs_text = (
        ", ".join(f'"{constraint}"({x})' for x in xs) for constraint, xs in (("=r", out), ("r", inputs))
    )
    return f'    asm("{{\\n"\n{quoted}\n        "}}" : {written} : {inputs_text});'
