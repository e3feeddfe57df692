#ifndef C2CU_STDLIB_H
#define C2CU_STDLIB_H
#include <stddef.h>
typedef struct { int quot, rem; } div_t;
typedef struct { long quot, rem; } ldiv_t;
typedef struct { long long quot, rem; } lldiv_t;
#define EXIT_SUCCESS 0
#define EXIT_FAILURE 1
#define RAND_MAX 2147483647
void *malloc(size_t n); void *calloc(size_t n, size_t size); void *realloc(void *p, size_t n); void free(void *p);
void *aligned_alloc(size_t alignment, size_t n);
void exit(int status); void _Exit(int status); void quick_exit(int status); void abort(void);
int atexit(void (*f)(void)); int at_quick_exit(void (*f)(void));
int atoi(const char *s); long atol(const char *s); long long atoll(const char *s); double atof(const char *s);
long strtol(const char *s, char **end, int base); long long strtoll(const char *s, char **end, int base);
unsigned long strtoul(const char *s, char **end, int base);
unsigned long long strtoull(const char *s, char **end, int base);
double strtod(const char *s, char **end); float strtof(const char *s, char **end);
int rand(void); void srand(unsigned int seed); long random(void); void srandom(unsigned int seed); double drand48(void);
long lrand48(void); long mrand48(void); void srand48(long seed); int rand_r(unsigned int *seed);
int abs(int x); long labs(long x); long long llabs(long long x); div_t div(int a, int b); ldiv_t ldiv(long a, long b);
lldiv_t lldiv(long long a, long long b); long double strtold(const char *s, char **end);
void qsort(void *base, size_t n, size_t size, int (*compare)(const void *, const void *));
void *bsearch(const void *key, const void *base, size_t n, size_t size, int (*compare)(const void *, const void *));
char *getenv(const char *name); int setenv(const char *name, const char *value, int replace);
int unsetenv(const char *name); int putenv(char *entry); int posix_memalign(void **p, size_t alignment, size_t n);
void *alloca(size_t n); int mkstemp(char *template);
int system(const char *command);
#endif
