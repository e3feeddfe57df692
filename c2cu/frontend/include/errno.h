#ifndef C2CU_ERRNO_H
#define C2CU_ERRNO_H
extern int errno;
#define EDOM 33
#define ERANGE 34
#define EINVAL 22
#endif
