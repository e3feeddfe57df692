"""The C library on a device: each function by its own name and type, and those that CUDA has not.

C++ overloads the names of math.h: an argument of any other type than C's would choose another function. So every
argument is cast. Strings and characters are as in the C locale; the values of ctype's functions are glibc's.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from ..base import libm
from ..base.ctype import FLOAT, CType
from .cuda import literal
from .math_calls import math_call

_CONSTANTS = {name: literal(value, t) for name, (value, t) in libm.CONSTANTS.items()}
#: What GCC has built in beside the functions of math.h, by the name of one that does the same.
_BUILT_IN = {"isinf_sign": "isinf", "isnanf": "isnan", "signbitf": "signbit"}
_CTYPE = {
    "isupper": (256, "c >= 65 && c <= 90"),
    "islower": (512, "c >= 97 && c <= 122"),
    "isalpha": (1024, "(c | 32) >= 97 && (c | 32) <= 122 && c < 128"),
    "isdigit": (2048, "c >= 48 && c <= 57"),
    "isxdigit": (4096, "(c >= 48 && c <= 57) || ((c | 32) >= 97 && (c | 32) <= 102 && c < 128)"),
    "isspace": (8192, "c == 32 || (c >= 9 && c <= 13)"),
    "isprint": (16384, "c >= 32 && c <= 126"),
    "isgraph": (32768, "c > 32 && c <= 126"),
    "isblank": (1, "c == 32 || c == 9"),
    "iscntrl": (2, "(c >= 0 && c < 32) || c == 127"),
    "ispunct": (4, "c > 32 && c < 127 && !((c >= 48 && c <= 57) || ((c | 32) >= 97 && (c | 32) <= 122))"),
    "isalnum": (8, "(c >= 48 && c <= 57) || ((c | 32) >= 97 && (c | 32) <= 122 && c < 128)"),
}
_LOWER = "int c = *a >= 65 && *a <= 90 ? *a + 32 : *a, d = *b >= 65 && *b <= 90 ? *b + 32 : *b;"
_BYTES = "const unsigned char *a = (const unsigned char *)x, *b = (const unsigned char *)y;"
#: name -> head without its name, body
_FUNCTIONS: dict[str, tuple[str, str, str]] = {
    "memcpy": ("void *", "void *x, const void *y, unsigned long n", "return memcpy(x, y, n);"),
    "memset": ("void *", "void *x, int c, unsigned long n", "return memset(x, c, n);"),
    "memmove": (
        "void *",
        "void *x, const void *y, unsigned long n",
        "char *a = (char *)x; const char *b = (const char *)y; "
        "if (a < b) for (unsigned long k = 0; k < n; k++) a[k] = b[k]; "
        "else for (unsigned long k = n; k > 0; k--) a[k - 1] = b[k - 1]; return x;",
    ),
    "memcmp": (
        "int",
        "const void *x, const void *y, unsigned long n",
        f"{_BYTES} for (unsigned long k = 0; k < n; k++) if (a[k] != b[k]) return a[k] - b[k]; return 0;",
    ),
    "memchr": (
        "void *",
        "const void *x, int c, unsigned long n",
        "unsigned char *a = (unsigned char *)x; for (unsigned long k = 0; k < n; k++) if (a[k] == (unsigned char)c) "
        "return a + k; return 0;",
    ),
    "strlen": ("unsigned long", "const char *x", "unsigned long n = 0; while (x[n]) n++; return n;"),
    "strnlen": (
        "unsigned long",
        "const char *x, unsigned long most",
        "unsigned long n = 0; while (n < most && x[n]) n++; return n;",
    ),
    "strcmp": (
        "int",
        "const char *x, const char *y",
        f"{_BYTES} while (*a && *a == *b) a++, b++; return *a - *b;",
    ),
    "strncmp": (
        "int",
        "const char *x, const char *y, unsigned long n",
        f"{_BYTES} for (unsigned long k = 0; k < n; k++) if (a[k] != b[k] || !a[k]) return a[k] - b[k]; return 0;",
    ),
    "strcpy": ("char *", "char *x, const char *y", "for (char *a = x; (*a++ = *y++);); return x;"),
    "stpcpy": ("char *", "char *x, const char *y", "while ((*x = *y)) x++, y++; return x;"),
    "strncpy": (
        "char *",
        "char *x, const char *y, unsigned long n",
        "for (unsigned long k = 0, end = 0; k < n; k++) end |= !y[end ? 0 : k], x[k] = end ? 0 : y[k]; return x;",
    ),
    "strcat": (
        "char *",
        "char *x, const char *y",
        "char *a = x; while (*a) a++; while ((*a++ = *y++)); return x;",
    ),
    "strncat": (
        "char *",
        "char *x, const char *y, unsigned long n",
        "char *a = x; while (*a) a++; while (n-- && *y) *a++ = *y++; *a = 0; return x;",
    ),
    "strchr": (
        "char *",
        "const char *x, int c",
        "for (;; x++) if (*x == (char)c) return (char *)x; else if (!*x) return 0;",
    ),
    "strrchr": (
        "char *",
        "const char *x, int c",
        "const char *last = 0; for (;; x++) { if (*x == (char)c) last = x; if (!*x) return (char *)last; }",
    ),
    "strstr": (
        "char *",
        "const char *x, const char *y",
        "for (;; x++) { unsigned long k = 0; while (y[k] && x[k] == y[k]) k++; if (!y[k]) return (char *)x; "
        "if (!*x) return 0; }",
    ),
    "strspn": (
        "unsigned long",
        "const char *x, const char *y",
        "for (unsigned long n = 0;; n++) { const char *s = y; while (*s && *s != x[n]) s++; if (!*s) return n; }",
    ),
    "strcspn": (
        "unsigned long",
        "const char *x, const char *y",
        "for (unsigned long n = 0;; n++) { const char *s = y; while (*s && *s != x[n]) s++; "
        "if (*s || !x[n]) return n; }",
    ),
    "strpbrk": (
        "char *",
        "const char *x, const char *y",
        "for (; *x; x++) for (const char *s = y; *s; s++) if (*s == *x) return (char *)x; return 0;",
    ),
    "tolower": ("int", "int c", "return c >= 65 && c <= 90 ? c + 32 : c;"),
    "toupper": ("int", "int c", "return c >= 97 && c <= 122 ? c - 32 : c;"),
    "abs": ("int", "int x", "return x < 0 ? (int)(0 - (unsigned int)x) : x;"),
    "labs": ("long", "long x", "return x < 0 ? (long)(0 - (unsigned long)x) : x;"),
    "llabs": ("long long", "long long x", "return x < 0 ? (long long)(0 - (unsigned long long)x) : x;"),
    "isnan": ("int", "double x", "return x != x;"),
    "isinf": ("int", "double x", "return x - x != x - x && x == x ? x < 0 ? -1 : 1 : 0;"),
    "isfinite": ("int", "double x", "return x - x == x - x;"),
    "isnormal": ("int", "double x", "return x - x == x - x && (x >= 0x1p-1022 || x <= -0x1p-1022);"),
    "isnormalf": ("int", "float x", "return x - x == x - x && (x >= 0x1p-126f || x <= -0x1p-126f);"),
    "isgreater": ("int", "double x, double y", "return x > y;"),
    "isgreaterequal": ("int", "double x, double y", "return x >= y;"),
    "isless": ("int", "double x, double y", "return x < y;"),
    "islessequal": ("int", "double x, double y", "return x <= y;"),
    "islessgreater": ("int", "double x, double y", "return x < y || x > y;"),
    "isunordered": ("int", "double x, double y", "return x != x || y != y;"),
    "__fpclassify": (
        "int",
        "double x",
        "return x != x ? 0 : x - x != 0 ? 1 : x == 0 ? 2 : x < 0x1p-1022 && x > -0x1p-1022 ? 3 : 4;",
    ),
    "__fpclassifyf": (
        "int",
        "float x",
        "return x != x ? 0 : x - x != 0 ? 1 : x == 0 ? 2 : x < 0x1p-126f && x > -0x1p-126f ? 3 : 4;",
    ),
    "fpclassify": (
        "int",
        "int nan, int infinite, int normal, int subnormal, int zero, double x",
        "return x != x ? nan : x - x != 0 ? infinite : x == 0 ? zero : x < 0x1p-1022 && x > -0x1p-1022 ? subnormal "
        ": normal;",
    ),
    "fpclassifyf": (
        "int",
        "int nan, int infinite, int normal, int subnormal, int zero, float x",
        "return x != x ? nan : x - x != 0 ? infinite : x == 0 ? zero : x < 0x1p-126f && x > -0x1p-126f ? subnormal "
        ": normal;",
    ),
    "signbit": ("int", "double x", "return (int)((unsigned long long)__double_as_longlong(x) >> 63);"),
    "clz": ("int", "unsigned int x", "return __clz((int)x);"),
    "clzl": ("int", "unsigned long x", "return __clzll((long long)x);"),
    "clzll": ("int", "unsigned long long x", "return __clzll((long long)x);"),
    "ctz": ("int", "unsigned int x", "return 31 - __clz((int)(x & (0 - x)));"),
    "ctzl": ("int", "unsigned long x", "return 63 - __clzll((long long)(x & (0 - x)));"),
    "ctzll": ("int", "unsigned long long x", "return 63 - __clzll((long long)(x & (0 - x)));"),
    "ffs": ("int", "int x", "return 32 - __clz((int)((unsigned int)x & (0 - (unsigned int)x)));"),
    "ffsl": ("int", "long x", "return 64 - __clzll((long long)((unsigned long)x & (0 - (unsigned long)x)));"),
    "ffsll": ("int", "long long x", "return 64 - __clzll((long long)((unsigned long)x & (0 - (unsigned long)x)));"),
    "popcount": ("int", "unsigned int x", "return __popc(x);"),
    "popcountl": ("int", "unsigned long x", "return __popcll(x);"),
    "popcountll": ("int", "unsigned long long x", "return __popcll(x);"),
    "parity": ("int", "unsigned int x", "return __popc(x) & 1;"),
    "parityl": ("int", "unsigned long x", "return __popcll(x) & 1;"),
    "parityll": ("int", "unsigned long long x", "return __popcll(x) & 1;"),
    "bswap16": ("unsigned short", "unsigned short x", "return (unsigned short)(x << 8 | x >> 8);"),
    "bswap32": (
        "unsigned int",
        "unsigned int x",
        "return x << 24 | (x & 0xff00) << 8 | (x >> 8 & 0xff00) | x >> 24;",
    ),
    "bswap64": (
        "unsigned long",
        "unsigned long x",
        "x = (x & 0xff00ff00ff00ff) << 8 | (x >> 8 & 0xff00ff00ff00ff); x = (x & 0xffff0000ffff) << 16 | (x >> 16 & "
        "0xffff0000ffff); return x << 32 | x >> 32;",
    ),
    "expect": ("long", "long x, long", "return x;"),
    "expect_with_probability": ("long", "long x, long, double", "return x;"),
    "assume_aligned": ("void *", "const void *x, unsigned long, unsigned long = 0", "return (void *)x;"),
    "prefetch": ("void", "const void *, int = 0, int = 0", ""),
    "clrsb": ("int", "int x", "return __clz(x < 0 ? ~x : x) - 1;"),
    "clrsbl": ("int", "long x", "return __clzll(x < 0 ? ~x : x) - 1;"),
    "clrsbll": ("int", "long long x", "return __clzll(x < 0 ? ~x : x) - 1;"),
    "isascii": ("int", "int c", "return (c & ~127) == 0;"),
    "toascii": ("int", "int c", "return c & 127;"),
    "bcmp": (
        "int",
        "const void *x, const void *y, unsigned long n",
        f"{_BYTES} for (unsigned long k = 0; k < n; k++) if (a[k] != b[k]) return a[k] - b[k]; return 0;",
    ),
    "bzero": ("void", "void *x, unsigned long n", "memset(x, 0, n);"),
    "explicit_bzero": ("void", "void *x, unsigned long n", "memset(x, 0, n);"),
    "mempcpy": ("void *", "void *x, const void *y, unsigned long n", "memcpy(x, y, n); return (char *)x + n;"),
    "memrchr": (
        "void *",
        "const void *x, int c, unsigned long n",
        "unsigned char *a = (unsigned char *)x; while (n-- > 0) if (a[n] == (unsigned char)c) return a + n; return 0;",
    ),
    "strchrnul": ("char *", "const char *x, int c", "while (*x && *x != (char)c) x++; return (char *)x;"),
    "stpncpy": (
        "char *",
        "char *x, const char *y, unsigned long n",
        "unsigned long k = 0; for (; k < n && y[k]; k++) x[k] = y[k]; char *end = x + k; for (; k < n; k++) x[k] = 0; "
        "return end;",
    ),
    "strcasecmp": (
        "int",
        "const char *x, const char *y",
        f"{_BYTES} for (;; a++, b++) {{ {_LOWER} if (c != d || !c) return c - d; }}",
    ),
    "strncasecmp": (
        "int",
        "const char *x, const char *y, unsigned long n",
        f"{_BYTES} for (; n > 0; n--, a++, b++) {{ {_LOWER} if (c != d || !c) return c - d; }} return 0;",
    ),
    "strsep": (
        "char *",
        "char **x, const char *y",
        "char *from = *x; if (!from) return 0; for (char *a = from; *a; a++) for (const char *s = y; *s; s++) "
        "if (*s == *a) { *a = 0; *x = a + 1; return from; } *x = 0; return from;",
    ),
    "strtok_r": (
        "char *",
        "char *x, const char *y, char **rest",
        "if (!x) x = *rest; for (;; x++) { const char *s = y; while (*s && *s != *x) s++; if (!*x || !*s) break; } "
        "if (!*x) { *rest = x; return 0; } char *from = x; for (; *x; x++) for (const char *s = y; *s; s++) "
        "if (*s == *x) { *x = 0; *rest = x + 1; return from; } *rest = x; return from;",
    ),
    **{
        name: (result, "const char *x", f"return ({result})c2cu_digits(x, 0, 10, true);")
        for name, result in {"atoi": "int", "atol": "long", "atoll": "long long"}.items()
    },
    **{
        name: (result, "const char *x, char **end, int base", f"return ({result})c2cu_digits(x, end, base, {signed});")
        for name, result, signed in (
            ("strtol", "long", "true"),
            ("strtoll", "long long", "true"),
            ("strtoul", "unsigned long", "false"),
            ("strtoull", "unsigned long long", "false"),
        )
    },
    **{n: ("int", "int c", f"return {test} ? {value} : 0;") for n, (value, test) in _CTYPE.items()},
}
for _t, _f in (("double", ""), ("float", "f")):
    _FUNCTIONS |= {
        f"remquo{_f}": (
            _t,
            f"{_t} x, {_t} y, int *quotient",
            f"int n; {_t} r = ::remquo{_f}(x, y, &n); "
            "bool up = n % 8 == 0 && r != 0 && (r < 0) != (x < 0);  /* from 7 and more to 8, which glibc leaves so */ "
            "if (y != 0 && r == r) *quotient = up ? (x < 0) != (y < 0) ? -8 : 8 : n % 8; return r;",
        ),
        f"sincos{_f}": (
            "void",
            f"{_t} x, {_t} *sine, {_t} *cosine",
            f"{_t} s = MATH(sin{_f})(x), c = MATH(cos{_f})(x); *sine = s; *cosine = c;",
        ),
        f"lgamma{_f}_r": (
            _t,
            f"{_t} x, int *sign",
            f"{_t} whole = ::floor{_f}(x), half = whole * ({_t})0.5; bool odd = x < 0 && x != whole && "
            f"::floor{_f}(half) != half; *sign = odd || (x == 0 && 1 / x < 0) ? -1 : 1; return MATH(lgamma{_f})(x);",
        ),
        f"drem{_f}": (_t, f"{_t} x, {_t} y", f"return ::remainder{_f}(x, y);"),
        f"scalbln{_f}": (
            _t,
            f"{_t} x, long n",
            f"return ::scalbn{_f}(x, (int)(n > 9999 ? 9999 : n < -9999 ? -9999 : n));",
        ),
        f"finite{_f}": ("int", f"{_t} x", "return x - x == x - x;"),
        **{
            name: (whole, f"{_t} x", f"return c2cu_integer<{whole}>(::{name.lstrip('l')}(x));")
            for whole, prefix in (("long", "l"), ("long long", "ll"))
            for name in (f"{prefix}round{_f}", f"{prefix}rint{_f}")
        },
    }
_INTEGERS = frozenset(name for name in _FUNCTIONS if re.fullmatch("ll?(round|rint)f?", name))
_NUMBERS = frozenset("atoi atol atoll strtol strtoll strtoul strtoull".split())
_OVERFLOW = frozenset("add_overflow sub_overflow mul_overflow".split())
_TWO_RESULTS = {"frexp": "double", "frexpf": "float", "modf": "double", "modff": "float"}
_MATH = re.compile(r"MATH\((\w+)\)")  # in a body: a function that may be ours
#: Templates that the printer asks for by name.
_TEMPLATES = {
    "c2cu_literal": """template <class T> struct c2cu_same { typedef T type; };
