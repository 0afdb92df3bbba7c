dnl SPDX-License-Identifier: GPL-3.0-or-later
dnl
dnl The macros of racewatch's configure.ac: the platform check, libraries that
dnl are named with their Debian package when missing, sanitizers, warnings.

dnl RW_REQUIRE_PLATFORM
dnl racewatch patches x86-64 text and drives Linux's ptrace: nothing else will do.
AC_DEFUN([RW_REQUIRE_PLATFORM], [
  AC_MSG_CHECKING([for Linux on x86-64])
  AC_COMPILE_IFELSE([AC_LANG_SOURCE([[
#if !defined(__linux__) || !defined(__x86_64__) || defined(__ILP32__)
#error "not x86-64 Linux"
#endif
int platform;
]])],
    [AC_MSG_RESULT([yes])],
    [AC_MSG_RESULT([no])
     AC_MSG_ERROR([racewatch runs on x86-64 Linux only])])
])

dnl RW_PKG(VARIABLE, MODULE-AND-VERSION, DEBIAN-PACKAGE)
dnl A library found by pkg-config; a missing one is remembered.
AC_DEFUN([RW_PKG], [
  PKG_CHECK_MODULES([$1], [$2], [],
    [rw_missing="$rw_missing $3"
     AC_MSG_WARN([$2 is missing (Debian package: $3)])])
])

dnl RW_LIBRARY(VARIABLE, LIBRARY, FUNCTION, HEADER, DEBIAN-PACKAGE)
dnl A library without a pkg-config file, found by its header and a function.
AC_DEFUN([RW_LIBRARY], [
  rw_found=yes
  AC_CHECK_HEADER([$4], [], [rw_found=no])
  AC_CHECK_LIB([$2], [$3], [], [rw_found=no])
  AS_IF([test "$rw_found" = yes],
    [AC_SUBST([$1_LIBS], [-l$2])],
    [rw_missing="$rw_missing $5"
     AC_MSG_WARN([$4 or lib$2 is missing (Debian package: $5)])])
])

dnl RW_REPORT_MISSING
dnl Gives up with the list of the packages that would mend it.
AC_DEFUN([RW_REPORT_MISSING], [
  AS_IF([test -n "$rw_missing"],
    [AC_MSG_ERROR([libraries are missing. On Debian:
  apt-get install$rw_missing])])
])

dnl RW_TEST_PKG, RW_TEST_LIBRARY, RW_TEST_PROG: as above, for what only the tests need.
AC_DEFUN([RW_TEST_PKG], [
  PKG_CHECK_MODULES([$1], [$2], [],
    [rw_test_missing="$rw_test_missing $3"
     AC_MSG_WARN([$2 is missing, no tests (Debian package: $3)])])
])

AC_DEFUN([RW_TEST_LIBRARY], [
  rw_found=yes
  AC_CHECK_HEADER([$4], [], [rw_found=no])
  AC_CHECK_LIB([$2], [$3], [:], [rw_found=no])
  AS_IF([test "$rw_found" = yes],
    [AC_SUBST([$1_LIBS], [-l$2])],
    [rw_test_missing="$rw_test_missing $5"
     AC_MSG_WARN([$4 or lib$2 is missing, no tests (Debian package: $5)])])
])

AC_DEFUN([RW_TEST_PROG], [
  AC_CHECK_PROG([$1], [$2], [$2])
  AS_IF([test -z "$$1"],
    [rw_test_missing="$rw_test_missing $3"
     AC_MSG_WARN([$2 is missing, no tests (Debian package: $3)])])
])

dnl RW_TEST_CRATE: the source of a Rust library, where Debian puts them.
AC_DEFUN([RW_TEST_CRATE], [
  AC_MSG_CHECKING([for the Rust crate $1])
  AS_IF([ls -d /usr/share/cargo/registry/$1-[[0-9]]* >/dev/null 2>&1],
    [AC_MSG_RESULT([yes])],
    [AC_MSG_RESULT([no])
     rw_test_missing="$rw_test_missing $2"
     AC_MSG_WARN([crate $1 is missing, no tests (Debian package: $2)])])
])

