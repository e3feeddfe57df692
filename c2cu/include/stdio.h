#ifndef C2CU_STDIO_H
#define C2CU_STDIO_H
#include <stddef.h>
#include <stdarg.h>
typedef struct c2cu_file FILE;
typedef long off_t;
extern FILE *stdin, *stdout, *stderr;
#define EOF (-1)
#define BUFSIZ 8192
#define SEEK_SET 0
#define SEEK_CUR 1
#define SEEK_END 2
#define _IOFBF 0
#define _IOLBF 1
#define _IONBF 2
int printf(const char *format, ...); int fprintf(FILE *f, const char *format, ...);
int sprintf(char *s, const char *format, ...); int snprintf(char *s, size_t n, const char *format, ...);
int scanf(const char *format, ...); int fscanf(FILE *f, const char *format, ...);
int sscanf(const char *s, const char *format, ...);
int vprintf(const char *format, va_list a); int vfprintf(FILE *f, const char *format, va_list a);
int puts(const char *s); int fputs(const char *s, FILE *f); int putchar(int c); int putc(int c, FILE *f);
int fputc(int c, FILE *f); int getchar(void); int getc(FILE *f); int fgetc(FILE *f); int ungetc(int c, FILE *f);
char *fgets(char *s, int n, FILE *f); FILE *fopen(const char *path, const char *mode); int fclose(FILE *f);
FILE *freopen(const char *path, const char *mode, FILE *f);
size_t fread(void *p, size_t size, size_t n, FILE *f); size_t fwrite(const void *p, size_t size, size_t n, FILE *f);
int fflush(FILE *f); int feof(FILE *f); int ferror(FILE *f); int fseek(FILE *f, long offset, int whence);
long ftell(FILE *f); void rewind(FILE *f); void perror(const char *s);
int setvbuf(FILE *f, char *buffer, int mode, size_t n); void setbuf(FILE *f, char *buffer);
long getline(char **line, size_t *n, FILE *f);
int getchar_unlocked(void); int putchar_unlocked(int c); int getc_unlocked(FILE *f); int putc_unlocked(int c, FILE *f);
int vsprintf(char *s, const char *format, va_list a); int vsnprintf(char *s, size_t n, const char *format, va_list a);
int vscanf(const char *format, va_list a); int vfscanf(FILE *f, const char *format, va_list a);
int vsscanf(const char *s, const char *format, va_list a);
int dprintf(int fd, const char *format, ...); int vdprintf(int fd, const char *format, va_list a);
void clearerr(FILE *f); int remove(const char *path); int rename(const char *from, const char *to); FILE *tmpfile(void);
FILE *fdopen(int fd, const char *mode); int fileno(FILE *f); FILE *popen(const char *command, const char *mode);
int pclose(FILE *f); int fseeko(FILE *f, off_t offset, int whence); off_t ftello(FILE *f);
long getdelim(char **line, size_t *n, int end, FILE *f);
#endif
