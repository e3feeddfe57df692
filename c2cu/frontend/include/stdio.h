#ifndef C2CU_STDIO_H
#define C2CU_STDIO_H
#if __has_include(<features.h>) /* the C library says what it is there: __GLIBC__ and its kind */
#include <features.h>
#endif
#include <stddef.h>
#include <stdarg.h>
#ifndef __FILE_defined /* as glibc guards it, whose other headers define it too */
#define __FILE_defined 1
typedef struct c2cu_file FILE;
#endif
typedef long off_t;
extern FILE *stdin, *stdout, *stderr;
#define stdin stdin
#define stdout stdout
#define stderr stderr
#define FILENAME_MAX 4096
#define FOPEN_MAX 16
#define L_tmpnam 20
#define TMP_MAX 238328
#define EOF (-1)
#define BUFSIZ 8192
#define SEEK_SET 0
#define SEEK_CUR 1
#define SEEK_END 2
#define _IOFBF 0
#define _IOLBF 1
#define _IONBF 2
int printf(const char *, ...); int fprintf(FILE *, const char *, ...);
int sprintf(char *, const char *, ...); int snprintf(char *, size_t, const char *, ...);
int scanf(const char *, ...); int fscanf(FILE *, const char *, ...);
int sscanf(const char *, const char *, ...);
int vprintf(const char *, va_list); int vfprintf(FILE *, const char *, va_list);
int puts(const char *); int fputs(const char *, FILE *); int putchar(int); int putc(int, FILE *);
int fputc(int, FILE *); int getchar(void); int getc(FILE *); int fgetc(FILE *); int ungetc(int, FILE *);
char *fgets(char *, int, FILE *); FILE *fopen(const char *, const char *); int fclose(FILE *);
FILE *freopen(const char *, const char *, FILE *);
size_t fread(void *, size_t, size_t, FILE *); size_t fwrite(const void *, size_t, size_t, FILE *);
int fflush(FILE *); int feof(FILE *); int ferror(FILE *); int fseek(FILE *, long, int);
long ftell(FILE *); void rewind(FILE *); void perror(const char *);
int setvbuf(FILE *, char *, int, size_t); void setbuf(FILE *, char *);
long getline(char **, size_t *, FILE *);
int getchar_unlocked(void); int putchar_unlocked(int); int getc_unlocked(FILE *); int putc_unlocked(int, FILE *);
int vsprintf(char *, const char *, va_list); int vsnprintf(char *, size_t, const char *, va_list);
int vscanf(const char *, va_list); int vfscanf(FILE *, const char *, va_list);
int vsscanf(const char *, const char *, va_list);
int dprintf(int, const char *, ...); int vdprintf(int, const char *, va_list);
void clearerr(FILE *); int remove(const char *); int rename(const char *, const char *); FILE *tmpfile(void);
FILE *fdopen(int, const char *); int fileno(FILE *); FILE *popen(const char *, const char *);
int pclose(FILE *); int fseeko(FILE *, off_t, int); off_t ftello(FILE *);
long getdelim(char **, size_t *, int, FILE *);
#endif
