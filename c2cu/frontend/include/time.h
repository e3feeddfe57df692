#ifndef C2CU_TIME_H
#define C2CU_TIME_H
#if __has_include(<features.h>) /* the C library says what it is there: __GLIBC__ and its kind */
#include <features.h>
#endif
#include <stddef.h>
typedef long time_t;
typedef long clock_t;
#ifndef _STRUCT_TIMESPEC /* as glibc guards it, whose other headers define it too */
#define _STRUCT_TIMESPEC 1
struct timespec { time_t tv_sec; long tv_nsec; };
#endif
#ifndef __struct_tm_defined
#define __struct_tm_defined 1
struct tm { int tm_sec, tm_min, tm_hour, tm_mday, tm_mon, tm_year, tm_wday, tm_yday, tm_isdst; long tm_gmtoff; const char *tm_zone; };
#endif
#define CLOCKS_PER_SEC ((clock_t)1000000)
#define CLOCK_REALTIME 0
#define CLOCK_MONOTONIC 1
time_t time(time_t *); clock_t clock(void); double difftime(time_t, time_t);
int clock_gettime(int, struct timespec *);
#endif