template <class T> __device__ static T &c2cu_literal(T &to, const typename c2cu_same<T>::type &value) {
    memcpy((void *)&to, (const void *)&value, sizeof to);
    return to;
}""",
    "c2cu_integer": """/* A float's integer as x86 has it: where none of 32, or of 64, bits holds it, the least. */
template <class T, class F> __device__ __forceinline__ static T c2cu_integer(F x) {
    const bool is_signed = (T)-1 < (T)1;
    if (sizeof(T) < 4 || (sizeof(T) == 4 && is_signed)) return (T)(x < (F)0x1p31 ? (int)x : (int)(1u << 31));
    if (sizeof(T) == 8 && !is_signed && x >= (F)0x1p63) return (T)(x < (F)0x1p64 ? (unsigned long long)x : 0);
    return (T)(x < (F)0x1p63 ? (long long)x : (long long)(1ull << 63));
}""",
    "c2cu_step": """/* x++ and its kind, where signed numbers wrap, and addresses of void count bytes. */
template <class U, class T> __device__ static T c2cu_before(T &x, int by) { return x = (T)((U)x + (U)by); }
template <class U, class T> __device__ static T c2cu_after(T &x, int by) {
    T was = x;
    x = (T)((U)was + (U)by);
    return was;
}
template <class T> __device__ static T c2cu_void_before(T &x, int by) { return x = (T)((char *)x + by); }
template <class T> __device__ static T c2cu_void_after(T &x, int by) {
    T was = x;
    x = (T)((char *)x + by);
    return was;
}""",
    "c2cu_digits": """/* strtol and its kind: what is too large becomes the largest. */
