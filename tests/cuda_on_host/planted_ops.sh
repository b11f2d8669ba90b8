#!/bin/bash
# Faults planted into the kernels of the ops, one at a time: the ops' own tests, run on a library with the fault in it, must
# find each of them.
# shellcheck source=tests/support/shell.sh
. "$(dirname "$0")/../support/shell.sh"

has_sanitizers && skip "faults are planted into a build without sanitizers"

compiler=${CXX:-c++}
kernels=$BAM_SOURCE/kernels/cuda
tests=$BAM_BUILD_DIR/tests
objects=$tests/cuda_on_host/CMakeFiles
flags=(-std=c++20 -O1 -fPIC -DBAM_CUDA_ON_HOST -I"$PWD/planted" -I"$BAM_SOURCE/tests" -I"$BAM_BUILD_DIR/include/kernels"
  -I"$BAM_BUILD_DIR/include/base")

copy_kernels() {
  rm -rf planted
  mkdir -p planted/kernels/cuda
  cp "$kernels"/*.{h,cu,cpp} planted/kernels/cuda
}

# passes SOURCE TEST CASE - that case passes on the library with the planted SOURCE in place of its own.
passes() {
  local others=()
  "$compiler" "${flags[@]}" -x c++ -c "planted/kernels/cuda/$1" -o planted.o 2>log || { fail "does not compile: $(head -3 log)"; return 1; }
  # What a header defines is taken from the first object that has it.
  mapfile -t others < <(find "$objects/cuda_on_host.dir" "$objects/bam_cuda_host.dir" -name '*.o' ! -name "$1.o")
  "$compiler" -shared -Wl,--no-undefined -o planted.so planted.o "${others[@]}" -lboost_context 2>log ||
    { fail "does not link: $(head -3 log)"; return 1; }
  (cd "$BAM_SOURCE" && BAM_CUDA_LIBRARY="$scratch/planted.so" BAM_TEST_DEVICE=cuda BAM_HOST_DEVICES=4 \
    BAM_NCCL_LIBRARY="$tests/libfake_nccl.so" timeout 120 "$tests/$2" --abort "$3") >log 2>&1
}

# plant NAME SOURCE TEST CASE SED-EXPRESSION [FILE] - that case of that test fails when FILE, which is SOURCE or a header
# that it includes, is changed so.
plant() {
  local file=${6:-$2}
  copy_kernels
  sed -Ei "$5" "planted/kernels/cuda/$file"
  cmp -s "planted/kernels/cuda/$file" "$kernels/$file" && { fail "$1: nothing was changed"; return; }
  if passes "$2" "$3" "$4"; then fail "$1: not found"; fi
}

[ -e "$tests/libbam_cuda_host.so" ] || skip "the library for the host was not built"
copy_kernels
passes elementwise.cu unit_elementwise 'elementwise: sums*' || fail "a kernel without a fault fails: $(tail -3 log)"

t=(unit_elementwise 'elementwise: sums*')
plant "a sum that leaves its last number out" elementwise.cu "${t[@]}" 's/i < end; i \+= kBlockThreads/i < end - 1; i += kBlockThreads/'
plant "a sum in place of what was there" elementwise.cu "${t[@]}" 's/\*total \+= sum/*total = sum/'
plant "sums of warps that nobody waits for" elementwise.cu "${t[@]}" '0,/sync_block\(\);/ s/sync_block\(\);//' block.h
plant "a warp that sums half of itself" elementwise.cu "${t[@]}" 's/mask = 16; mask > 0; mask \/= 2\) x \+=/mask = 8; mask > 0; mask \/= 2) x +=/' block.h
plant "more than is there is written" elementwise.cu unit_elementwise 'elementwise: add*' 's/i < count; \+\+i\) store_as/i < 4; ++i) store_as/' block.h

plant "the wait before votes are used again" embedding.cu unit_embedding 'embedding: many of few*' 's/sync_block\(\);  \/\/ before the votes.*//'
plant "positions of the first row" embedding.cu unit_embedding 'embedding: every size*' 's/n % args.length \*/0 */'
plant "sines for cosines" embedding.cu unit_embedding 'embedding: sinusoidal*' 's/c % 2 == 0 \?/c % 2 == 1 ?/'

plant "a row that ends a column early" norm.cu unit_norm 'norm: every size*' 's/dim - c < 4 \? static_cast<int>\(dim - c\) : 4;/dim - c < 4 ? static_cast<int>(dim - c) - 1 : 4;/'
plant "a sum that is used again too early" norm.cu unit_norm 'norm: every size*' 's/sync_block\(\);  \/\/ before .shared.*//' block.h
plant "a gradient without its projection" norm.cu unit_norm 'norm: every size*' 's/grad \* weight\[c\] - h \* mean/grad * weight[c]/'
plant "the last slice left out" norm.cu unit_norm 'norm: every size*' 's/slice < slices; \+\+slice\) sum/slice < slices - 1; ++slice) sum/'

plant "a tie that is a hit" loss.cu unit_loss 'loss: a tie*' 's/count \+= x < row.target_logit/count += x <= row.target_logit/'
plant "a maximum that waits for nobody" loss.cu unit_loss 'loss: every size*' '0,/sync_block\(\);/ s/sync_block\(\);//'
plant "the gradient of the target's neighbour" loss.cu unit_loss 'loss: every size*' 's/v == target \?/v == target + 1 ?/'

plant "a tile that is read before it is there" plain_product.cu unit_matmul 'matmul: every shape*' '0,/sync_block\(\);/ s/sync_block\(\);//'
plant "operands exchanged" plain_product.cu unit_matmul 'matmul: every shape*' 's/Operand\{args.a.data, 1, m\}/Operand{args.a.data, m, 1}/'
plant "an id one too high" ids.cu unit_check 'check: an id*' 's/id >= range.high_at/id > range.high_at/'
plant "an angle of the neighbour" rotary.cu unit_rotary 'rotary: every size*' 's/i % half_dim\) \* 2/(i + 1) % half_dim) * 2/'
plant "one way for both" rotary.cu unit_rotary 'rotary: every size*' 's/inverse \? -angle/inverse ? angle/'
plant "angles from position 0 on" rotary.cu unit_rotary 'rotary: tables*' 's/first_position \+ i \/ pairs/i \/ pairs/'
plant "a gradient that is written before its gate is read" mlp.cu unit_mlp 'mlp: every size*' 's/u\[i\] \*= silu;/u[i] *= s;/'
plant "a prior without its floor" prior.cu unit_prior 'prior: table*' 's/at_x\(fabs\(prior\.offset\(n\)\) \+ kPriorFloor\)/at_x(fabs(prior.offset(n)))/'
plant "the wrong side of the peak" prior.cu unit_prior 'prior: gradients*' 's/offset > 0 \? 1\.0 : -1\.0/offset > 0 ? -1.0 : 1.0/'
plant "slopes that rise" prior.cu unit_prior 'prior: ALiBi*' 's/-slopes\[head\]/slopes[head]/'

plant "a second moment without its square" optimizer.cu unit_optimizer_step 'optimizer_step: every size*' 's/rest2 \* g\[i\] \* g\[i\]/rest2 * g[i]/'
plant "gradients that grow to the norm" optimizer.cu unit_optimizer_step 'optimizer_step: every setting*' 's/wanted < 1\.0 \? wanted : 1\.0/wanted/'
plant "a step on what is not finite" optimizer.cu unit_optimizer_step 'optimizer_step: nothing is changed*' 's/if \(!all_finite\(\)\) return;//'

g=(group.cpp unit_device_group 'device_group: sums*')
plant "a sum that does not wait for the kernels before it" "${g[@]}" 's/^  hold_stream\(stream_\.get\(\), before_\.get\(\)\);$//'
plant "kernels that do not wait for a sum" "${g[@]}" 's/^  hold_stream\(compute_, after_\.get\(\)\);$//'
plant "a place in the wrong stream" "${g[@]}" 's/record_event\(before_\.get\(\), compute_\)/record_event(before_.get(), stream_.get())/'
plant "a sum that goes on when it should be over" "${g[@]}" 's/record_event\(after_\.get\(\), stream_\.get\(\)\)/record_event(after_.get(), compute_)/'
plant "a sum on the stream of the kernels, and nobody knows" "${g[@]}" 's/^  started_ = true;$//'
plant "a sum of as many bytes" group.cpp unit_device_group 'device_group: any*' 's/static_cast<std::size_t>\(x\.count\(\)\), type/x.bytes(), type/'

# Of recordings: numbers of the host that are looked up when the call is made, and memory that others get.
plant "a learning rate of the first steps" optimizer.cu unit_repeat 'repeat: every number*' \
  's/\.sizes = data_of<float>\(args\.sizes\)/.sizes = static_cast<float*>(std::memcpy(new float[4], args.sizes.data, 16))/'
plant "a weight of the first steps" loss.cu property_training 'training: what changes*' 's/data_of<float>\(args\.grad_scale\)\);/new float(*data_of<float>(args.grad_scale)));/'
plant "memory of a recording given to others" memory.cpp unit_repeat 'repeat: what others keep*' 's/of_recordings \? kept_by_recordings_ : kept_/of_recordings ? kept_ : kept_/'
plant "ids that nobody asks after" cuda_backend.cpp unit_repeat 'repeat: an id*' 's/^  ids_were_checked_ = true;$//'
finish
