#!/bin/bash
# Faults of the kind that kernels have, planted one at a time: the tests on the host must find each of them.
# shellcheck source=tests/support/shell.sh
. "$(dirname "$0")/../support/shell.sh"

has_sanitizers && skip "faults are planted into a build without sanitizers"

compiler=${CXX:-c++}
flags=(-std=c++20 -O1 -DBAM_CUDA_ON_HOST -I"$PWD/planted" -I"$BAM_SOURCE/tests" -I"$BAM_BUILD_DIR/include/kernels"
  -I"$BAM_BUILD_DIR/include/base")
libraries=("$BAM_BUILD_DIR/tests/libbam_test_main.a" "$BAM_BUILD_DIR/kernels/libbam_kernels.a" "$BAM_BUILD_DIR/lib/base/libbam_base.a"
  -lboost_context -ldnnl -lgomp)
folder=$BAM_BUILD_DIR/tests/cuda_on_host/CMakeFiles
mapfile -t objects < <(find "$folder/cuda_on_host.dir" -name '*.o')
for source in "$BAM_SOURCE"/tests/cuda_on_host/*_test.cpp; do
  objects+=("$folder/cuda_kernels_on_host.dir/${source##*/}.o")
done

# plant TESTS KERNEL FILE NAME SED-EXPRESSION - the tests of that name fail when FILE, which is KERNEL.cu or a header that
# it includes, is changed so.
plant() {
  local tests=$1 kernel=$2 file=$3 name=$4 expression=$5
  rm -rf planted
  mkdir -p planted/kernels/cuda
  cp "$BAM_SOURCE"/kernels/cuda/*.{h,cu} planted/kernels/cuda
  sed -Ei "$expression" "planted/kernels/cuda/$file"
  cmp -s "planted/kernels/cuda/$file" "$BAM_SOURCE/kernels/cuda/$file" && { fail "$name: nothing was changed"; return; }
  "$compiler" "${flags[@]}" -x c++ -c "planted/kernels/cuda/$kernel.cu" -o planted.o 2>log ||
    { fail "$name: does not compile: $(head -3 log)"; return; }
  # What a header defines is taken from the first object that has it.
  local others=()
  for object in "${objects[@]}"; do
    [ "${object##*/}" = "$kernel.cu.o" ] || others+=("$object")
  done
  "$compiler" -o program planted.o "${others[@]}" "${libraries[@]}" 2>log || { fail "$name: does not link: $(head -3 log)"; return; }
  if (cd "$BAM_SOURCE" && timeout 120 "$OLDPWD/program" --abort "cuda on host: $tests*") >log 2>&1; then fail "$name: not found"; fi
}

[ -e "${objects[-1]}" ] || skip "the kernels were not built for the host"

f=attention_forward
plant "attention, lengths" $f $f.cu "a barrier removed before the tile is used" 's/^      sync_block\(\);$//'
plant "attention, lengths" $f $f.cu "the wait for copies one group short" 's/wait_copies<0>/wait_copies<1>/'
plant "attention, lengths" $f $f.cu "the next tile into the slot in use" 's/fetch_tile\(next, slot \^ 1\)/fetch_tile(next, slot)/'
plant "attention, lengths" $f $f.cu "an unmasked tile at the diagonal" 's/key \+ kTile - 1 > rows\.first_position/key > rows.first_position + kTile/'
plant "attention, every prior" $f $f.cu "a warp that leaves out the edge of a document" 's/key \+ kTile > rows\.lowest/key > rows.lowest/'
plant "attention, a key that" $f $f.cu "what is not finite taken for finite" 's/masked \&\& !finite/false \&\& !finite/'
plant "attention, lengths" $f $f.h "a mask off by one" 's/key <= rows\.first_position/key < rows.first_position/'
plant "attention, lengths" $f $f.h "the bias of a neighbour" 's/own_bias\[8 \* \(r - n\) - i % 2\]/own_bias[8 * (r - n) + i % 2]/'
plant "attention, lengths" $f attention_tiles.h "fragments of the right operand swapped" 's/\[n\], a\[band\], b\[0\], b\[1\]/[n], a[band], b[1], b[0]/'
plant "attention, lengths" $f attention_tiles.h "a matrix not transposed" 's/load_matrices_transposed\(b, at/load_matrices(b, at/'
plant "attention, lengths" $f attention_tiles.h "sums that do not shrink to a new maximum" 's/\[c\]\[i\] \*= shrink/[c][i] *= 1.0F/'

