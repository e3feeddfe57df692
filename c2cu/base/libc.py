"""The functions of the C library by what they do to a process: which of them a kernel may reach under ``native``."""

from __future__ import annotations

from . import libm

#: Functions that end an input instead of the process; and with the one that says what is done at such an end.
ENDERS = frozenset("exit _exit _Exit quick_exit abort __assert_fail".split())
ENDS = ENDERS | {"atexit"}
#: Functions whose memory lasts as long as the input.
HEAP = frozenset(
    "malloc calloc realloc reallocarray free aligned_alloc memalign valloc posix_memalign malloc_usable_size strdup "
    "__strdup strndup asprintf vasprintf".split()
)
#: Those, and alloca, whose memory is one object, of a size that an argument says.
ALLOCATES = frozenset("malloc calloc alloca aligned_alloc".split())
#: Functions with a memory of their own, which every input finds as a fresh process does.
COUNTS = frozenset(
    "rand srand random srandom drand48 erand48 lrand48 nrand48 mrand48 jrand48 srand48 seed48 lcong48 strtok".split()
)
#: Those of them that lowering has in C, and one whose memory is the caller's: random numbers, which are glibc's.
GENERATORS = frozenset("rand random srand srandom rand_r drand48 lrand48 mrand48 srand48".split())
#: Output, which is discarded or refused.
PRINTS = frozenset(
    "printf fprintf vprintf vfprintf __printf_chk __fprintf_chk __vprintf_chk __vfprintf_chk puts fputs putchar fputc "
    "putc _IO_putc putchar_unlocked fputc_unlocked putc_unlocked fputs_unlocked fwrite fwrite_unlocked perror fflush "
    "fflush_unlocked ferror clearerr setvbuf setbuf".split()
)
#: The streams that they print to.
STREAMS = frozenset("stdout stderr".split())
#: Those that are replaced at link time.
WRAPPED = ENDS | HEAP | COUNTS | PRINTS
#: The state that each thread has: the error number, and how floats are rounded.
ERRORS = frozenset("__errno_location ___errno __error".split())
ROUNDING = frozenset(
    "feclearexcept fegetexceptflag feraiseexcept fesetexceptflag fetestexcept fegetround fesetround fegetenv "
    "feholdexcept fesetenv feupdateenv feenableexcept fedisableexcept fegetexcept fesetexcept".split()
)

