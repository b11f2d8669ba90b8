#!/bin/bash
# bam-convert: there and back to the bit, what it refuses, and what it leaves behind when it fails.
# shellcheck source=tests/support/shell.sh
. "$(dirname "$0")/../support/shell.sh"

quiet() { bam-convert -q "$@"; }
ppl() { bam-ppl -q --threads 1 --context 32 --bin 8 --no-times "$@" | cut -f 1-16; } # without the model's digest

yes "the cat sat on the mat and the dog sat on the log" | head -200 >text.txt
bam-tokenize -q --tokenizer bytes --input lines text.txt -o bytes.tok.zst || fail "no shard"
bam-tokenize -q --learn 300 text.txt -o cats.model || fail "no tokenizer"
bam-tokenize -q --tokenizer cats.model --input lines text.txt -o words.tok.zst || fail "no shard of a learnt tokenizer"
train() {
  bam-train -q --threads 1 --layers 2 --dim 32 --heads 4 --context 32 --batch-tokens 128 --steps 3 --no-times "$@"
}
train --kv-heads 2 --pe rope --ssmax off bytes.tok.zst -o rope.h5 || fail "training failed"
train --kv-heads 2 --pe bam --ssmax full --prior-init spread --train-prior shape,scale,loc words.tok.zst -o bam.h5 || fail "training failed"
train --pe alibi --ssmax content bytes.tok.zst -o alibi.h5 || fail "training failed"

for model in rope bam alibi; do
  expect 0 quiet $model.h5 -o $model
  [ -s out ] && fail "$model: wrote to standard output"
  [ -s err ] && fail "-q wrote to standard error: $(cat err)"
  expect 0 quiet $model -o back.h5
  ppl $model.h5 text.txt >before || fail "bam-ppl $model.h5"
  ppl back.h5 text.txt | cmp -s - before || fail "$model: perplexity changes on the way"
  if command -v h5diff >/dev/null; then
    h5diff $model.h5 back.h5 /params /params >out || fail "$model: parameters change on the way: $(head -5 out)"
    h5diff $model.h5 back.h5 /tokenizer /tokenizer >out || fail "$model: the tokenizer changes on the way"
  fi
  quiet back.h5 -o again
  diff -r $model again >out || fail "$model: the folder changes on the way: $(head -5 out)"
  rm -r again
done
grep -q '"architectures": \["LlamaForCausalLM"\]' rope/config.json || fail "rope is no stock Llama"
grep -q '"architectures": \["BamForCausalLM"\]' bam/config.json || fail "bam is a stock Llama"
[ -e rope/modeling_bam.py ] && fail "a stock Llama has code of its own"
[ -e bam/modeling_bam.py ] || fail "a bam model has no code"
same bam/tokenizer.model cats.model

# Halves: rounded once, then there and back to the bit, and half the bytes.
for type in bf16 f16; do
  for model in rope bam; do
    quiet --dtype $type $model.h5 -o half && quiet half -o half.h5 && quiet half.h5 -o again
    diff -r half again >out || fail "$model $type: the folder changes on the way: $(head -5 out)"
    [ "$(($(stat -c %s half/model.safetensors) * 2))" -lt "$(($(stat -c %s $model/model.safetensors) + 20000))" ] ||
      fail "$model $type: no smaller than f32"
    quiet --dtype f32 half.h5 -o wide && quiet wide -o wide.h5
    ppl wide.h5 text.txt | cmp -s - <(ppl half.h5 text.txt) || fail "$model $type: f32 is another model"
    rm -r half again wide
  done
done

# Through pipes, and over an empty folder.
mkdir empty
bam-convert -q rope | bam-convert -q --to hf - -o empty || fail "through a pipe"
diff -r rope empty >out || fail "through a pipe: $(head -5 out)"
quiet --to bam rope -o one.h5 && quiet rope -o two.h5
same one.h5 two.h5

# Files of the folder that no model needs come along.
echo '{"max_length": 7}' >rope/generation_config.json
quiet rope -o side.h5 && quiet side.h5 -o side
diff -r rope side >out || fail "side files: $(head -5 out)"

