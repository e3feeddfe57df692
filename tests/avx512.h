/* Instructions of AVX-512 that this machine's processor may not have, in C: what tests execute in their place. */
#include <math.h>
#include <string.h>
typedef long long __m128i __attribute__((vector_size(16), may_alias));
typedef long long __m256i __attribute__((vector_size(32), may_alias));
typedef long long __m512i __attribute__((vector_size(64), may_alias));
typedef float __m256 __attribute__((vector_size(32), may_alias));
typedef double __m512d __attribute__((vector_size(64), may_alias));
typedef int I8 __attribute__((vector_size(32)));
typedef unsigned U8 __attribute__((vector_size(32)));
typedef unsigned long long U512 __attribute__((vector_size(64)));
#define EACH for (int i = 0; i < 8; i++)
#define DECIDED(a, b, code) ((code) == 0 ? a < b : (code) == 1 ? a <= b : (code) == 2 ? a > b : (code) == 3 ? a >= b : (code) == 4 ? a == b : a != b)
enum { _CMP_LT_OS, _CMP_LE_OS, _CMP_GT_OS, _CMP_GE_OS, _CMP_EQ_OQ, _CMP_NEQ_UQ };
enum { _MM_CMPINT_LT, _MM_CMPINT_LE, _MM_CMPINT_NLE, _MM_CMPINT_NLT, _MM_CMPINT_EQ, _MM_CMPINT_NE };
#define COMPARES(name, T, V) \
    static unsigned char name(T x, T y, int code) { \
        V a = (V)x, b = (V)y; \
        unsigned char m = 0; \
        EACH m |= DECIDED(a[i], b[i], code) << i; \
        return m; \
    }
COMPARES(_mm512_cmp_pd_mask, __m512d, __m512d)
COMPARES(_mm512_cmp_epi64_mask, __m512i, __m512i)
COMPARES(_mm512_cmp_epu64_mask, __m512i, U512)
COMPARES(_mm256_cmp_ps_mask, __m256, __m256)
COMPARES(_mm256_cmp_epi32_mask, __m256i, I8)
COMPARES(_mm256_cmp_epu32_mask, __m256i, U8)
#define BLENDS(name, T, V) \
    static T name(unsigned char m, T a, T b) { \
        V r; \
        EACH r[i] = m >> i & 1 ? ((V)b)[i] : ((V)a)[i]; \
        return (T)r; \
    }
