#!/bin/bash
# Faults planted into the kernels of the ops, one at a time: the ops' own tests, run on a library with the fault in it, must
# find each of them.
# shellcheck source=tests/support/shell.sh
. "$(dirname "$0")/../support/shell.sh"

compiler=${CXX:-c++}
kernels=$BAM_SOURCE/kernels/cuda
tests=$BAM_BUILD_DIR/tests
objects=$tests/cuda_on_host/CMakeFiles
flags=(-std=c++20 -O1 -fPIC -DBAM_CUDA_ON_HOST -I"$BAM_SOURCE/tests" -I"$BAM_BUILD_DIR/include/kernels" -I"$BAM_BUILD_DIR/include/base")

# passes FILE TEST CASE - that case passes on the library with ./planted.cu in the place of FILE.
passes() {
  local others=()
  "$compiler" "${flags[@]}" -x c++ -c planted.cu -o planted.o 2>log || { fail "does not compile: $(head -3 log)"; return 1; }
  mapfile -t others < <(find "$objects/cuda_on_host.dir" "$objects/bam_cuda_host.dir" -name '*.o' ! -name "$1.o")
  "$compiler" -shared -Wl,--no-undefined -o planted.so planted.o "${others[@]}" -lboost_context 2>log ||
    { fail "does not link: $(head -3 log)"; return 1; }
  (cd "$BAM_SOURCE" && BAM_CUDA_LIBRARY="$scratch/planted.so" BAM_TEST_DEVICE=cuda timeout 120 "$tests/$2" "$3") >log 2>&1
}

# plant NAME FILE TEST CASE SED-EXPRESSION - that case of that test fails on a kernel that was changed so.
plant() {
  sed -E "$5" "$kernels/$2" >planted.cu
  cmp -s planted.cu "$kernels/$2" && { fail "$1: nothing was changed"; return; }
  if passes "$2" "$3" "$4"; then fail "$1: not found"; fi
}

[ -e "$tests/libbam_cuda_host.so" ] || skip "the library for the host was not built"
cp "$kernels/elementwise.cu" planted.cu
passes elementwise.cu unit_elementwise 'elementwise: sums*' || fail "a kernel without a fault fails: $(tail -3 log)"
plant "the wait before votes are used again" embedding.cu unit_embedding 'embedding: many of few*' 's/sync_block\(\);  \/\/ before the votes.*//'
plant "a row that ends a column early" norm.cu unit_norm 'norm: every size*' 's/dim - c < 4 \? static_cast<int>\(dim - c\) : 4;/dim - c < 4 ? static_cast<int>(dim - c) - 1 : 4;/'
plant "a tie that is a hit" loss.cu unit_loss 'loss: a tie*' 's/count \+= x < row.target_logit/count += x <= row.target_logit/'
plant "a maximum that waits for nobody" loss.cu unit_loss 'loss: every size*' '0,/sync_block\(\);/ s/sync_block\(\);//'
plant "a tile that is read before it is there" plain_product.cu unit_matmul 'matmul: every shape*' '0,/sync_block\(\);/ s/sync_block\(\);//'
plant "operands exchanged" plain_product.cu unit_matmul 'matmul: every shape*' 's/Operand\{args.a.data, 1, m\}/Operand{args.a.data, m, 1}/'
plant "a sum that leaves its last number out" elementwise.cu unit_elementwise 'elementwise: sums*' 's/i < end; i \+= kBlockThreads/i < end - 1; i += kBlockThreads/'
plant "an id one too high" ids.cu unit_check 'check: an id*' 's/id >= range.high_at/id > range.high_at/'
plant "an angle of the neighbour" rotary.cu unit_rotary 'rotary: every size*' 's/i % half_dim\) \* 2/(i + 1) % half_dim) * 2/'
plant "a gradient that is written before its gate is read" mlp.cu unit_mlp 'mlp: every size*' 's/u\[i\] \*= silu;/u[i] *= s;/'
plant "a second moment without its square" optimizer.cu unit_optimizer_step 'optimizer_step: every size*' 's/rest2 \* g\[i\] \* g\[i\]/rest2 * g[i]/'
finish
