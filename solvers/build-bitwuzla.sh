#!/usr/bin/env bash
# Builds Bitwuzla 0.9.1 and its SAT solver CaDiCaL 2.1.3 as static libraries, once per cache
# directory; later runs find the stamp and return at once. With --built it only says by its status whether that is done,
# with --log where the log is.
#
#   result   ${PLEACH_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/pleach}/bitwuzla-0.9.1/{lib,include}
#   needs    apt: g++ binutils pkg-config python3 python3-venv libgmp-dev libmpfr-dev libsymfpu-dev
#            and cargo. meson and ninja come from PyPI into a throw-away virtual environment.
#   sources  PyPI source distribution `bitwuzla`; CaDiCaL out of the crate `rustsat-cadical`.
#            Both are asked for by package name, so mirrors configured for pip and cargo apply.
#
# Raise `recipe` whenever the outcome of this script changes, so that old caches are rebuilt.
set -euo pipefail

version=0.9.1
sdist_sha256=2dbb333262e0a8a0438f683748f8acc4079950351dfd26def25dc3b14df37aa1
cadical_crate=0.7.4
recipe=1

cache=${PLEACH_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/pleach}
prefix=$cache/bitwuzla-$version
stamp=$prefix/.complete-$recipe
log=$cache/bitwuzla-$version.log

case ${1:-} in
--built) [ -e "$stamp" ] && exit 0 || exit 1 ;;
--log) echo "$log" && exit ;;
esac
[ -e "$stamp" ] && exit 0
mkdir -p "$cache"

# Several cargo invocations may get here together: the first one builds, the others wait.
exec 9>"$cache/bitwuzla-$version.lock"
flock 9
[ -e "$stamp" ] && exit 0

jobs=$(nproc 2>/dev/null || echo 2)
# Inside the cache, so that the final rename stays within one file system and is atomic.
work=$(mktemp -d "$cache/.bitwuzla-build.XXXXXX")
# The trap may run while standard error is redirected into the log, hence the copy.
exec 8>&2
finish() {
  status=$?
  rm -rf "$work"
  [ "$status" -eq 0 ] || echo "build-bitwuzla: failed; see $log" >&8
}
trap finish EXIT

missing() {
  echo "build-bitwuzla: $1 not found (apt: $2)" | tee "$log" >&2
  exit 1
}
for tool in c++:g++ ar:binutils pkg-config:pkg-config python3:python3-venv; do
  command -v "${tool%%:*}" >/dev/null || missing "${tool%%:*}" "${tool##*:}"
done
for header in gmp.h:libgmp-dev mpfr.h:libmpfr-dev symfpu/core/add.h:libsymfpu-dev; do
  printf '#if !__has_include(<%s>)\n#error\n#endif\n' "${header%%:*}" | c++ -E -x c++ - >/dev/null 2>&1 ||
    missing "<${header%%:*}>" "${header##*:}"
done

fetch_bitwuzla() {
  python3 -m venv "$work/venv"
  export PIP_DISABLE_PIP_VERSION_CHECK=1
  "$work/venv/bin/pip" install -q 'meson>=1.2,<2' ninja
  # pip asks a source distribution's build backend for metadata even when it only downloads, and
  # the real backend would configure the whole project. This one answers without doing so.
  mkdir "$work/backend"
  cat >"$work/backend/mesonpy.py" <<'PY'
import os

def prepare_metadata_for_build_wheel(directory, config_settings=None):
    info = "bitwuzla-0.dist-info"
    os.makedirs(os.path.join(directory, info))
    version = os.environ["BITWUZLA_VERSION"]
    with open(os.path.join(directory, info, "METADATA"), "w") as out:
        out.write(f"Metadata-Version: 2.1\nName: bitwuzla\nVersion: {version}\n")
    return info
PY
  PYTHONPATH=$work/backend BITWUZLA_VERSION=$version "$work/venv/bin/pip" download -q --no-deps \
    --no-build-isolation --no-binary :all: -d "$work" "bitwuzla==$version"
  echo "$sdist_sha256  $work/bitwuzla-$version.tar.gz" | sha256sum -c --quiet
  tar -xzf "$work/bitwuzla-$version.tar.gz" -C "$work"
}