__device__ static unsigned long c2cu_digits(const char *x, char **end, int base, bool is_signed) {
    const char *at = x;
    while (*at == 32 || (*at >= 9 && *at <= 13)) at++;
    bool negative = *at == '-';
    if (*at == '-' || *at == '+') at++;
    const char *after = (at[1] | 32) == 'x' ? at + 2 : at;
    int next = (*after | 32) >= 'a' ? (*after | 32) - 'a' + 10 : *after - '0';
    bool prefixed = *at == '0' && after > at && next >= 0 && next < 16 && (base == 0 || base == 16);
    if (base == 0) base = prefixed ? 16 : *at == '0' ? 8 : 10;
    if (prefixed) at = after;
    unsigned long value = 0, most = is_signed ? 0x7fffffffffffffffUL + negative : ~0UL;
    bool any = false, large = false;
    for (;; at++) {
        int c = *at, digit = c >= '0' && c <= '9' ? c - '0' : 99;
        if ((c | 32) >= 'a' && (c | 32) <= 'z') digit = (c | 32) - 'a' + 10;
        if (digit >= base) break;
        any = true;
        large = large || value > (most - digit) / base;
        value = value * base + digit;
    }
    if (end) *end = (char *)(any ? at : x);
    if (large) return !is_signed || !negative ? most : 0 - most;
    return negative ? 0 - value : value;
}""",
    "c2cu_overflow": """/* __builtin_add_overflow and its kind, for whole numbers of any types: by sign and size. */
