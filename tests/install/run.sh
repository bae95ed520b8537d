#!/usr/bin/env bash
# Installs a build into an empty prefix and uses it as a stranger would.
#
#   run.sh BUILD_FOLDER C_COMPILER
#
# Each line printed is one check; the last one is "N passed, N failed".
set -u
build=$1
compiler=$2
cmake=${CMAKE:-cmake}
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
prefix=$work/moved
passed=0
failed=0

# check NAME COMMAND...: one check; the command's output is shown only when it fails.
check() {
  local name=$1
  shift
  if "$@" >"$work/log" 2>&1; then
    passed=$((passed + 1))
    echo "ok      $name"
  else
    failed=$((failed + 1))
    echo "FAILED  $name"
    sed 's/^/        /' "$work/log"
  fi
}

# says PROGRAM...: the consumer's answer.
says() {
  local answer
  answer=$("$@") && echo "$answer" && [ "$answer" = "f32[3] {2, 4, 7}" ]
}
installed() { [ -s "$prefix/$1" ]; }
flags() { PKG_CONFIG_PATH=$libdir/pkgconfig pkg-config "$@" indim; }

# Installed in one place and then moved: nothing may remember the first.
install_and_move() {
  "$cmake" --install "$build" --prefix "$work/first" && mv "$work/first" "$prefix"
}

by_find_package() {
  "$cmake" -S "$here" -B "$work/consumer" -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_C_COMPILER="$compiler" &&
    "$cmake" --build "$work/consumer"
}
# indim_add_model, with the command line of the installation; it asks for nothing of Indim but its own object.
with_model() {
  "$cmake" -S "$here" -B "$work/model" -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_C_COMPILER="$compiler" -DCONSUMER_MODEL=ON &&
    "$cmake" --build "$work/model" --target consumer_model && ! ldd "$work/model/consumer_model" | grep indim
}

by_pkg_config() { "$compiler" -std=c11 "$here/consumer.c" $(flags --cflags --libs) -o "$work/pkg_shared"; }
by_pkg_config_static() {
  "$compiler" -std=c11 -static "$here/consumer.c" $(flags --static --cflags --libs) -o "$work/pkg_static"
}

# Each public header can be included first, and by C++ too (its declarations are all C).
header_alone() { echo "#include \"indim/$1\"" | "$compiler" -std=c11 -Wall -Wextra -Wpedantic -Werror -I"$prefix/include" -fsyntax-only -x c -; }
header_in_cxx() { echo "#include \"indim/$1\"" | clang -std=c++11 -Wall -Werror -I"$prefix/include" -fsyntax-only -x c++ -; }

# The exported symbols are the functions that the public headers mark INDIM_API, no more and no fewer.
declared() {
  for header in "$prefix"/include/indim/*.h; do
    echo "#include \"indim/$(basename "$header")\""
  done | "$compiler" -std=c11 -I"$prefix/include" -E -P -x c - | tr '\n' ' ' | tr ';' '\n' |
    grep -F 'visibility("default")' |
    sed -E 's/__attribute__ ?\(\([a-z_]+(\([^()]*\))?\)\)//g; s/ *\(.*//; s/.*[ *]//' | sort -u
}
exports_match() {
  nm -D --defined-only "$libdir/libindim.so" | awk '$2 ~ /[TDBR]/ {print $3}' | sort -u >"$work/exported"
  declared >"$work/declared"
  diff -u "$work/declared" "$work/exported"
}

# Whoever links the static library sees its internal functions too: they all carry the prefix.
symbols_have_prefix() { ! nm -g --defined-only "$libdir/libindim.a" | awk 'NF == 3 {print $3}' | grep -v '^indim_'; }

# The library neither prints nor ends the process (release builds; a debug build has its assertions).
imports_are_quiet() {
  ! nm -D --undefined-only "$libdir/libindim.so" |
    grep -wE 'abort|_?exit|_Exit|__assert_fail|v?f?printf|__v?f?printf_chk|puts|f?putc|putchar|fputs|perror|stdout|stderr'
}

embeds() {
  "$compiler" -std=c11 -Wall -Wextra -Werror "$here/embedder.c" $(flags --cflags --libs) -o "$work/embedder" &&
    LD_LIBRARY_PATH=$libdir "$work/embedder"
}

