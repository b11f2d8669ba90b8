#!/bin/bash
# Faults of the kind that kernels have, planted one at a time: the tests on the host must find each of them.
# shellcheck source=tests/support/shell.sh
. "$(dirname "$0")/../support/shell.sh"

compiler=${CXX:-c++}
kernel=$BAM_SOURCE/kernels/cuda/attention.cu
objects=$BAM_BUILD_DIR/tests/cuda_on_host/CMakeFiles/cuda_kernels_on_host.dir
flags=(-std=c++20 -O1 -DBAM_CUDA_ON_HOST -I"$BAM_SOURCE/tests" -I"$BAM_BUILD_DIR/include/kernels" -I"$BAM_BUILD_DIR/include/base")
libraries=("$BAM_BUILD_DIR/tests/libbam_test_main.a" "$BAM_BUILD_DIR/kernels/libbam_kernels.a" "$BAM_BUILD_DIR/lib/base/libbam_base.a"
  -lboost_context -ldnnl -lgomp)

# plant NAME SED-EXPRESSION - the tests fail on a kernel that was changed so.
plant() {
  sed -E "$2" "$kernel" >"planted.cu"
  cmp -s planted.cu "$kernel" && { fail "$1: nothing was changed"; return; }
  "$compiler" "${flags[@]}" -x c++ -c planted.cu -o planted.o 2>log || { fail "$1: does not compile: $(head -3 log)"; return; }
  "$compiler" -o planted "$objects"/attention_test.cpp.o "$objects"/emulation.cpp.o \
    "$objects"/__/__/kernels/cuda/prior.cu.o planted.o "${libraries[@]}" 2>log || { fail "$1: does not link: $(head -3 log)"; return; }
  if (cd "$BAM_SOURCE" && timeout 120 "$OLDPWD/planted") >log 2>&1; then fail "$1: not found"; fi
}

[ -e "$objects/emulation.cpp.o" ] || skip "the kernels were not built for the host"
plant "a barrier removed before the tile is used" '/wait_copies<0>\(\);/,/sync_block\(\);/ s/sync_block\(\);//'
plant "a barrier removed before the slot is filled again" 's/sync_block\(\);  \/\/ before the slot.*//'
plant "the wait for copies one group short" 's/wait_copies<0>/wait_copies<1>/'
plant "a mask off by one" 's/key <= rows\.position/key < rows.position/'
plant "an unmasked tile at the diagonal" 's/key \+ kKeys - 1 > first_position \|\|/key > first_position + kQueries ||/'
plant "fragments of the right operand swapped" 's/multiply_16x8x16\(scores\[n\], queries\[step\], b\[0\], b\[1\]\)/multiply_16x8x16(scores[n], queries[step], b[1], b[0])/'
plant "a matrix not transposed" 's/load_matrices_transposed\(b, values/load_matrices(b, values/'
plant "the bias of a neighbour" 's/bias\[row - column \+ kKeys - 1\]/bias[row - column + kKeys]/'
finish
