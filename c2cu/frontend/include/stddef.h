#ifndef C2CU_STDDEF_H
#define C2CU_STDDEF_H
typedef unsigned long size_t;
typedef long ptrdiff_t;
typedef int wchar_t;
#define NULL ((void *)0)
#define offsetof(type, member) __builtin_offsetof(type, member)
typedef struct { long long c2cu_a; long double c2cu_b; } max_align_t;
#endif
