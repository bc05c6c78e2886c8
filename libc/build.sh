#!/usr/bin/env bash
# Builds the C library as LLVM bitcode, once per cache directory; later runs find it and return at once.
# With --built it only says by its status whether that is done, with --log where the log is.
#
#   result   ${PLEACH_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/pleach}/musl-1.2.3-RECIPE/libc.a and libc32.a, archives of bitcode
#   needs    apt: clang-19 llvm-19
#   sources  Debian's source package `musl`, asked for by name with apt's own configuration (mirrors included) and a
#            private package index, so that neither root nor a deb-src line is needed.
#            PLEACH_MUSL=FILE names the source tarball instead.
#
# Raise `recipe` whenever the outcome of this script changes, here and in crates/pleach/src/libc.rs.
set -euo pipefail

version=1.2.3
sha256=7d5b0b6062521e4627e099e4c9dc8248d32a30285e959b7eecaa780cf8cfd4a4
recipe=16

here=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")" && pwd)
cache=${PLEACH_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/pleach}
name=musl-$version-$recipe
log=$cache/$name.log

case ${1:-} in
--built) [ -e "$cache/$name/libc.a" ] && exit 0 || exit 1 ;;
--log) echo "$log" && exit ;;
esac
[ -e "$cache/$name/libc.a" ] && exit 0
mkdir -p "$cache"

# Several runs may get here together: the first one builds, the others wait.
exec 9>"$cache/$name.lock"
flock 9
[ -e "$cache/$name/libc.a" ] && exit 0

fail() {
  echo "libc/build.sh: $*" >&2
  exit 1
}
for tool in clang-19 llvm-ar-19; do
  command -v "$tool" >/dev/null || fail "$tool not found (apt: clang-19 llvm-19)"
done