fails() {
  local status=$1 expected=$2
  shift 2
  expect "$status" quiet "$@" -o result
  one_line_error "^bam-convert: $expected"
  [ -e result ] && fail "$*: left a result"
  ls -d .bam-* 2>/dev/null && fail "$*: left a temporary file"
  return 0
}
fails 1 'none: ' none
mkdir nothing
fails 1 'nothing/config.json: ' nothing
fails 1 'text.txt: not a checkpoint' text.txt
fails 2 '--to: rope is a folder, expected bam' --to hf rope
fails 2 '--to: rope.h5 is no folder, expected hf' --to bam rope.h5
expect 2 quiet rope.h5
one_line_error '--output: a folder cannot go to standard output'
expect 1 quiet rope.h5 -o bam
one_line_error 'bam: there already, expected the name of a new folder'
expect 1 bash -c 'bam-convert -q rope >/dev/full'
one_line_error 'No space left on device'

# What does not map, by its name; the first line of each is a sed script over config.json.
refused() {
  rm -rf bad && cp -r rope bad
  sed -i "$1" bad/config.json
  fails 1 "bad/config.json: $2" bad
}
refused 's/"llama"/"mpt"/' "model_type 'mpt' does not map: its norms subtract the mean"
refused 's/"llama"/"bloom"/' "model_type 'bloom' does not map"
refused 's/"llama"/"nonesuch"/' 'model_type "nonesuch" is not known, expected llama, mistral or bam'
refused 's/LlamaForCausalLM/LlamaForTokenClassification/' 'architectures is \["LlamaForTokenClassification"\]'
refused 's/"attention_bias": false/"attention_bias": true/' 'attention_bias is true, .* without biases'
refused 's/"mlp_bias": false/"mlp_bias": true/' 'mlp_bias is true'
refused 's/"silu"/"gelu"/' 'hidden_act is "gelu"'
refused 's/"mlp_bias": false/"head_dim": 16/' 'head_dim is 16, .* which is 8'
refused 's/"rope_scaling": null/"rope_scaling": {"type": "linear", "factor": 4}/' 'rope_scaling is .*--rope-scaling linear:FACTOR'
refused 's/"rope_scaling": null/"rope_scaling": {"rope_type": "llama3", "factor": 8}/' 'rope_scaling is .*llama3'
refused 's/"rope_scaling": null/"rope_parameters": {"rope_type": "yarn", "rope_theta": 1}/' 'rope_parameters is .*yarn'
refused 's/"mlp_bias": false/"quantization_config": {}/' 'quantization_config is there'
refused 's/"mlp_bias": false/"sliding_window": 4096/' 'sliding_window is 4096, .*--window'
refused 's/"llama"/"mistral"/; s/LlamaFor/MistralFor/' 'sliding_window is missing, which stands for 4096'
refused 's/"llama"/"mistral"/; s/LlamaFor/MistralFor/; s/"mlp_bias": false/"sliding_window": 64, "use_sliding_window": false/' 'sliding_window is 64'
refused 's/"rope_scaling": null/"rope_parameters": {"rope_type": 3}/' 'rope_parameters is {"rope_type":3}'
refused 's/"rope_scaling": null/"rope_parameters": {"rope_theta": "5"}/' 'rope_parameters is {"rope_theta":"5"}'
refused 's/"rope_scaling": null/"rope_parameters": {"sliding_attention": {"rope_theta": 5}}/' 'rope_parameters is .*sliding_attention'
refused 's/"rope_scaling": null/"rope_scaling": {"type": "default"}, "rope_parameters": {}/' 'rope_scaling and rope_parameters are both there'
refused 's/"hidden_size": 32/"hidden_size": 33/' 'model: dim 33 is not a multiple of heads 4'
refused 's/"hidden_size": 32/"hidden_size": 1e300/' 'hidden_size is not a whole number'
refused 's/"vocab_size": 257/"vocab_size": -1/' 'model: vocab is -1, expected 1 to'
refused '/"vocab_size"/d' 'no vocab_size, expected a whole number'
refused 's/^{/[/' 'not a JSON object'

