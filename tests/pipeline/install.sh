#!/bin/bash
# What is installed works without the build folder: tools, pages, completions; the library through pkg-config and CMake; a
# bundle that is moved and finds its libraries in itself.
# shellcheck source=tests/support/shell.sh
. "$(dirname "$0")/../support/shell.sh"
: "${BAM_BUILD_DIR:=$BAM_SOURCE/build}"
has_sanitizers && skip "a build with sanitizers is not installed"

prefix=$scratch/usr
cmake --install "$BAM_BUILD_DIR" --prefix "$prefix" >install.log 2>&1 || fail "cmake --install: $(tail -3 install.log)"

for source in "$BAM_SOURCE"/tools/bam_*.cpp; do
  tool=$(basename "$source" .cpp | tr _ -)
  expect 0 "$prefix/bin/$tool" --version
  [ -s "$prefix/share/man/man1/$tool.1" ] || fail "$tool: no manual page"
  bash -n "$prefix/share/bash-completion/completions/$tool" || fail "$tool: no completion for bash"
  grep -q "^#compdef $tool$" "$prefix/share/zsh/site-functions/_$tool" || fail "$tool: no completion for zsh"
done
[ -s "$prefix/share/man/man7/bam.7" ] || fail "no bam.7"
[ -s "$prefix/share/man/man5/bam-shard.5" ] || fail "no bam-shard.5"
[ -x "$prefix/share/bam/pipelines/report" ] || fail "no pipelines"
[ -s "$prefix/share/doc/bam-lm/copyright" ] || fail "no licence"
grep -rlF "$BAM_BUILD_DIR" "$prefix/bin" "$prefix/lib/cmake" "$prefix/lib/pkgconfig" >where 2>/dev/null
[ ! -s where ] || fail "the build folder's name is in $(cat where)"

# The installed pipeline runs the installed tools, in the folder one is in.
expect 0 env -u BAM_BUILD_DIR PATH="$prefix/bin:$PATH" make -n -f "$prefix/share/bam/pipelines/Makefile" TEXT=/dev/null
grep -q "^$prefix/bin/bam-train results/documents.tok.zst" out || fail "the installed Makefile: $(grep bam-train out | head -1)"

# A program of somebody else's, that counts the tokens of a shard.
mkdir consumer && cat >consumer/main.cpp <<'E2'
#include <cstdio>

#include "io/shard.h"

int main(int, char** argv) {
  bam::io::ShardReader shard(argv[1]);
  while (!shard.next().empty()) {
  }
  std::printf("%lld\n", static_cast<long long>(shard.tokens()));
}
E2
cat >consumer/CMakeLists.txt <<'E2'
cmake_minimum_required(VERSION 3.22)
project(consumer LANGUAGES C CXX)
set(CMAKE_CXX_STANDARD 20)
find_package(bam REQUIRED)
add_executable(count main.cpp)
target_link_libraries(count PRIVATE bam::bam_io)
E2
printf 'one two three' | "$prefix/bin/bam-tokenize" -q -o text.tok.zst - || fail "the installed bam-tokenize"
export PKG_CONFIG_PATH=$prefix/lib/pkgconfig
# shellcheck disable=SC2046
c++ -std=c++20 -o count consumer/main.cpp $(pkg-config --cflags --libs bam) 2>err || fail "pkg-config: $(head -5 err)"
expect 0 ./count text.tok.zst
[ "$(cat out)" = 14 ] || fail "14 tokens, BOS included: $(cat out)"
build_consumer() { cmake -S consumer -B consumer/build -DCMAKE_PREFIX_PATH="$prefix" && cmake --build consumer/build; }
build_consumer >log 2>&1 || fail "find_package(bam): $(tail -5 log)"
expect 0 consumer/build/count text.tok.zst
[ "$(cat out)" = 14 ] || fail "14 tokens, BOS included: $(cat out)"

expect 0 "$BAM_SOURCE/pipelines/bundle" first
mv first moved
expect 0 env -i moved/bin/bam-ppl --version
ldd moved/bin/bam-train | awk '$2 == "=>" && $3 ~ /^\// { print $3 }' | grep -vE '/lib(c|m|dl|rt|pthread|resolv)\.so' >libraries
[ -s libraries ] || fail "ldd named no library"
if grep -v "$scratch/moved/" libraries; then fail "libraries from outside the bundle, as above"; fi
expect 1 "$BAM_SOURCE/pipelines/bundle" moved
one_line_error 'moved is there already'
expect 2 "$BAM_SOURCE/pipelines/bundle"

# Packages have the same bytes from build to build, and all users may read them.
if command -v dpkg-shlibdeps >/dev/null; then
  package() { (umask 077 && cpack --config "$BAM_BUILD_DIR/CPackConfig.cmake" -G DEB -B "$1" >"$1.log" 2>&1) || fail "cpack: $(tail -3 "$1.log")"; }
  package once
  package again
  same once/bam-lm_*.deb again/bam-lm_*.deb
  same once/bam-lm-dev_*.deb again/bam-lm-dev_*.deb
  dpkg-deb -c once/bam-lm_*.deb >contents
  grep -vE '^[-d]rw[-x]r-[-x]r-[-x] root/root ' contents && fail "modes and owners, as above"
  grep -q '/zsh/vendor-completions/_bam-train$' contents || fail "no completion where Debian's zsh looks"
else
  echo "no dpkg-shlibdeps (dpkg-dev) here: packages were not made" >&2
fi

finish
