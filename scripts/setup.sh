# Sourced by ./pleach and ./test: puts in place what the build needs and is missing.
#
#   ensure_tools   apt packages and cargo; says what to run when it may not install
#   build_pleach   target/release/pleach, unless it is newer than everything it is made of; then the C library, unless it
#                  is in the cache

# Compiler and libraries of LLVM 19; what Bitwuzla is built from; Z3; SQLite; the sanitizers of replay; 32-bit programs (-m32).
packages=(
  clang-19 llvm-19 llvm-19-dev llvm-19-tools libclang-rt-19-dev libzstd-dev zlib1g-dev libxml2-dev
  g++ binutils make pkg-config python3-venv libgmp-dev libmpfr-dev libsymfpu-dev
  libz3-dev libsqlite3-dev ca-certificates libc6-dev-i386 lib32gcc-12-dev
)

say() { echo "pleach: $*" >&2; }

lacking() {
  local package
  for package in "${packages[@]}"; do
    [ "$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null)" = installed ] || echo "$package"
  done
}

ensure_tools() {
  local missing as_root=()
  mapfile -t missing < <(lacking)
  if [ ${#missing[@]} -gt 0 ]; then
    if [ "$(id -u)" -ne 0 ]; then
      if ! command -v sudo >/dev/null || ! sudo -n true 2>/dev/null && ! [ -t 0 ]; then
        say "some packages are missing; install them with"
        echo "  apt-get update && apt-get install -y --no-install-recommends ${missing[*]}" >&2
        return 1
      fi
      as_root=(sudo)
    fi
    say "installing ${missing[*]}"
    "${as_root[@]}" apt-get update -qq >&2 &&
      "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
        apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null || {
      say "the packages could not be installed"
      return 1
    }
  fi
  if ! command -v cargo >/dev/null; then
    [ -x "$HOME/.cargo/bin/cargo" ] && PATH=$HOME/.cargo/bin:$PATH && return
    say "cargo is missing; it comes with Rust, see https://rustup.rs"
    return 1
  fi
}

# The sources are compared with a stamp, not with the program, which cargo leaves alone when nothing in it changed.
built() {
  local stamp=$root/target/release/.pleach-built
  [ -x "$root/target/release/pleach" ] && [ -x "$root/target/release/pleach-frontend" ] && [ -e "$stamp" ] &&
    [ -z "$(find "$root/crates" "$root/runtime" "$root/solvers" "$root/Cargo.toml" "$root/Cargo.lock" \
      -newer "$stamp" -print -quit)" ]
}

build_pleach() {
  local before quiet=
  built && return
  ensure_tools || return 1
  say "building (the first time takes several minutes)"
  mkdir -p "$root/target/release"
  # What changes during the build is newer than the stamp, and built next time.
  before=$(mktemp "$root/target/release/.stamp.XXXXXX")
  [ -t 2 ] || quiet=--quiet
  (cd "$root" && CARGO_TARGET_DIR=$root/target cargo build ${quiet:+"$quiet"} --release --locked -p pleach-cli >&2) || {
    rm -f "$before"
    return 1
  }
  mv "$before" "$root/target/release/.pleach-built"
  "$root/libc/build.sh" || say "without the C library, calls of its functions end paths"
}