BLENDS(_mm512_mask_blend_pd, __m512d, __m512d)
BLENDS(_mm512_mask_blend_epi64, __m512i, __m512i)
BLENDS(_mm256_mask_blend_ps, __m256, __m256)
BLENDS(_mm256_mask_blend_epi32, __m256i, I8)
static __m512i _mm512_setzero_si512(void) { return (__m512i){0}; }
static __m512i _mm512_mask_i32gather_epi64(__m512i r, unsigned char m, __m256i at, const void *from, int scale) {
    EACH if (m >> i & 1) memcpy((char *)&r + 8 * i, (const char *)from + (long)((I8)at)[i] * scale, 8);
    return r;
}
static double rounded(double x, int how) {
    return how == 9 ? floor(x) : how == 10 ? ceil(x) : how == 11 ? trunc(x) : how == 4 ? rint(x) : nearbyint(x);
}
static __m512d _mm512_roundscale_pd(__m512d a, int how) { EACH a[i] = rounded(a[i], how); return a; }
static __m256 _mm256_round_ps(__m256 a, int how) { EACH a[i] = rounded(a[i], how); return a; }
static __m512d _mm512_fmadd_pd(__m512d a, __m512d b, __m512d c) { EACH a[i] = fma(a[i], b[i], c[i]); return a; }
static __m256 _mm256_fmadd_ps(__m256 a, __m256 b, __m256 c) { EACH a[i] = fmaf(a[i], b[i], c[i]); return a; }
static __m512d _mm512_sqrt_pd(__m512d a) { EACH a[i] = sqrt(a[i]); return a; }
static __m256 _mm256_sqrt_ps(__m256 a) { EACH a[i] = sqrtf(a[i]); return a; }
static __m128i _mm_loadu_si128(const __m128i *from) { __m128i r; memcpy(&r, from, sizeof r); return r; }
static __m512i _mm512_castsi128_si512(__m128i a) { return (__m512i){a[0], a[1]}; }
static __m512i _mm512_inserti64x2(__m512i a, __m128i b, int k) { a[2 * k] = b[0]; a[2 * k + 1] = b[1]; return a; }
static __m512i _mm512_unpacklo_epi64(__m512i a, __m512i b) {
    return (__m512i){a[0], b[0], a[2], b[2], a[4], b[4], a[6], b[6]};
}
static __m512i _mm512_unpackhi_epi64(__m512i a, __m512i b) {
    return (__m512i){a[1], b[1], a[3], b[3], a[5], b[5], a[7], b[7]};
}
typedef float __m512 __attribute__((vector_size(64), may_alias));
#define EACH16 for (int i = 0; i < 16; i++)
static __m512 _mm512_min_ps(__m512 a, __m512 b) { EACH16 a[i] = a[i] < b[i] ? a[i] : b[i]; return a; }
static __m512 _mm512_max_ps(__m512 a, __m512 b) { EACH16 a[i] = a[i] > b[i] ? a[i] : b[i]; return a; }
static __m512d _mm512_min_pd(__m512d a, __m512d b) { EACH a[i] = a[i] < b[i] ? a[i] : b[i]; return a; }
static __m512d _mm512_max_pd(__m512d a, __m512d b) { EACH a[i] = a[i] > b[i] ? a[i] : b[i]; return a; }
static __m256 _mm256_min_ps(__m256 a, __m256 b) { EACH a[i] = a[i] < b[i] ? a[i] : b[i]; return a; }
static __m256 _mm256_max_ps(__m256 a, __m256 b) { EACH a[i] = a[i] > b[i] ? a[i] : b[i]; return a; }
typedef int I16 __attribute__((vector_size(64)));
#define ALL(e) I16 r; for (int i = 0; i < 16; i++) r[i] = e; return (__m512i)r
static __m512i _mm512_set1_epi32(int c) { ALL(c); }
static __m512i _mm512_permutexvar_epi32(__m512i x, __m512i a) { ALL(((I16)a)[((I16)x)[i] & 15]); }
static __m512i _mm512_permutex2var_epi32(__m512i a, __m512i x, __m512i b) {
    ALL((((I16)x)[i] & 16 ? (I16)b : (I16)a)[((I16)x)[i] & 15]);
}
static __m512i _mm512_set1_epi64(long long c) { __m512i r; EACH r[i] = c; return r; }
static __m512i _mm512_permutexvar_epi64(__m512i x, __m512i a) { __m512i r; EACH r[i] = a[x[i] & 7]; return r; }
static __m512i _mm512_permutex2var_epi64(__m512i a, __m512i x, __m512i b) {
    __m512i r;
    EACH r[i] = (x[i] & 8 ? b : a)[x[i] & 7];
    return r;
}
static unsigned char _mm512_test_epi64_mask(__m512i a, __m512i b) {
    unsigned char m = 0;
    EACH m |= !!(a & b)[i] << i;
    return m;
}
static __m256i _mm512_cvtepi64_epi32(__m512i a) { I8 r; EACH r[i] = a[i]; return (__m256i)r; }
static __m512i _mm512_cvtepi32_epi64(__m256i a) { __m512i r; EACH r[i] = ((I8)a)[i]; return r; }
static __m512i _mm512_cvtepu32_epi64(__m256i a) { __m512i r; EACH r[i] = ((U8)a)[i]; return r; }
static __m512d _mm512_cvtepi32_pd(__m256i a) { __m512d r; EACH r[i] = ((I8)a)[i]; return r; }
static __m512d _mm512_cvtps_pd(__m256 a) { __m512d r; EACH r[i] = a[i]; return r; }
static unsigned short _mm512_test_epi32_mask(__m512i a, __m512i b) {
    unsigned short m = 0;
    for (int i = 0; i < 16; i++) m |= !!((I16)(a & b))[i] << i;
    return m;
}
static __m512i _mm512_mask_blend_epi32(unsigned short m, __m512i a, __m512i b) { ALL((m >> i & 1 ? (I16)b : (I16)a)[i]); }
typedef char V64 __attribute__((vector_size(64)));
#define ALL_BYTES(e) V64 r; for (int i = 0; i < 64; i++) r[i] = e; return (__m512i)r
static __m512i _mm512_permutexvar_epi8(__m512i x, __m512i a) { ALL_BYTES(((V64)a)[((V64)x)[i] & 63]); }
static __m512i _mm512_permutex2var_epi8(__m512i a, __m512i x, __m512i b) {
    ALL_BYTES(((V64)x)[i] & 64 ? ((V64)b)[((V64)x)[i] & 63] : ((V64)a)[((V64)x)[i] & 63]);
}
static __m512i _mm512_shuffle_epi8(__m512i a, __m512i x) {
    ALL_BYTES(((V64)x)[i] & 128 ? 0 : ((V64)a)[i / 16 * 16 + (((V64)x)[i] & 15)]);
}
static __m512i _mm512_broadcast_i32x4(__m128i a) { return (__m512i){a[0], a[1], a[0], a[1], a[0], a[1], a[0], a[1]}; }
static __m512i _mm512_set1_epi8(char c) { ALL_BYTES(c); }
static __m512i _mm512_and_si512(__m512i a, __m512i b) { return a & b; }
static unsigned long _mm512_test_epi8_mask(__m512i a, __m512i b) {
    unsigned long m = 0;
    for (int i = 0; i < 64; i++) m |= (unsigned long)!!((V64)(a & b))[i] << i;
    return m;
}
static __m512i _mm512_mask_blend_epi8(unsigned long m, __m512i a, __m512i b) { ALL_BYTES((m >> i & 1 ? (V64)b : (V64)a)[i]); }
static __m512i _mm512_mul_epu32(__m512i a, __m512i b) {
    return (__m512i)(((__m512i)a & 0xffffffffl) * ((__m512i)b & 0xffffffffl));
}
static __m512i _mm512_cvtepi8_epi32(__m128i a) { ALL(((signed char *)&a)[i]); }
static __m512i _mm512_cvtepu8_epi32(__m128i a) { ALL(((unsigned char *)&a)[i]); }
static __m128i _mm512_cvtepi32_epi8(__m512i a) {
    __m128i r;
    for (int i = 0; i < 16; i++) ((char *)&r)[i] = ((I16)a)[i];
    return r;
}
static __m128i _mm_cvtsi64_si128(long long a) { return (__m128i){a, 0}; }
static __m512i _mm512_castsi256_si512(__m256i a) { return (__m512i){a[0], a[1], a[2], a[3]}; }
static __m256i _mm512_castsi512_si256(__m512i a) { return (__m256i){a[0], a[1], a[2], a[3]}; }
static __m128i _mm512_castsi512_si128(__m512i a) { return (__m128i){a[0], a[1]}; }
static __m128i _mm512_extracti32x4_epi32(__m512i a, int k) { return (__m128i){a[2 * k], a[2 * k + 1]}; }
static __m128i _mm_set_epi32(int d, int c, int b, int a) {
    return (__m128i){(unsigned)a | (long long)b << 32, (unsigned)c | (long long)d << 32};
}
#define _mm512_set_epi32(p, o, n, m, l, k, j, i, h, g, f, e, d, c, b, a) \
    ((__m512i)(I16){a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p})
