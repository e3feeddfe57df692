#ifndef C2CU_STDLIB_H
#define C2CU_STDLIB_H
#if __has_include(<features.h>) /* the C library says what it is there: __GLIBC__ and its kind */
#include <features.h>
#endif
#include <stddef.h>
#if __has_include(<endian.h>) /* as glibc's includes it, unless -std=c11 forbids */
#include <endian.h>
#endif
#ifdef __USE_MISC /* and <sys/types.h> */
typedef unsigned char u_char, u_int8_t;
typedef unsigned short u_short, ushort, u_int16_t;
typedef unsigned int u_int, uint, u_int32_t, mode_t, uid_t, gid_t;
typedef unsigned long u_long, ulong, u_int64_t, dev_t, ino_t;
typedef signed char int8_t;
typedef short int16_t;
typedef int int32_t, pid_t;
typedef long int64_t, ssize_t, off_t, time_t, clock_t;
#endif
typedef struct { int quot, rem; } div_t;
typedef struct { long quot, rem; } ldiv_t;
typedef struct { long long quot, rem; } lldiv_t;
#define EXIT_SUCCESS 0
#define EXIT_FAILURE 1
#define RAND_MAX 2147483647
void *malloc(size_t); void *calloc(size_t, size_t); void *realloc(void *, size_t); void free(void *);
void *aligned_alloc(size_t, size_t);
void exit(int); void _Exit(int); void quick_exit(int); void abort(void);
int atexit(void (*)(void)); int at_quick_exit(void (*)(void));
int atoi(const char *); long atol(const char *); long long atoll(const char *); double atof(const char *);
long strtol(const char *, char **, int); long long strtoll(const char *, char **, int);
unsigned long strtoul(const char *, char **, int);
unsigned long long strtoull(const char *, char **, int);
double strtod(const char *, char **); float strtof(const char *, char **);
int rand(void); void srand(unsigned int); long random(void); void srandom(unsigned int); double drand48(void);
long lrand48(void); long mrand48(void); void srand48(long); int rand_r(unsigned int *);
int abs(int); long labs(long); long long llabs(long long); div_t div(int, int); ldiv_t ldiv(long, long);
lldiv_t lldiv(long long, long long); long double strtold(const char *, char **);
void qsort(void *, size_t, size_t, int (*)(const void *, const void *));
void *bsearch(const void *, const void *, size_t, size_t, int (*)(const void *, const void *));
char *getenv(const char *); int setenv(const char *, const char *, int);
int unsetenv(const char *); int putenv(char *); int posix_memalign(void **, size_t, size_t);
void *alloca(size_t); int mkstemp(char *);
int system(const char *);
#endif
