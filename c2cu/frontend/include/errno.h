#ifndef C2CU_ERRNO_H
#define C2CU_ERRNO_H
extern int errno;
#if __has_include(<asm/errno.h>)
#include <asm/errno.h>
#else
#define EDOM 33
#define ERANGE 34
#define EINVAL 22
#endif
#endif