fetch_cadical() {
  mkdir -p "$work/fetch/src"
  : >"$work/fetch/src/lib.rs"
  cat >"$work/fetch/Cargo.toml" <<TOML
[package]
name = "fetch"
version = "0.0.0"
edition = "2021"
[workspace]
[dependencies]
rustsat-cadical = "=$cadical_crate"
TOML
  # `metadata` unpacks the crate as a side effect and says where, wherever cargo keeps it.
  "${CARGO:-cargo}" metadata -q --format-version 1 --manifest-path "$work/fetch/Cargo.toml" \
    --filter-platform "$(uname -m)-unknown-linux-gnu" >"$work/metadata.json"
  crate=$(python3 - "$work/metadata.json" <<'PY'
import json, os, sys
packages = json.load(open(sys.argv[1]))["packages"]
print(next(os.path.dirname(p["manifest_path"]) for p in packages if p["name"] == "rustsat-cadical"))
PY
  )
  mkdir -p "$work/cadical"
  cp -r "$crate/cppsrc/src" "$work/cadical/src"
  # The crate adds its own C API by four includes; without them these are the plain sources.
  sed -i '/^#include "c\{0,1\}cadical_extension\.\|^#include "solver_extension\./d' "$work"/cadical/src/*.[ch]pp \
    "$work"/cadical/src/*.h
}

build_cadical() {
  cd "$work/cadical"
  mkdir -p obj "$work/deps/include/cadical" "$work/deps/lib"
  # The front ends have a main() and are left out.
  find src -name '*.cpp' ! -name cadical.cpp ! -name mobical.cpp ! -name ipasir.cpp -printf '%f\n' |
    xargs -P "$jobs" -I{} c++ -std=c++17 -O3 -w -fPIC -DNDEBUG -DNCONTRACTS -DNTRACING -DNBUILD \
      -c src/{} -o obj/{}.o
  ar rcs "$work/deps/lib/libcadical.a" obj/*.o
  cp src/cadical.hpp src/tracer.hpp "$work/deps/include/cadical/"
}

build_bitwuzla() {
  cd "$work/bitwuzla-$version"
  # Debian 12 has GMP 6.2.1 and MPFR 4.2.0; nothing of the newer releases is used.
  sed -i "s/version: '>=6\.3'/version: '>=6.2'/; s/version: '>=4\.2\.1'/version: '>=4.2'/" src/meson.build
  # SymFPU is headers only and on the system's include path: an empty dependency satisfies the wrap.
  mkdir -p subprojects/symfpu
  printf "project('symfpu', 'cpp')\nsymfpu_dep = declare_dependency()\n" >subprojects/symfpu/meson.build
  export CPLUS_INCLUDE_PATH=$work/deps/include LIBRARY_PATH=$work/deps/lib PATH=$work/venv/bin:$PATH
  meson setup build --buildtype=release -Db_ndebug=true -Ddefault_library=static -Dcadical=true \
    -Dtesting=disabled -Dunit_testing=disabled --wrap-mode=nodownload
  # All archives, since the main one does not pull in the helpers; but not the stand-alone solver.
  ninja -C build -t targets all | sed -n 's/^\(.*\.a\): .*/\1/p' |
    xargs ninja -C build -j "$jobs"
}

install_all() {
  stage=$work/stage
  mkdir -p "$stage/lib"
  # The helper archives (bit vectors, bit blasting, ...) are thin, naming objects of this directory:
  # everything goes into one real archive.
  find "$work/bitwuzla-$version/build/src" -name '*.o' ! -path '*/bitwuzla.p/*' -print0 |
    sort -z | xargs -0 ar qcs "$stage/lib/libbitwuzla.a"
  cp "$work/deps/lib/libcadical.a" "$stage/lib/"
  cp -r "$work/bitwuzla-$version/include" "$stage/include"
  mkdir "$stage/licenses"
  cp "$work/bitwuzla-$version/COPYING" "$stage/licenses/bitwuzla"
  cp "$crate/cppsrc/LICENSE" "$stage/licenses/cadical"
  # An archive that lacks something is found out here rather than by whoever links it.
  printf '%s\n' '#include <bitwuzla/c/bitwuzla.h>' 'int main() {' \
    '  BitwuzlaTermManager *tm = bitwuzla_term_manager_new();' \
    '  Bitwuzla *solver = bitwuzla_new(tm, nullptr);' \
    '  return bitwuzla_check_sat(solver) == BITWUZLA_SAT ? 0 : 1;' '}' >"$work/smoke.cpp"
  c++ -std=c++17 -I"$stage/include" "$work/smoke.cpp" -o "$work/smoke" -L"$stage/lib" \
    -lbitwuzla -lcadical -lmpfr -lgmp
  "$work/smoke"
  : >"$stage/.complete-$recipe"
  rm -rf "$prefix"
  mv -T "$stage" "$prefix"
}

echo "build-bitwuzla: building Bitwuzla $version into $prefix (several minutes, once)"
started=$SECONDS
{
  fetch_bitwuzla
  fetch_cadical
  build_cadical
  build_bitwuzla
  install_all
} >"$log" 2>&1
echo "build-bitwuzla: done in $((SECONDS - started)) s"