template <class T> __device__ static bool c2cu_below(T x) { return x < 1 && x != 0; }
template <class T> __device__ static unsigned long c2cu_size(T x) {
    return c2cu_below(x) ? 0 - (unsigned long)x : (unsigned long)x;
}
template <class T> __device__ static bool c2cu_whole(bool negative, unsigned long size, bool more, T *to) {
    *to = (T)(negative ? 0 - size : size);
    return more || c2cu_size(*to) != size || (size != 0 && c2cu_below(*to) != negative);
}
template <class T> __device__ static bool c2cu_sum(bool p, unsigned long x, bool q, unsigned long y, T *to) {
    if (p == q) return c2cu_whole(p, x + y, x + y < x, to);
    return x < y ? c2cu_whole(q, y - x, false, to) : c2cu_whole(p, x - y, false, to);
}
template <class A, class B, class T> __device__ static bool c2cu_add_overflow(A a, B b, T *to) {
    return c2cu_sum(c2cu_below(a), c2cu_size(a), c2cu_below(b), c2cu_size(b), to);
}
template <class A, class B, class T> __device__ static bool c2cu_sub_overflow(A a, B b, T *to) {
    return c2cu_sum(c2cu_below(a), c2cu_size(a), !c2cu_below(b), c2cu_size(b), to);
}
template <class A, class B, class T> __device__ static bool c2cu_mul_overflow(A a, B b, T *to) {
    unsigned long x = c2cu_size(a), y = c2cu_size(b);
    return c2cu_whole(c2cu_below(a) != c2cu_below(b), x * y, __umul64hi(x, y) != 0, to);
}""",
    "c2cu_qsort": """/* qsort as glibc does it: what compares equal stays in order. */
