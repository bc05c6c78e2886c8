# Sourced by ./pleach and ./test: puts in place what the build needs and is missing, and says which step it is at.
#
#   ensure_tools   apt packages and cargo; says what to run when it may not install
#   build_solver   Bitwuzla, unless it is in the cache
#   build_pleach   target/release/pleach, unless it is newer than everything it is made of; then the C library, unless it
#                  is in the cache

# Compiler and libraries of LLVM 19; what Bitwuzla is built from; Z3; SQLite; the sanitizers and the sandbox of replay;
# 32-bit programs (-m32).
packages=(
  clang-19 llvm-19 llvm-19-dev llvm-19-tools libclang-rt-19-dev libzstd-dev zlib1g-dev libxml2-dev
  g++ binutils make pkg-config python3-venv libgmp-dev libmpfr-dev libsymfpu-dev
  libz3-dev libsqlite3-dev ca-certificates libseccomp-dev libc6-dev-i386 lib32gcc-12-dev
)

say() { echo "pleach: $*" >&2; }

# step NUMBER NAME LOG COMMAND...: runs it, saying when it begins and how long it took. On a terminal a line that is
# renewed shows the time and the last line of the log; LOG is `-` for commands that show their own progress.
step() {
  local number=$1 name=$2 log=$3 started=$SECONDS status=0 line pid
  shift 3
  say "step $number of 4: $name"
  if [ "$log" != - ] && [ -t 2 ]; then
    "$@" >/dev/null &
    pid=$!
    while kill -0 "$pid" 2>/dev/null; do
      line=$(tail -n 1 "$log" 2>/dev/null | tr -d '\r\033' | cut -c 1-60) || line=
      printf '\r\033[2K  %s %s' "$(elapsed "$started")" "$line" >&2
      sleep 1
    done
    wait "$pid" || status=$?
    printf '\r\033[2K' >&2
  else
    "$@" >&2 || status=$?
  fi
  [ "$status" -eq 0 ] && say "step $number of 4: done after $(elapsed "$started")"
  return "$status"
}

elapsed() { printf '%d:%02d' $(((SECONDS - $1) / 60)) $(((SECONDS - $1) % 60)); }

lacking() {
  local package
  for package in "${packages[@]}"; do
    [ "$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null)" = installed ] || echo "$package"
  done
}

# Of the caller: what is missing, and how to become root.
install_packages() {
  "${as_root[@]}" apt-get update -qq &&
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
      apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
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
    step 1 "installing ${#missing[@]} packages: ${missing[*]}" - install_packages || {
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

build_crates() {
  local quiet=
  [ -t 2 ] || quiet=--quiet
  (cd "$root" && CARGO_TARGET_DIR=$root/target cargo build ${quiet:+"$quiet"} --release --locked -p pleach-cli)
}

build_libc() {
  "$root/libc/build.sh" --built || step 4 "the C library as bitcode" "$("$root/libc/build.sh" --log)" "$root/libc/build.sh"
}

build_solver() {
  local solver=$root/solvers/build-bitwuzla.sh
  "$solver" --built || step 2 "the solver Bitwuzla" "$("$solver" --log)" "$solver"
}

build_pleach() {
  local before
  built && return
  ensure_tools || return 1
  [ -d "$root/target/release" ] || say "building for the first time, which takes several minutes"
  mkdir -p "$root/target/release"
  # What changes during the build is newer than the stamp, and built next time.
  before=$(mktemp "$root/target/release/.stamp.XXXXXX")
  build_solver &&
    step 3 "Pleach and its Rust crates" - build_crates || {
    rm -f "$before"
    return 1
  }
  mv "$before" "$root/target/release/.pleach-built"
  build_libc || say "without the C library, calls of its functions end paths"
}
