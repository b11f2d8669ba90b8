#!/bin/bash
# The files are what other programs take them for: shards for zstd, checkpoints for h5dump and h5py.
# shellcheck source=tests/support/shell.sh
. "$(dirname "$0")/../support/shell.sh"
command -v zstd >/dev/null || skip "zstd is not here"
command -v h5dump >/dev/null || skip "h5dump is not here"

seq 1 4000 | tr '\n' ' ' >text.txt
bam-tokenize -q -o a.tok.zst text.txt || fail "tokenize"
expect 0 zstd -tq a.tok.zst
zstd -dcq a.tok.zst >ids
[ "$(stat -c %s ids)" = $((2 * ($(stat -c %s text.txt) + 1))) ] || fail "zstd -dc: $(stat -c %s ids) bytes, expected two for each byte and for BOS"
[ "$(od -An -tu2 -N4 ids | tr -s ' ')" = " 256 49" ] || fail "the first ids are not BOS and '1': $(od -An -tu2 -N4 ids)"

cat a.tok.zst a.tok.zst >both.tok.zst
expect 0 zstd -tq both.tok.zst
expect 0 bam-tokenize -q --validate both.tok.zst

expect 0 bam-train -q --preset tiny --layers 1 --dim 16 --heads 2 --ffn 16 --context 32 --batch-tokens 64 --steps 2 -o m.h5 a.tok.zst
expect 0 h5dump -H m.h5
for name in dim layers heads kv_heads ffn vocab pe ssmax prior_scope rope_theta norm_eps context format version; do
  grep -q "ATTRIBUTE \"$name\"" out || fail "h5dump -H shows no attribute $name"
done
for name in params tokenizer optimizer state history provenance; do
  grep -q "GROUP \"$name\"" out || fail "h5dump -H shows no group $name"
done
expect 0 h5dump -d /params/layers/0/wq m.h5
grep -q 'H5T_IEEE_F32LE' out || fail "wq is not float32"

python=
for candidate in /usr/bin/python3 python3; do "$candidate" -c 'import h5py' 2>/dev/null && { python=$candidate; break; }; done
if [ -n "$python" ]; then
  "$python" - >out 2>err <<'PYTHON' || fail "h5py: $(tail -1 err)"
import h5py
with h5py.File("m.h5", "r") as f:
    assert f["params/layers/0/wq"].shape == (16, 16), f["params/layers/0/wq"].shape
    assert f["params/token_embedding"].shape == (257, 16)
    assert abs(float(f["params/final_norm"][:].mean()) - 1) < 0.2
    assert f.attrs["pe"] in ("bam", b"bam") and f.attrs["vocab"] == 257
PYTHON
else
  echo "h5py is not here: that part was not run" >&2
fi
finish
