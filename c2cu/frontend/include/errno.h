#ifndef C2CU_ERRNO_H
#define C2CU_ERRNO_H
#if __has_include(<features.h>) /* the C library says what it is there: __GLIBC__ and its kind */
#include <features.h>
#endif
extern int errno;
#define errno errno
#if __has_include(<asm/errno.h>)
#include <asm/errno.h>
#else
#define EDOM 33
#define ERANGE 34
#define EINVAL 22
#endif
#endif