dnl RW_SANITIZERS
dnl --enable-asan and --enable-ubsan. The flags go to racewatch and its unit
dnl tests, never to the programs the tests watch: LeakSanitizer refuses to run
dnl under ptrace.
AC_DEFUN([RW_SANITIZERS], [
  AC_ARG_ENABLE([asan],
    [AS_HELP_STRING([--enable-asan], [build with AddressSanitizer])],
    [rw_asan=$enableval], [rw_asan=no])
  AC_ARG_ENABLE([ubsan],
    [AS_HELP_STRING([--enable-ubsan],
                    [build with UndefinedBehaviorSanitizer])],
    [rw_ubsan=$enableval], [rw_ubsan=no])
  SANITIZER_CFLAGS=
  AS_IF([test "$rw_asan" != no],
    [SANITIZER_CFLAGS="$SANITIZER_CFLAGS -fsanitize=address"])
  AS_IF([test "$rw_ubsan" != no],
    [SANITIZER_CFLAGS="$SANITIZER_CFLAGS -fsanitize=undefined dnl
-fno-sanitize-recover=undefined"])
  AS_IF([test -n "$SANITIZER_CFLAGS"],
    [SANITIZER_CFLAGS="$SANITIZER_CFLAGS -fno-omit-frame-pointer"])
  AC_SUBST([SANITIZER_CFLAGS])
  AM_CONDITIONAL([SANITIZED], [test -n "$SANITIZER_CFLAGS"])
])

dnl RW_WARNINGS
dnl The warnings of the house; --enable-werror turns them into errors.
AC_DEFUN([RW_WARNINGS], [
  AC_ARG_ENABLE([werror],
    [AS_HELP_STRING([--enable-werror], [treat compiler warnings as errors])],
    [rw_werror=$enableval], [rw_werror=no])
  WARN_CFLAGS="-Wall -Wextra -Wshadow -Wvla -Wmissing-prototypes dnl
-Wformat=2 -Wimplicit-fallthrough -Wundef -Wswitch-enum"
  AS_IF([test "$rw_werror" != no], [WARN_CFLAGS="$WARN_CFLAGS -Werror"])
  AC_SUBST([WARN_CFLAGS])
])

dnl RW_COMPLETION_DIRS
dnl Where the shells look for completions, below the prefix, so that neither
dnl `make install DESTDIR=...' nor `make distcheck' writes anywhere else. Zsh has
dnl a folder for the distribution's packages besides, for which there is an
dnl option.
AC_DEFUN([RW_COMPLETION_DIRS], [
  AC_SUBST([bashcompletiondir], ['${datadir}/bash-completion/completions'])
  AC_ARG_WITH([zsh-completions],
    [AS_HELP_STRING([--with-zsh-completions=DIR],
                    [install the completion for zsh here])],
    [], [with_zsh_completions='${datadir}/zsh/site-functions'])
  AC_SUBST([zshcompletiondir], [$with_zsh_completions])
  AC_SUBST([fishcompletiondir], ['${datadir}/fish/vendor_completions.d'])
])

dnl RW_VALGRIND
dnl The recorder of hunt is a tool for Valgrind: its headers, its static core,
dnl and the folder of what that loads at run time. Without them, it is not built.
AC_DEFUN([RW_VALGRIND], [
  rw_valgrind_missing=
  PKG_CHECK_MODULES([VALGRIND], [valgrind >= 3.19], [],
    [rw_valgrind_missing="no valgrind (Debian package: valgrind)"])
  AC_ARG_WITH([valgrind-folder],
    [AS_HELP_STRING([--with-valgrind-folder=DIR],
                    [where valgrind's default.supp is])],
    [], [with_valgrind_folder=])
  AS_IF([test -z "$rw_valgrind_missing"], [
    VALGRIND_CPPFLAGS=`AS_ECHO(["$VALGRIND_CFLAGS"]) | $SED 's/-I/-isystem /g'`
    VALGRIND_CPPFLAGS="$VALGRIND_CPPFLAGS -DVGO_linux=1 -DVGA_amd64=1 dnl
-DVGP_amd64_linux=1 -DVGPV_amd64_linux_vanilla=1"
    VALGRIND_ADDRESS=`$PKG_CONFIG --variable=valt_load_address valgrind`
    rw_prefix=`$PKG_CONFIG --variable=prefix valgrind`
    for rw_folder in "$with_valgrind_folder" "$rw_prefix/libexec/valgrind" \
                     "$rw_prefix/lib/valgrind"; do
      AS_IF([test -z "$VALGRIND_FOLDER" && test -f "$rw_folder/default.supp"],
        [VALGRIND_FOLDER=$rw_folder])
    done
    AS_IF([test -z "$VALGRIND_FOLDER"],
      [rw_valgrind_missing="valgrind's default.supp was not found"])
  ])
  AS_IF([test -z "$rw_valgrind_missing"], [
    AC_MSG_CHECKING([whether tools of valgrind can be linked])
    rw_save_CPPFLAGS=$CPPFLAGS rw_save_LIBS=$LIBS rw_save_LDFLAGS=$LDFLAGS
    CPPFLAGS="$CPPFLAGS $VALGRIND_CPPFLAGS"
    LDFLAGS="$LDFLAGS -static -no-pie -nodefaultlibs -nostartfiles -u _start"
    LIBS=$VALGRIND_LIBS
    AC_LINK_IFELSE([AC_LANG_SOURCE([[
#include "pub_tool_basics.h"
#include "pub_tool_tooliface.h"
static void start(void) {}
VG_DETERMINE_INTERFACE_VERSION(start)
]])],
      [AC_MSG_RESULT([yes])],
      [AC_MSG_RESULT([no])
       rw_valgrind_missing="valgrind's static core cannot be linked"])
    CPPFLAGS=$rw_save_CPPFLAGS LIBS=$rw_save_LIBS LDFLAGS=$rw_save_LDFLAGS
  ])
  AC_SUBST([VALGRIND_CPPFLAGS])
  AC_SUBST([VALGRIND_ADDRESS])
  AC_SUBST([VALGRIND_FOLDER])
  AM_CONDITIONAL([HAVE_VALGRIND], [test -z "$rw_valgrind_missing"])
])

dnl RW_TRANSACTIONS
dnl TRANSACTION_CFLAGS: what a program with transactional memory is compiled and
dnl linked with; nothing where the compiler has none.
AC_DEFUN([RW_TRANSACTIONS], [
  AC_MSG_CHECKING([for transactional memory])
  rw_saved_cflags=$CFLAGS
  CFLAGS="$CFLAGS -fgnu-tm"
  AC_LINK_IFELSE([AC_LANG_PROGRAM([[static int shared;]],
                                  [[__transaction_atomic { shared++; }]])],
    [AC_MSG_RESULT([yes])
     TRANSACTION_CFLAGS="-fgnu-tm -DTRANSACTIONS"],
    [AC_MSG_RESULT([no])
     TRANSACTION_CFLAGS=])
  CFLAGS=$rw_saved_cflags
  AC_SUBST([TRANSACTION_CFLAGS])
])