_TEXT = (
    "memcpy memmove memset memcmp memchr memrchr memmem mempcpy memccpy rawmemchr bcmp bcopy bzero explicit_bzero "
    "ffs ffsl ffsll index rindex strlen strnlen strcpy strncpy stpcpy stpncpy strlcpy strlcat strcat strncat strcmp "
    "strncmp strcasecmp strncasecmp strcoll strxfrm strchr strchrnul strrchr strstr strcasestr strspn strcspn strpbrk "
    "strsep strtok_r __strtok_r strerror strverscmp basename swab "
    "sprintf snprintf vsprintf vsnprintf sscanf vsscanf "
    "isalnum isalpha isascii isblank iscntrl isdigit isgraph islower isprint ispunct isspace isupper isxdigit toascii "
    "tolower toupper _tolower _toupper"
).split()
#: What headers of the C library declare beside the functions of math.h and those above.
_OTHERS = (
    "alloca arc4random arc4random_buf arc4random_uniform asctime asctime_r at_quick_exit canonicalize_file_name "
    "clearenv clock clock_adjtime clock_getcpuclockid clock_getres clock_gettime clock_nanosleep clock_settime clone "
    "ctermid ctime ctime_r cuserid daylight dprintf duplocale dysize ecvt ecvt_r environ fclose fcloseall fcvt fcvt_r "
    "fdopen feof fgetc fgetpos fgets fgetwc fgetws fileno flockfile fmemopen fopen fopencookie fputwc fputws fread "
    "freelocale freopen fscanf fseek fseeko fsetpos ftell ftello ftrylockfile funlockfile fwide fwprintf fwscanf gcvt "
    "getc getchar getcpu getdate getdate_r getdelim getenv getline getloadavg getpt getsubopt getw getwc getwchar "
    "gmtime grantpt initstate isctype localeconv localtime localtime_r mbsnrtowcs memfrob mkdtemp mkostemp mkostemps "
    "mkstemp mkstemps mktemp mktime nanosleep newlocale on_exit open_memstream open_wmemstream pclose popen "
    "posix_openpt pselect ptsname ptsname_r putenv putw putwc putwchar qecvt qecvt_r qfcvt qfcvt_r qgcvt realpath "
    "remove rename renameat renameat2 rewind rpmatch scanf secure_getenv select setbuffer setenv setlinebuf setlocale "
    "setns setstate stdin strerror_r strfmon strfry strftime strptime strsignal swscanf system tempnam time timelocal "
    "timer_create timer_delete timer_getoverrun timer_gettime timer_settime timespec_get timezone tmpfile tmpnam "
    "tmpnam_r tzname tzset ungetc ungetwc unlockpt unsetenv unshare uselocale vdprintf vfscanf vfwprintf vfwscanf "
    "vscanf vswscanf vwprintf vwscanf wcpcpy wcpncpy wcscasecmp wcschrnul wcscoll wcsdup wcsftime wcsncasecmp "
    "wcsnrtombs wcstold wcstoq wcstouq wcswcs wcswidth wcsxfrm wcwidth wmempcpy wprintf wscanf read write open close "
    "pipe link unlink access dup fork sleep pause nice sync signal raise kill"
).split()
_NUMBERS = (
    "atoi atol atoll atof strtol strtoul strtoll strtoull strtoq strtouq strtof strtod strtold strtoimax strtoumax "
    "abs labs llabs imaxabs div ldiv lldiv imaxdiv qsort qsort_r bsearch lfind lsearch rand_r random_r srandom_r "
    "initstate_r setstate_r drand48_r erand48_r lrand48_r nrand48_r mrand48_r jrand48_r "
    "srand48_r seed48_r lcong48_r a64l l64a htonl htons ntohl ntohs frexpf frexp frexpl modf modff modfl "
    "copysignl scalbnl ldexpl finite isinf isnan finitef isinff isnanf finitel isinfl isnanl gmtime_r timegm difftime"
).split()
_WIDE = (
    "btowc wctob mbtowc wctomb mblen mbstowcs wcstombs mbrtowc wcrtomb mbrlen mbsinit mbsrtowcs wcsrtombs "
    "wcslen wcsnlen wcscpy wcsncpy wcscat wcsncat wcscmp wcsncmp wcschr wcsrchr wcsstr wcsspn wcscspn wcspbrk wcstok "
    "wmemcpy wmemmove wmemset wmemcmp wmemchr wcstol wcstoul wcstoll wcstoull wcstod wcstof swprintf vswprintf "
    "iswalnum iswalpha iswblank iswcntrl iswdigit iswgraph iswlower iswprint iswpunct iswspace iswupper iswxdigit "
    "towlower towupper wctype iswctype wctrans towctrans"
).split()
_COMPLEX = (
    "cabs carg cimag creal conj cproj cexp clog cpow csqrt csin ccos ctan casin cacos catan csinh ccosh ctanh casinh "
    "cacosh catanh"
).split()
_JUMPS = "setjmp _setjmp sigsetjmp __sigsetjmp longjmp _longjmp siglongjmp __longjmp_chk".split()
_INNER = (
    "__ctype_b_loc __ctype_tolower_loc __ctype_toupper_loc __stack_chk_fail __chk_fail __cxa_finalize "
    "_ITM_deregisterTMCloneTable _ITM_registerTMCloneTable __gmon_start__ __tls_get_addr _GLOBAL_OFFSET_TABLE_ "
    "__fpclassify __fpclassifyf __fpclassifyl __signbit __signbitf __signbitl __isnan __isnanf __isnanl __isinf "
    "__isinff __isinfl __finite __finitef __finitel"
).split()

#: Functions that depend on their arguments alone.
PURE = frozenset(libm.DECLARED) | frozenset((*_TEXT, *_NUMBERS, *_WIDE, *_COMPLEX, *_JUMPS, *_INNER))
#: Names that a header may declare, whatever a program includes.
DECLARED = PURE | WRAPPED | STREAMS | frozenset(_OTHERS)


def is_pure(name: str) -> bool:
    """Whether a function, by whatever name a compiler and its headers call it, depends on its arguments alone."""
    if name in PURE or name in ERRORS or name in ROUNDING:
        return True
    plain = name.removeprefix("__isoc99_").removeprefix("__isoc23_").removeprefix("__builtin_").strip("_")
    for ending in ("_chk", "_finite", "_r", "f", "l"):
        plain = plain.removesuffix(ending) if plain not in PURE else plain
    return plain in PURE
