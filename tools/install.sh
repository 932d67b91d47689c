# Sourced by ./dev and .ci/run: `need SET…` installs the Debian packages of those sets that are missing, `want SET…` tries to.
# Nothing is asked of the network when everything is there.

package_set() {
  case "$1" in
    build)
      echo cmake ninja-build ccache clang-19 libclang-rt-19-dev lld-19 g++ libfmt-dev libcli11-dev libtomlplusplus-dev
      echo libgtest-dev librapidcheck-dev libxxhash-dev python3 pkg-config binutils gdb valgrind git ;;
    browser) echo chromium ;;  # the tests of the HTML timeline
    lint) echo clang-format-19 clang-tidy-19 ;;
    coverage) echo llvm-19 ;;
    docs) echo doxygen ;;
    # what ./dev bench compares calm with
    peer_tokio) echo rustc cargo librust-tokio-dev librust-libc-dev ;;
    peer_go) echo golang-go ;;
    peer_asio) echo libasio-dev ;;
    peer_tbb) echo libtbb-dev ;;
    *) echo "dev: no package set '$1'" >&2; return 1 ;;
  esac
}

installed() { [ "$(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null)" = installed ]; }

need() {
  local set package packages missing=() runner=()
  for set in "$@"; do
    packages=$(package_set "$set") || exit 1
    for package in $packages; do
      [[ " ${missing[*]} " = *" $package "* ]] || installed "$package" || missing+=("$package")
    done
  done
  [ ${#missing[@]} -eq 0 ] && return
  local install="apt-get install -y --no-install-recommends ${missing[*]}"
  if ! command -v apt-get >/dev/null; then
    printf 'dev: this needs Debian 12 packages and there is no apt-get here: %s\n' "${missing[*]}" >&2
    exit 1
  fi
  if [ "$(id -u)" -ne 0 ]; then
    # sudo may ask for a password only where someone can type one
    if ! command -v sudo >/dev/null || { [ ! -t 0 ] && ! sudo -n true 2>/dev/null; }; then
      printf 'dev: packages are missing and this is not root; run this as root, then try again: %s\n' "$install" >&2
      exit 1
    fi
    runner=(sudo)
  fi
  printf '==> installing %s\n' "${missing[*]}"
  mkdir -p build
  if ! { "${runner[@]}" apt-get update -q && "${runner[@]}" env DEBIAN_FRONTEND=noninteractive $install; } 2>&1 |
    tee build/install.log | awk '/^Unpacking/ && ++n % 20 == 0 { print "    " n " packages unpacked"; fflush() }'; then
    printf 'dev: could not install %s (no network?): %s; all of it in build/install.log\n' "${missing[*]}" \
      "$(grep -E '^(E|Err|W):' build/install.log | tail -n 1)" >&2
    exit 1
  fi
}

# want SET…: the same for what one can do without; says so when it cannot be installed.
want() {
  local set
  for set in "$@"; do (need "$set") || printf '==> going on without %s\n' "$set" >&2; done
}
