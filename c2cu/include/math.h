#ifndef C2CU_MATH_H
#define C2CU_MATH_H
#define M_E 2.7182818284590452354
#define M_LOG2E 1.4426950408889634074
#define M_LOG10E 0.43429448190325182765
#define M_LN2 0.69314718055994530942
#define M_LN10 2.30258509299404568402
#define M_PI 3.14159265358979323846
#define M_PI_2 1.57079632679489661923
#define M_PI_4 0.78539816339744830962
#define M_1_PI 0.31830988618379067154
#define M_2_PI 0.63661977236758134308
#define M_2_SQRTPI 1.12837916709551257390
#define M_SQRT2 1.41421356237309504880
#define M_SQRT1_2 0.70710678118654752440
#define INFINITY (__builtin_inff())
#define NAN (__builtin_nanf(""))
#define HUGE_VAL (__builtin_inf())
#define HUGE_VALF (__builtin_inff())
typedef float float_t;
typedef double double_t;
float __builtin_inff(void); double __builtin_inf(void); float __builtin_nanf(const char *s); double __builtin_nan(const char *s);
double acos(double x); double asin(double x); double atan(double x); double cos(double x);
double sin(double x); double tan(double x); double cosh(double x); double sinh(double x);
double tanh(double x); double acosh(double x); double asinh(double x); double atanh(double x);
double exp(double x); double exp2(double x); double expm1(double x); double log(double x);
double log10(double x); double log1p(double x); double log2(double x); double logb(double x);
double cbrt(double x); double fabs(double x); double sqrt(double x); double erf(double x);
double erfc(double x); double lgamma(double x); double tgamma(double x); double ceil(double x);
double floor(double x); double nearbyint(double x); double rint(double x); double round(double x);
double trunc(double x); double atan2(double x, double y); double pow(double x, double y);
double hypot(double x, double y); double fmod(double x, double y); double remainder(double x, double y);
double copysign(double x, double y); double nextafter(double x, double y); double fdim(double x, double y);
double fmax(double x, double y); double fmin(double x, double y); double fma(double x, double y, double z);
double ldexp(double x, int n); double scalbn(double x, int n); double frexp(double x, int *n);
double modf(double x, double *i); long lround(double x); long long llround(double x); long lrint(double x);
long long llrint(double x); int ilogb(double x);
float acosf(float x); float asinf(float x); float atanf(float x); float cosf(float x); float sinf(float x);
float tanf(float x); float coshf(float x); float sinhf(float x); float tanhf(float x); float acoshf(float x);
float asinhf(float x); float atanhf(float x); float expf(float x); float exp2f(float x);
float expm1f(float x); float logf(float x); float log10f(float x); float log1pf(float x);
float log2f(float x); float logbf(float x); float cbrtf(float x); float fabsf(float x); float sqrtf(float x);
float erff(float x); float erfcf(float x); float lgammaf(float x); float tgammaf(float x);
float ceilf(float x); float floorf(float x); float nearbyintf(float x); float rintf(float x);
float roundf(float x); float truncf(float x); float atan2f(float x, float y); float powf(float x, float y);
float hypotf(float x, float y); float fmodf(float x, float y); float remainderf(float x, float y);
float copysignf(float x, float y); float nextafterf(float x, float y); float fdimf(float x, float y);
float fmaxf(float x, float y); float fminf(float x, float y); float fmaf(float x, float y, float z);
float ldexpf(float x, int n); float scalbnf(float x, int n); float frexpf(float x, int *n);
float modff(float x, float *i); long lroundf(float x); long long llroundf(float x); long lrintf(float x);
long long llrintf(float x); int ilogbf(float x);
int isnan(double x); int isinf(double x); int isfinite(double x); int signbit(double x); int isnormal(double x);
#endif