damaged() {
  rm -rf bad && cp -r rope bad
  bash -c "cd bad && $1"
  fails 1 "$2" bad
}
damaged 'rm model.safetensors' 'bad: no model.safetensors or model.safetensors.index.json'
damaged 'truncate -s -1 model.safetensors' 'bad/model.safetensors: truncated safetensors file, expected 1 more bytes'
damaged 'echo >>model.safetensors' 'bad/model.safetensors: damaged safetensors file: 1 bytes belong to no tensor'
damaged 'sed -i s/q_proj.weight/k_proj.bias__/ model.safetensors' 'bad/model.safetensors: "model.layers.0.self_attn.k_proj.bias__" is no parameter'
damaged 'sed -i "s/\"num_hidden_layers\": 2/\"num_hidden_layers\": 3/" config.json' 'bad: no tensor model.layers.2.input_layernorm.weight'
damaged 'sed -i "s/\"num_hidden_layers\": 2/\"num_hidden_layers\": 16777216/" config.json' 'bad: 21 tensors, expected those of 16777216 layers'
damaged 'sed -i "s/\"intermediate_size\": [0-9]*/\"intermediate_size\": 7/" config.json' 'bad/model.safetensors: model.layers.0.mlp.gate_proj.weight has the shape'
damaged 'rm tokenizer.json bam_tokenizer.json' 'bad: no tokenizer.json, tokenizer.model or vocab.json'
damaged 'sed -i s/bytes/bites/ bam_tokenizer.json' 'bad/bam_tokenizer.json: '
damaged 'rm model.safetensors; echo "{\"weight_map\": {\"w\": \"../rope/model.safetensors\"}}" >model.safetensors.index.json' 'bad/model.safetensors.index.json: "w" is in no file of this folder'
damaged 'mv model.safetensors 1.safetensors; echo "{\"weight_map\": {\"w\": \"1.safetensors\"}}" >model.safetensors.index.json' 'bad/model.safetensors.index.json: "w" is not in 1.safetensors'

# Of a file and an index the file counts, as for transformers.
cp -r rope both
echo '{"weight_map": {}}' >both/model.safetensors.index.json
expect 0 quiet both -o both.h5
quiet rope -o one.h5
same both.h5 one.h5

# Weights that are no numbers convert, and no evaluation makes figures of them.
cp -r rope nan
printf '\0\0\300\177' | dd of=nan/model.safetensors bs=1 seek=$(($(stat -c %s nan/model.safetensors) - 4)) conv=notrunc status=none
quiet nan -o nan.h5
no_figures() {
  expect 1 "$@"
  one_line_error "^$1: .*not (made of )?numbers: are its weights damaged\\?"
  [ -s out ] && fail "$1: figures of no numbers: $(head -c 200 out)"
}
echo '{"goal":"a","sol1":"b","sol2":"c","label":1}' >piqa.jsonl
no_figures bam-ppl -q --context 32 nan.h5 text.txt
no_figures bam-ppl -q --rolling nan.h5 text.txt
no_figures bam-mcq -q --task piqa nan.h5 piqa.jsonl
no_figures bam-passkey -q --lengths 300 --samples 1 nan.h5

# A tokenizer that has no tokenizer.json: said, hidden from other programs, and back as it was.
model=$BAM_SOURCE/tests/data/tokenizers/spm-bpe-1k-nfkc.model
bam-tokenize -q --tokenizer "$model" --input lines text.txt -o nfkc.tok.zst || fail "no shard"
train --pe rope --ssmax off nfkc.tok.zst -o nfkc.h5 || fail "training failed"
expect 0 quiet nfkc.h5 -o nfkc
grep -q 'warning: transformers gets no tokenizer, .*: it has normalisation rules' err || fail "no warning: $(cat err)"
for file in tokenizer.json tokenizer.model tokenizer_config.json; do [ -e nfkc/$file ] && fail "nfkc/$file is there"; done
same nfkc/bam_tokenizer.model "$model"
quiet nfkc -o back.h5 && quiet back.h5 -o again 2>err
diff -r nfkc again >out || fail "nfkc: the folder changes on the way: $(head -5 out)"
ppl back.h5 text.txt | cmp -s - <(ppl nfkc.h5 text.txt) || fail "nfkc: perplexity changes on the way"

# A learnt tokenizer goes out as its own file and as tokenizer.json, either of which is enough.
rm bam/bam_tokenizer.json
expect 0 quiet bam -o other.h5
ppl other.h5 text.txt | cmp -s - <(ppl bam.h5 text.txt) || fail "tokenizer.json of a learnt model gives other ids"
rm bam/tokenizer.json
expect 0 quiet bam -o other.h5
ppl other.h5 text.txt | cmp -s - <(ppl bam.h5 text.txt) || fail "tokenizer.model gives other ids"

# The tokenizer as others read it: a tokenizer.json of the bytes, and one that is named.
rm rope/bam_tokenizer.json
expect 0 quiet rope -o other.h5
ppl other.h5 text.txt | cmp -s - <(ppl rope.h5 text.txt) || fail "tokenizer.json of the bytes gives other ids"
expect 0 quiet --tokenizer bytes rope -o other.h5
ppl other.h5 text.txt | cmp -s - <(ppl rope.h5 text.txt) || fail "--tokenizer bytes gives other ids"
fails 1 'rope: its tokenizer has 300 ids and the model 257, expected at least as many' --tokenizer cats.model rope
finish