echo "pleach: building the C library (once; about a minute)" >&2
# Inside the cache, so that the final rename stays within one file system.
work=$(mktemp -d "$cache/.musl-build.XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$work"

fetch() {
  local list options
  mkdir -p apt/lists/partial apt/cache/archives/partial apt/parts
  for list in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
    [ -f "$list" ] && sed -n 's/^deb\([[:space:]]\)/deb-src\1/p' "$list" >>apt/parts/debian.list
  done
  for list in /etc/apt/sources.list.d/*.sources; do
    [ -f "$list" ] && sed 's/^Types:.*/Types: deb-src/' "$list" >"apt/parts/$(basename "$list")"
  done
  options=(-o "Dir::Etc::sourcelist=/dev/null" -o "Dir::Etc::sourceparts=$work/apt/parts" -o "Dir::State::lists=$work/apt/lists"
    -o "Dir::Cache=$work/apt/cache" -o "APT::Sandbox::User=$(id -un)")
  # Some of the listed archives may have no sources; what counts is whether musl can be had.
  apt-get "${options[@]}" update >>"$log" 2>&1 || true
  apt-get "${options[@]}" source --download-only musl >>"$log" 2>&1
}

: >"$log"
tarball=${PLEACH_MUSL:-musl_$version.orig.tar.gz}
[ -n "${PLEACH_MUSL-}" ] || fetch || fail "the sources of musl could not be fetched (is the machine offline? see $log)"
echo "$sha256  $tarball" | sha256sum -c --quiet >>"$log" 2>&1 || fail "$tarball is not musl $version (see $log)"
tar -xzf "$tarball"

source=$work/musl-$version
# With no locale in the environment musl means C.UTF-8; other C libraries mean C, and so do tests that are replayed with them.
sed -i 's/(val = "C.UTF-8");/(val = "C");/' "$source/src/locale/locale_map.c"
# Commands without an argument must not look for one, and GNU's headers call it by two names.
sed -i -e 's/^\targ = va_arg(ap, unsigned long);/\targ = cmd == F_GETFD || cmd == F_GETFL || cmd == F_GETOWN || cmd == F_GETSIG || cmd == F_GETLEASE || cmd == F_GETPIPE_SZ || cmd == F_GET_SEALS ? 0 : va_arg(ap, unsigned long);/' \
  -e '$a int fcntl64(int fd, int cmd, ...) __attribute__((alias("fcntl")));' "$source/src/fcntl/fcntl.c"
# Before `tzset` the GNU library has a name for the zone, musl none.
sed -i 's/^char \*__tzname\[2\] = .*/char *__tzname[2] = { "GMT", "GMT" };/' "$source/src/time/__tz.c"
# What the system's limits are is an assumption (`runtime/posix`), but for the size of a page and the clock ticks.
for file in sysconf fpathconf confstr; do
  usual='name != _SC_PAGE_SIZE \&\& name != _SC_CLK_TCK'
  [ "$file" = sysconf ] || usual=1
  said='pleach_assume_once(\&said, "limits of the system are those of musl");'
  sed -i -e "s/^{/{\n\tstatic int said;\n\tif ($usual) $said/" \
    -e '1i void pleach_assume_once(int *, const char *);' "$source/src/conf/$file.c"
done
mkdir -p objects include/bits
sed -f "$source/tools/mkalltypes.sed" "$source/arch/x86_64/bits/alltypes.h.in" "$source/include/alltypes.h.in" >include/bits/alltypes.h
cp "$source/arch/x86_64/bits/syscall.h.in" include/bits/syscall.h
sed -n 's/__NR_/SYS_/p' <"$source/arch/x86_64/bits/syscall.h.in" >>include/bits/syscall.h
echo "#define VERSION \"$version\"" >include/version.h

# Optimised, for the interpreter's sake, but with overflow defined, no vectors, and no recognition of library functions.
flags=(-c -emit-llvm -std=c99 -nostdinc -ffreestanding -O1 -g0 -w -fwrapv -fno-strict-aliasing -fno-vectorize
  -fno-slp-vectorize -fno-unroll-loops -fno-jump-tables -ffp-contract=off -fno-stack-protector -fcf-protection=none
  -fno-pic -D_XOPEN_SOURCE=700
  -I"$here/musl/arch" -I"$source/arch/x86_64" -I"$source/arch/generic" -Iinclude -I"$source/src/include"
  -I"$source/src/internal" -I"$source/include")

# Left out: what the engine stands in for (malloc), and what needs threads, a dynamic linker or a network.
list() {
  find "$source"/src/*/ -maxdepth 1 -name '*.c' |
    grep -v -E '/src/(aio|complex|ldso|malloc|mq)/|/thread/(pthread_create|synccall)\.c|/network/(dns|dn_|ns_|res_)'
  printf "%s\n" "$here"/musl/*.c
}
compile() {
  local file=$1 object extra=()
  shift
  object=$(echo "${file#"$work/"}" | tr / -)
  local into=$1
  shift
  # The word-wise variants of string functions, meant for GNU C, read past the ends of objects.
  case $file in */src/string/*) extra=(-U__GNUC__) ;; esac
  clang-19 "$@" "${extra[@]}" -o "$into/${object%.c}.bc" "$file"
}
export -f compile
export work
list | LC_ALL=C sort | xargs -P "$(nproc)" -I{} bash -c 'compile "$@"' compile {} objects "${flags[@]}" >>"$log" 2>&1 ||
  fail "musl does not compile (see $log)"

# For 32-bit programs once more; system calls have the same numbers. What must not be linked there is said in crates/frontend/src/library.rs.
mkdir -p objects32 include32/bits
sed -f "$source/tools/mkalltypes.sed" "$source/arch/i386/bits/alltypes.h.in" "$source/include/alltypes.h.in" >include32/bits/alltypes.h
cp include/bits/syscall.h "$source/arch/x86_64/bits/float.h" include32/bits/
cp include/version.h include32/
flags32=(-m32 -I"$here/musl/arch32" -Iinclude32)
for flag in "${flags[@]}"; do
  [ "$flag" = -Iinclude ] || flags32+=("${flag/arch\/x86_64/arch/i386}")
done
list | LC_ALL=C sort | xargs -P "$(nproc)" -I{} bash -c 'compile "$@"' compile {} objects32 "${flags32[@]}" >>"$log" 2>&1 ||
  fail "musl does not compile for 32 bits (see $log)"

mkdir result
llvm-ar-19 rcsD result/libc.a objects/*.bc
llvm-ar-19 rcsD result/libc32.a objects32/*.bc
cp "$source/COPYRIGHT" result/
rm -rf "${cache:?}/$name"
mv result "$cache/$name"
rm -f "$log"