__device__ static void c2cu_reverse(char *from, char *to, unsigned long size) {
    for (; from + size < to; from += size) {
        to -= size;
        for (unsigned long k = 0; k < size; k++) {
            char byte = from[k];
            from[k] = to[k];
            to[k] = byte;
        }
    }
}
template <class F> __device__ static void c2cu_qsort(void *base, unsigned long n, unsigned long size, F compare) {
    char *all = (char *)base, *end = all + n * size;
    for (unsigned long width = size; width < n * size; width *= 2)
        for (char *i = all; (unsigned long)(end - i) > width;) {
            char *j = i + width, *stop = (unsigned long)(end - j) > width ? j + width : end;
            while (i < j && j < stop) {
                char *k = j;
                while (k < stop && compare(i, k) > 0) k += size;
                if (k > j) {
                    c2cu_reverse(i, j, size);
                    c2cu_reverse(j, k, size);
                    c2cu_reverse(i, k, size);
                    i += k - j;
                    j = k;
                } else
                    i += size;
            }
            i = stop;
        }
}
template <class F> __device__ static void *c2cu_bsearch(
    const void *key, const void *base, unsigned long n, unsigned long size, F compare) {
    for (unsigned long low = 0, high = n; low < high;) {
        unsigned long k = (low + high) / 2;
        char *at = (char *)base + k * size;
        int order = compare(key, at);
        if (order == 0) return at;
        if (order < 0) high = k;
        else low = k + 1;
    }
    return 0;
}""",
    "c2cu_loose": """/* What may lie at any address: the device faults on an address that is no multiple of the size. */
