#ifndef C2CU_CTYPE_H
#define C2CU_CTYPE_H
#if __has_include(<features.h>) /* the C library says what it is there: __GLIBC__ and its kind */
#include <features.h>
#endif
int isalnum(int); int isalpha(int); int isblank(int); int iscntrl(int); int isdigit(int);
int isgraph(int); int islower(int); int isprint(int); int ispunct(int); int isspace(int);
int isupper(int); int isxdigit(int); int tolower(int); int toupper(int);
int isascii(int); int toascii(int);
#endif
