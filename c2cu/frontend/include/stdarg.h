#ifndef C2CU_STDARG_H
#define C2CU_STDARG_H
typedef char *va_list;
typedef char *__gnuc_va_list;
#endif
