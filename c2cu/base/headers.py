"""What the headers declare that generated programs include, whether the user's own text does or not.

stdio.h, stdlib.h, string.h, setjmp.h, unistd.h, sys/select.h, pthread.h and stdint.h of glibc, with all extensions, and
stdatomic.h of GCC: others declare less.
"""

from __future__ import annotations

import re

from . import libc
from .ctype import INT, LONG, SCHAR, SHORT, UCHAR, UINT, ULONG, USHORT, CType, Struct

#: Beside the functions that `libc` lists: types, tags, objects and functions of processes and files.
_NAMES = frozenset(
    (
        "FILE acct alarm blkcnt_t blksize_t brk caddr_t chdir chown chroot clearerr_unlocked clock_t clockid_t "
        "close_range closefrom comparison_fn_t confstr copy_file_range cpu_set_t crypt daddr_t daemon dev_t div_t "
        "drand48_data dup2 dup3 eaccess endusershell euidaccess faccessat fchdir fchown fchownat fd_mask fd_set "
        "fdatasync feof_unlocked ferror_unlocked fexecve fgetc_unlocked fgets_unlocked fileno_unlocked fpathconf "
        "fpos_t fread_unlocked fsblkcnt_t fsfilcnt_t fsid_t fsync ftruncate get_current_dir_name getc_unlocked "
        "getchar_unlocked getcwd getdate_err getdomainname getdtablesize getentropy getgroups gethostname "
        "getlogin getlogin_r getopt getpagesize getpass getpgrp getusershell getwd gid_t group_member id_t ino_t "
        "intmax_t intptr_t isatty itimerspec jmp_buf key_t lchown ldiv_t linkat lldiv_t locale_t lockf loff_t "
        "lseek mode_t nlink_t obstack obstack_printf obstack_vprintf off_t optarg opterr optind optopt pathconf "
        "pid_t pipe2 pread profil pwrite quad_t random_data readlink readlinkat revoke rmdir sbrk setdomainname "
        "sethostname setlogin setpgrp setusershell sigabbrev_np sigdescr_np sigevent sigjmp_buf sigset_t size_t "
        "socklen_t ssize_t strcasecmp_l strcoll_l strerror_l strerrordesc_np strerrorname_np strftime_l "
        "strncasecmp_l strptime_l strxfrm_l suseconds_t symlink symlinkat syncfs syscall sysconf tcgetpgrp "
        "tcsetpgrp time_t timer_t timespec timespec_getres timeval timex tm truncate ttyname ttyname_r ttyslot "
        "ualarm uid_t uint uintmax_t uintptr_t ulong unlinkat useconds_t ushort usleep va_list vfork vhangup "
        "wchar_t"
    ).split()
)
_FAMILIES = re.compile(
    r"u?int(_fast|_least)?(8|16|32|64)_t|u_(char|short|int|long|quad_t|int(8|16|32|64)_t)"
    r"|strto(d|f|ld|u?ll?|f\d+x?)(_l)?|strfrom(d|f|l|f\d+x?)|cookie_(io_functions|(close|read|seek|write)_function)_t"
    r"|f?exec(l|v)(e|p|pe)?|execveat|[gs]et(e|r?e?s?)?[gu]id|[gs]et(p|host)id|[gs]etpg(id|rp)|[gs]et[st]id"
    r"|(fopen|freopen|fseeko|ftello|f[gs]etpos|lseek|pread|pwrite|f?truncate|tmpfile|lockf|mko?stemps?)64"
    r"|(off|ino|blkcnt|fpos|fsblkcnt|fsfilcnt)64_t|pthread_\w+|sched_\w+|PTHREAD_\w+"
    r"|memory_order(_(relaxed|consume|acquire|release|acq_rel|seq_cst))?|atomic_(u?(char|short|int|llong|long)|bool|schar"
    r"|flag|char16_t|char32_t|wchar_t|size_t|ptrdiff_t|u?int(ptr|max)_t|u?int_(least|fast)(8|16|32|64)_t"
    r"|(thread|signal)_fence|flag_(clear|test_and_set)(_explicit)?)"
)
_MACROS = re.compile(
    r"NULL|EOF|BUFSIZ|(FOPEN|FILENAME|TMP)_MAX|P_tmpdir|L_(ctermid|cuserid|tmpnam|INCR|SET|XTND)"
    r"|SEEK_(SET|CUR|END|DATA|HOLE)|RAND_MAX|EXIT_(FAILURE|SUCCESS)|MB_CUR_MAX"
    r"|W(NOHANG|UNTRACED|STOPPED|EXITED|CONTINUED|NOWAIT|EXITSTATUS|TERMSIG|STOPSIG)|WIF(EXITED|SIGNALED|STOPPED|CONTINUED)"
    r"|[FRWX]_OK|F_(TEST|TLOCK|LOCK|ULOCK)|FD_(SET|CLR|ISSET|ZERO|SETSIZE)|NFDBITS|CLOCKS_PER_SEC|TIMER_ABSTIME|TIME_UTC"
    r"|CPU_(ALLOC|AND|CLR|COUNT|EQUAL|FREE|ISSET|OR|SET|SETSIZE|XOR|ZERO)(_S|_SIZE)?|CSIGNAL|CLONE_\w+"
    r"|SCHED_(BATCH|DEADLINE|FIFO|IDLE|ISO|OTHER|RESET_ON_FORK|RR)"
    r"|CLOCK_(BOOTTIME|MONOTONIC|PROCESS_CPUTIME_ID|REALTIME|TAI|THREAD_CPUTIME_ID)\w*|PTHREAD_\w+|pthread_cleanup_\w+"
    r"|(MOD|ADJ)_(CLKA|CLKB|ESTERROR|FREQUENCY|MAXERROR|MICRO|NANO|OFFSET\w*|SETOFFSET|STATUS|TAI|TICK|TIMECONST)"
    r"|STA_(CLK|CLOCKERR|DEL|FLL|FREQHOLD|INS|MODE|NANO|PLL|PPS\w+|RONLY|UNSYNC)"
    r"|(U?INT\w*|PTRDIFF|SIZE|WCHAR|WINT|SIG_ATOMIC)_(MAX|MIN|WIDTH|C)|RENAME_(EXCHANGE|NOREPLACE|WHITEOUT)"
    r"|(BIG|LITTLE|PDP)_ENDIAN|BYTE_ORDER|[bl]e(16|32|64)toh|hto[bl]e(16|32|64)|strn?dupa|TEMP_FAILURE_RETRY"
    r"|CLOSE_RANGE_(CLOEXEC|UNSHARE)|STD(IN|OUT|ERR)_FILENO|sched_priority"
    r"|ATOMIC_\w+|kill_dependency|atomic_(thread_fence|signal_fence|init|is_lock_free|flag_(clear|test_and_set)(_explicit)?)"
    r"|atomic_(load|store|exchange|compare_exchange_(strong|weak)|fetch_(add|sub|or|xor|and))(_explicit)?"
)
#: Types that programs define by themselves as the headers do.
_TYPES = {
    "int8_t": SCHAR, "int16_t": SHORT, "int32_t": INT, "int64_t": LONG, "ssize_t": LONG, "intptr_t": LONG,
    "uint8_t": UCHAR, "uint16_t": USHORT, "uint32_t": UINT, "uint64_t": ULONG, "size_t": ULONG, "uintptr_t": ULONG,
    "ushort": USHORT, "uint": UINT, "ulong": ULONG, "u_char": UCHAR, "u_short": USHORT, "u_int": UINT, "u_long": ULONG,
}  # fmt: skip


def declares(name: str) -> bool:
    """Whether a name at the top of a file may be one of a header's."""
    return name in libc.DECLARED or name in _NAMES or bool(_FAMILIES.fullmatch(name))


def defines(name: str) -> bool:
    """Whether a name may be a macro of a header's, which changes it wherever it stands."""
    return bool(_MACROS.fullmatch(name))


def is_the_headers(name: str, t: CType) -> bool:
    """Whether a type is the same as that which a header defines by its name."""
    return _TYPES.get(name) == t or (name == "FILE" and isinstance(t, Struct))