d=attention_decode
plant "attention, lengths" $d $d.cu "a warp's sum not brought to the common maximum" 's/found\.sum\[warp\]\[row\] \* weight/found.sum[warp][row]/'
plant "attention, few" $d $d.cu "a tile in two splits" 's/begin \+ per_split < tiles\.end \?/begin + per_split + 1 < tiles.end ? 1 +/'
plant "attention, few" $d $d.cu "keys overwritten while they are used" '/wait_copies<0>\(\);/,/before the keys make way/ s/sync_block\(\);  \/\/ before the keys.*//'

plant "attention, few" $d $d.cu "the bias of the next distance" 's/place\.query - key - i % kTile;/place.query - key - i % kTile + 1;/'
plant "attention, few" $d $d.cu "a split that is not added" 's/s < call\.splits; \+\+s\) \{/s < call.splits - 1; ++s) {/'

q=attention_backward_queries
plant "attention's gradients, lengths" $q $q.cu "a barrier removed before the tile is used" 's/^      sync_block\(\);$//'
plant "attention's gradients, lengths" $q $q.cu "a diagonal's part from another lane" 's/row % 8 \* 4 \+ i \/ 2\]/row % 8 * 4 + i % 4]/'
plant "attention's gradients, lengths" $q $q.cu "diagonals of the tile that is being computed" 's/shared\.diagonals\[slot \^ 1\], first - key \+/shared.diagonals[slot], first - key +/'
plant "attention's gradients, a row with one" $q $q.cu "a row with one key like any other" 's/ && !rows\.is_single\(i \/ 2, at\.g\)//'

k=attention_backward_keys
plant "attention's gradients, lengths" $k $k.cu "a barrier removed before the tile is used" 's/^      sync_block\(\);$//'
plant "attention's gradients, lengths" $k $k.cu "the bias of a neighbour" 's/own_bias\[8 \* \(n - r\) \+ e\]/own_bias[8 * (n - r) - e]/'
plant "attention's gradients, every head" $k $k.cu "one head of a group" 's/group = in\.heads \/ in\.kv_heads/group = 1/'
plant "attention's gradients, a pair" $k $k.cu "what is not finite taken for finite" 's/masked \&\& !finite/false \&\& !finite/'

b=attention_backward
plant "attention's gradients, every prior" $b $b.cu "parts that are added before they are there" 's/^    sync_block\(\);$//'
plant "attention's gradients, lengths" $b $b.cu "a range of queries left out" 's/range < call\.ranges; \+\+range\) \{/range < call.ranges - 1; ++range) {/'

p=attention_plain
plant "attention, lengths" $p $p.cu "tiles filled while they are used" 's/sync_block\(\);  \/\/ before the tiles.*//'
plant "attention, lengths" $p $p.cu "sums that do not shrink to a new maximum" 's/out\[e\] \*= shrink/out[e] *= 1.0F/'
p=attention_plain_backward
plant "attention's gradients, lengths" $p $p.cu "p in place of dl" 's/add_row\(dk, tiles\.weights\[1\]/add_row(dk, tiles.weights[0]/'

s=attention_skip
plant "skipping, the prior alone" $s $s.h "a block of distances short" 's/i <= furthest/i < furthest/'
plant "skipping, the prior alone" $s $s.cu "as if a row had one key" 's/- log2_keys \+/+/'
plant "skipping, a negative factor" $s $s.h "the parts of the queries changed over" 's/below == negative\[row\]/below != negative[row]/'
k=key_bounds
plant "bounds" $k $k.cu "the least in place of the largest -k" 's/\+ c\] = -low/+ c] = low/'
p=attention_plain_skip
plant "plain skipping, the content" $p $p.cu "bounds of the other side" 's/\(q < 0\.0F\) == negative/(q < 0.0F) != negative/'
plant "plain skipping, no row" $p $p.cu "as if a row had one key" 's/- log2f\(keys\)/+ log2f(keys)/'
plant "plain skipping, no row" $p $p.cu "what is left looked at before it is known" 's/sync_block\(\);  \/\/ before the excess.*//'
plant "skipping, no row" $d $d.cu "limits of another row" 's/limits\.threshold\[r\];/limits.threshold[1 - r];/'
finish