template <class T> __device__ static T c2cu_load(const volatile void *from) {
    if (((unsigned long)from & (alignof(T) - 1)) == 0) return *(const T *)from;
    T value;
    for (unsigned long k = 0; k < sizeof value; k++) ((unsigned char *)&value)[k] = ((const unsigned char *)from)[k];
    return value;
}
template <class T> __device__ static T c2cu_store(volatile void *to, T value) {
    if (((unsigned long)to & (alignof(T) - 1)) == 0) return *(T *)to = value;
    for (unsigned long k = 0; k < sizeof value; k++) ((unsigned char *)to)[k] = ((const unsigned char *)&value)[k];
    return value;
}
template <class U, class T> __device__ static T c2cu_before_loose(void *x, int by) {
    return c2cu_store<T>(x, (T)((U)c2cu_load<T>(x) + (U)by));
}
template <class U, class T> __device__ static T c2cu_after_loose(void *x, int by) {
    T was = c2cu_load<T>(x);
    c2cu_store<T>(x, (T)((U)was + (U)by));
    return was;
}""",
}


def call(callee: str, args: list[str], types: list[CType], helpers: dict[str, None]) -> str | None:
    """A call's text, None where a device has no such function. ``types``: of the arguments. ``helpers`` gets what the
    text needs."""
    plain = callee.removeprefix("__builtin_")
    if callee != plain:
        plain = _BUILT_IN.get(plain, plain)
    if plain in _CONSTANTS and callee != plain:
        return _CONSTANTS[plain]
    if plain in ("isnormal", "fpclassify") and types and types[-1] == FLOAT:
        plain += "f"
    if callee in ("__builtin_isinf", "__builtin_isinff"):
        return f"({call('isinf', args, types, helpers)} != 0)"
    if plain in ("unreachable", "trap"):
        return "__builtin_unreachable()" if plain == "unreachable" else "__trap()"
    if plain in _OVERFLOW:
        helpers["c2cu_overflow"] = None
        return f"c2cu_{plain}({', '.join(args)})"
    if plain in _NUMBERS:
        helpers["c2cu_digits"] = None
    if plain in _INTEGERS:
        helpers["c2cu_integer"] = None
    if plain in _FUNCTIONS:
        helpers[f"c2cu_{plain}"] = None
        return f"c2cu_{plain}({', '.join(args)})"
    if plain in _TWO_RESULTS:
        return f"::{plain}(({_TWO_RESULTS[plain]})({args[0]}), {args[1]})"
    if plain not in libm.FUNCTIONS:
        return None
    _, params = libm.FUNCTIONS[plain]
    converted = [a if k < len(types) and types[k] == p else f"({p})({a})" for k, (a, p) in enumerate(zip(args, params))]
    ours = math_call(plain)
    return f"{'' if ours != plain else '::'}{ours}({', '.join(converted)})"


def with_integers(text: str) -> str:
    """A kernel's text, with the definition of ``c2cu_integer`` where it calls it."""
    return f"{_TEMPLATES['c2cu_integer']}\n{text}" if "c2cu_integer<" in text else text


def definitions(helpers: Iterable[str]) -> list[str]:
    """The text of `helpers`, in a fixed order."""
    names = set(helpers)
    out = [text for name, text in _TEMPLATES.items() if name in names]
    for name, (result, params, body) in _FUNCTIONS.items():
        if f"c2cu_{name}" in names:
            body = _MATH.sub(lambda m: math_call(m[1]), body)
            out.append(f"__device__ static {result} c2cu_{name}({params}) {{ {body} }}")
    return out