# examples/custom_call, whose second run is refused by its own function.
calls_back() {
  local example=$here/../../examples/custom_call
  "$compiler" -std=c11 -Wall -Wextra -Werror "$example/custom_call.c" "$example/functions.c" $(flags --cflags --libs) -lm \
    -o "$work/custom_call" && LD_LIBRARY_PATH=$libdir "$work/custom_call" "$example/unit_rows.hlo" >"$work/answer" 2>&1 &&
    grep -qx -- '-6 -8, -3.84615 -9.23077' "$work/answer" &&
    grep -qx "y (custom-call): custom-call 'unit_rows' failed: row 1 is zero" "$work/answer"
}

compiles() { echo 'ENTRY e { x = f32[] parameter(0) ROOT y = add(x, x) }' | "${1:-$prefix/bin/indim}" run --engine=native - 2; }
compiles_through_link() { ln -s "$prefix/bin/indim" "$work/linked" && compiles "$work/linked"; }

# The library loaded by dlopen, from the folder that it lies in, by another name for it, and left behind by a change of
# folder afterwards: it still finds its code generator.
build_loader() { "$compiler" -std=c11 "$here/loader.c" -o "$work/loader" -ldl; }
loads_relative() { (cd "$libdir" && "$work/loader" ./libindim.so); }
loads_relative_and_leaves() { (cd "$libdir" && "$work/loader" ./libindim.so /); }
loads_link() { ln -s "$libdir/libindim.so" "$work/other.so" && (cd "$work" && "$work/loader" ./other.so /); }
# In a folder of a folder: a library looks beside its own folder, too, which may be shared with other programs.
without_generator() {
  mkdir -p "$work/alone/lib" && cp -L "$libdir/libindim.so" "$work/alone/lib/" && ! "$work/loader" "$work/alone/lib/libindim.so"
}

check "install" install_and_move
libdir=$(dirname "$(find "$prefix" -name libindim.so -print -quit)")
check "find_package builds" by_find_package
check "find_package, shared runs" says "$work/consumer/consumer_shared"
check "find_package, static runs" says "$work/consumer/consumer_static"
check "pkg-config builds, shared" by_pkg_config
check "pkg-config, shared runs" says env LD_LIBRARY_PATH="$libdir" "$work/pkg_shared"
check "pkg-config builds, static" by_pkg_config_static
check "pkg-config, static runs" says "$work/pkg_static"
for header in "$prefix"/include/indim/*.h; do
  name=$(basename "$header")
  check "indim/$name alone" header_alone "$name"
  check "indim/$name in C++" header_in_cxx "$name"
done
check "exported symbols are the declared ones" exports_match
check "symbols of the static library begin with indim_" symbols_have_prefix
if grep -q '^CMAKE_BUILD_TYPE:STRING=Release$' "$build/CMakeCache.txt"; then
  check "the library prints nothing and never exits" imports_are_quiet
fi
[ ! -e "$libdir/libindim-llvm.so" ] || check "a program that compiles others" embeds
[ ! -e "$libdir/libindim-llvm.so" ] || check "a program with a function of its own" calls_back
if [ -e "$libdir/libindim-llvm.so" ]; then
  check "a loader builds" build_loader
  check "dlopen by a relative path finds the code generator" loads_relative
  check "the same after a change of folder" loads_relative_and_leaves
  check "the same through a link" loads_link
  check "a library alone says that there is none" without_generator
fi
if [ -e "$build/indim" ] && [ -e "$libdir/libindim-llvm.so" ]; then
  check "indim_add_model builds" with_model
  check "a program with a model runs" says "$work/model/consumer_model"
fi
if [ -e "$build/indim" ]; then
  check "the installed command line runs" "$prefix/bin/indim" --help
  [ ! -e "$libdir/libindim-llvm.so" ] || check "it finds the code generator" compiles
  [ ! -e "$libdir/libindim-llvm.so" ] || check "it does so when it is called through a link" compiles_through_link
  check "its man page" installed share/man/man1/indim.1
  check "its completion in bash" installed share/bash-completion/completions/indim
  check "its completion in zsh" installed share/zsh/site-functions/_indim
fi
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
