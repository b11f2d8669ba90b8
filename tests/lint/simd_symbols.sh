#!/bin/bash
# No object made for one instruction set may offer a weak symbol outside its own namespace: the linker could keep that
# copy for the whole program, and an older CPU would meet an illegal instruction (kernels/cpu/simd/kernels.h).
# shellcheck source-path=SCRIPTDIR source=../support/shell.sh
source "$BAM_SOURCE/tests/support/shell.sh"

found=0
while IFS= read -r object; do
  found=$((found + 1))
  isa=$(sed -E 's|.*/bam_simd_([a-z0-9]+)\.dir/.*|\1|' <<<"$object")
  # Lower case w and v are references, which bring no code; sanitizers add weak names of their own.
  loose=$(nm -C --defined-only "$object" | awk '$2 ~ /^[WVuwv]$/' | grep -vE "bam::cpu::${isa}::|__asan|__ubsan|__tsan|typeinfo (name )?for |DW\.ref\." || true)
  [ -z "$loose" ] || fail "$object defines weak symbols that other objects could end up using: $loose"
done < <(find "$BAM_BUILD_DIR" -path '*bam_simd_*.dir*' -name '*.o')
[ "$found" -gt 0 ] || fail "no simd objects under $BAM_BUILD_DIR"
finish
