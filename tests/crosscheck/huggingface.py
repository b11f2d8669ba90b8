#!/usr/bin/env python3
"""Compares bam-convert, and the models that it writes, with transformers and lm-evaluation-harness.

    python3 tests/crosscheck/huggingface.py BIN-FOLDER [--folder SCRATCH] [--text FILE] [--arc ITEMS.jsonl]

Needs torch and transformers; lm_eval is used where it is there. Not part of the tests: nothing here is needed to build or
run the tools. One line for each comparison, with the largest difference; exit status 1 if one is too large.

  llama   random LlamaForCausalLM models of transformers, converted: log-probabilities of both, and the way back
  bam     models that bam-train made, of every kind of positions and softmax, exported: the same
  ids     tokenizers: the ids of a text
  items   accuracies of multiple choice items, lm-evaluation-harness on the exported model against bam-mcq
"""

import argparse
import csv
import io
import json
import pathlib
import random
import subprocess
import sys

import torch
import transformers
from transformers import AutoModelForCausalLM, AutoTokenizer, LlamaConfig, LlamaForCausalLM

transformers.utils.logging.disable_progress_bar()

MOST_LOGIT = 1e-4  # largest difference of a log-probability, float32
MOST_NLL = 1e-3  # relative difference of a mean

failures = 0


def report(name, value, limit):
    global failures
    good = value <= limit
    failures += not good
    print(f"{'ok  ' if good else 'FAIL'} {name}: {value:.3g} (at most {limit:g})", flush=True)


class Tools:
    def __init__(self, folder):
        self.folder = pathlib.Path(folder)

    def __call__(self, tool, *arguments):
        command = [str(self.folder / tool), "-q", *map(str, arguments)]
        return subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout

    def rows(self, tool, *arguments):
        return list(csv.DictReader(io.StringIO(self(tool, *arguments).decode()), delimiter="\t"))


def load(folder):
    return AutoModelForCausalLM.from_pretrained(folder, trust_remote_code=True, dtype=torch.float32).eval()


def log_probabilities(model, ids):
    with torch.no_grad():
        return model(input_ids=torch.tensor(ids)).logits.double().log_softmax(-1)


def compare_ids(name, tools, checkpoint, model, scratch, length=48):
    """Log-probabilities of bytes: at every place of some windows, and of all 256 behind one prefix."""
    generator = random.Random(1)
    windows = [[generator.randrange(256) for _ in range(length)] for _ in range(4)]
    prefix = [ord(c) for c in "the cat sat on the mat"]
    endings = [prefix + [byte] for byte in range(256)]
    for what, rows in (("every place", windows), ("every byte", endings)):
        data = scratch / "bytes.bin"
        data.write_bytes(bytes(byte for row in rows for byte in row) + b"x")  # the last place is scored too
        context = len(rows[0])
        table = tools.rows("bam-ppl", "--bos", "no", "--input", "text", "--context", context, "--bin", 1, "--per-item",
                           "--eps", 0, "--no-times", checkpoint, data)
        ours = {(int(row["window"]), int(row["to"])): -float(row["nll_sum"]) for row in table if int(row["tokens"])}
        theirs = log_probabilities(model, rows)
        worst, count = 0.0, 0
        for (window, before), value in ours.items():
            if before == context:  # of the byte that the next window begins with
                continue
            target = rows[window][before]
            worst = max(worst, abs(value - theirs[window, before - 1, target].item()))
            count += 1
        if count < len(rows):
            raise SystemExit(f"{name}: {count} places of {len(rows)} windows were compared")
        report(f"{name}, log-probabilities, {what}, {count} values", worst, MOST_LOGIT)


def check_llamas(tools, scratch):
    common = dict(vocab_size=257, hidden_size=64, intermediate_size=96, num_hidden_layers=3, num_attention_heads=8,
                  max_position_embeddings=128, bos_token_id=256, eos_token_id=None, initializer_range=0.15)
    variants = {
        "plain": {},
        "gqa": dict(num_key_value_heads=2),
        "mqa, theta 500000": dict(num_key_value_heads=1, rope_theta=500000.0),
        "tied, eps 1e-3": dict(tie_word_embeddings=True, rms_norm_eps=1e-3),
        "gqa, bf16": dict(num_key_value_heads=4, dtype="bfloat16"),
        "gqa, f16": dict(num_key_value_heads=4, dtype="float16"),
    }
    for name, members in variants.items():
        torch.manual_seed(3)
        dtype = members.pop("dtype", "float32")
        model = LlamaForCausalLM(LlamaConfig(**common, **members)).to(getattr(torch, dtype)).eval()
        for parameter in model.parameters():
            if parameter.dim() == 1:  # norms that are all 1 hide mistakes
                parameter.data.uniform_(0.5, 1.5)
        stem = "llama-" + name.replace(", ", "-").replace(" ", "-")
        folder, checkpoint, back = scratch / stem, scratch / (stem + ".h5"), scratch / (stem + "-back")
        model.save_pretrained(folder)
        model = load(folder)  # not model.float(): rotary angles would keep the rounding of halves
        tools("bam-convert", "--tokenizer", "bytes", folder, "-o", checkpoint)
        compare_ids(f"llama {name}", tools, checkpoint, model, scratch)
        tools("bam-convert", checkpoint, "-o", back)
        same = (back / "model.safetensors").read_bytes() == (folder / "model.safetensors").read_bytes()
        report(f"llama {name}, model.safetensors there and back, files that differ", int(not same), 0)
        again = load(back)
        kind = type(again).__name__
        report(f"llama {name}, comes back as {kind}, tensors that differ",
               sum(not torch.equal(a, b) for a, b in zip(again.state_dict().values(), model.state_dict().values()))
               + (kind != "LlamaForCausalLM"), 0)


def train(tools, scratch, name, data, *arguments):
    checkpoint = scratch / (name + ".h5")
    sizes = {"--layers": 2, "--dim": 64, "--heads": 8, "--context": 64, "--batch-tokens": 512, "--steps": 30}
    sizes = [x for pair in sizes.items() if pair[0] not in arguments for x in pair]
    tools("bam-train", "--threads", 1, *sizes, "--lr", "1e-2", "--seed", 3, *arguments, data, "-o", checkpoint)
    return checkpoint


def check_models(tools, scratch, text):
    data = scratch / "bytes.tok.zst"
    tools("bam-tokenize", "--tokenizer", "bytes", text, "-o", data)
    held = scratch / "held.txt"
    held.write_bytes(text.read_bytes()[:8192])
    prior = ("--train-prior", "shape,scale,loc", "--prior-lr", "3e-2")
    cases = [(pe, ssmax, ()) for pe in ("nope", "sinusoidal", "rope", "alibi") for ssmax in ("off", "content", "full")]
    cases += [("bam", ssmax, ("--prior-init", "spread", *prior)) for ssmax in ("off", "content", "full")]
    cases += [
        ("bam", "full", ("--prior-scope", "global", "--loc-init", "normal:0:1", *prior)),
        ("bam", "full", ("--kv-heads", 2, "--shape-init", "linear:-1:2", *prior)),
        ("alibi", "content", ("--kv-heads", 2, "--heads", 4)),
        ("alibi", "off", ("--heads", 6, "--dim", 96)),
        ("rope", "off", ("--kv-heads", 4)),
    ]
    for number, (pe, ssmax, more) in enumerate(cases):
        name = f"bam {pe} {ssmax} {' '.join(map(str, more[:2]))}".strip()
        checkpoint = train(tools, scratch, f"model{number}", data, "--pe", pe, "--ssmax", ssmax, *more)
        folder = scratch / f"model{number}-hf"
        tools("bam-convert", checkpoint, "-o", folder)
        model = load(folder)
        compare_ids(name, tools, checkpoint, model, scratch)
        check_text(name, tools, checkpoint, folder, model, held)
    check_padding(load(scratch / "model14-hf"))


def check_text(name, tools, checkpoint, folder, model, held):
    """Mean nll of a text four times as long as the training context, and a greedy continuation."""
    context = 256
    (row,) = tools.rows("bam-ppl", "--context", context, "--bin", context, "--no-times", "--eps", 0, checkpoint, held)[-1:]
    tokenizer = AutoTokenizer.from_pretrained(folder, trust_remote_code=True)
    ids = tokenizer(held.read_text(), return_tensors="pt").input_ids[0]
    windows = [ids[i : i + context + 1].tolist() for i in range(0, len(ids) - context, context)]
    theirs = sum(
        -log_probabilities(model, [w])[0, :-1].gather(1, torch.tensor(w[1:])[:, None]).mean().item() for w in windows
    ) / len(windows)
    report(f"{name}, nll {theirs:.6f}, relative", abs(theirs / float(row["nll"]) - 1), MOST_NLL)
    prompt = "The whale"
    ours = tools("bam-generate", "--max-tokens", 12, "--prompt", prompt, checkpoint)
    start = tokenizer(prompt, return_tensors="pt")
    made = model.generate(input_ids=start.input_ids, attention_mask=start.attention_mask, max_new_tokens=12,
                          do_sample=False, pad_token_id=0)
    continuation = tokenizer.decode(made[0, start.input_ids.shape[1] :], skip_special_tokens=True)
    report(f"{name}, greedy continuation, texts that differ", int(continuation != ours.decode(errors="replace")), 0)


def check_padding(model):
    ids = torch.tensor([[256, 84, 104, 101]])
    padded = torch.cat((torch.zeros(1, 3, dtype=torch.long), ids), 1)
    mask = torch.tensor([[0, 0, 0, 1, 1, 1, 1]])
    with torch.no_grad():
        difference = model(input_ids=padded, attention_mask=mask).logits[0, 3:] - model(input_ids=ids).logits[0]
    report("bam, padding on the left", difference.abs().max().item(), MOST_LOGIT)


def check_tokenizers(tools, scratch, text, tokenizers):
    sample = scratch / "sample.txt"
    hard = "  two  blanks\n\nlines\tand tabs, 1234567, d'être naïve \u4f60\u597d \U0001f40b <s> </s> end \n"
    sample.write_text(text.read_text()[:6000] + hard)
    learnt = scratch / "learnt.model"
    tools("bam-tokenize", "--learn", 320, text, "-o", learnt)
    for file in ["bytes", learnt, *tokenizers]:
        shard, checkpoint = scratch / "one.tok.zst", scratch / "ids.h5"
        tools("bam-tokenize", "--tokenizer", file, "--input", "text", sample, "-o", shard)
        tools("bam-train", "--threads", 1, "--layers", 1, "--dim", 8, "--heads", 1, "--ffn", 8, "--context", 8,
              "--batch-tokens", 8, "--steps", 1, shard, "-o", checkpoint)
        folder = scratch / ("ids-" + pathlib.Path(file).name)
        tools("bam-convert", checkpoint, "-o", folder)
        width = 4 if json.loads((folder / "bam_tokenizer.json").read_text())["vocab_size"] > 65536 else 2
        raw = subprocess.run(["zstd", "-qdc", str(shard)], check=True, stdout=subprocess.PIPE).stdout
        ours = [int.from_bytes(raw[i : i + width], "little") for i in range(0, len(raw), width)]
        try:
            tokenizer = AutoTokenizer.from_pretrained(folder, trust_remote_code=True)
        except Exception as error:
            print(f"     ids of {file}: {type(error).__name__}: {str(error)[:100]}")
            continue
        bos = json.loads((folder / "bam_tokenizer.json").read_text())["bos_id"]
        report(f"ids of {pathlib.Path(file).name}, id of BOS that differs", int(tokenizer.bos_token_id != bos), 0)
        theirs = tokenizer(sample.read_text(), add_special_tokens=False, split_special_tokens=True).input_ids
        inner = [i for i in ours if i != bos]
        inner = inner[:-1] if tokenizer.eos_token_id is not None and inner[-1] == tokenizer.eos_token_id else inner
        at = next((i for i, (a, b) in enumerate(zip(inner, theirs)) if a != b), min(len(inner), len(theirs)))
        differs = inner != theirs
        if (folder / "tokenizer.model").exists():
            # transformers makes its own merges of a SentencePiece model, and they are others: shown, not counted.
            print(f"     ids of {pathlib.Path(file).name}: {len(inner)}, {'others' if differs else 'the same'} there")
        else:
            report(f"ids of {pathlib.Path(file).name}, {len(inner)} ids, texts that differ", int(differs), 0)
        if differs:
            print("     ours", inner[at - 2 : at + 8], "theirs", theirs[at - 2 : at + 8],
                  repr(tokenizer.decode(theirs[max(0, at - 8) : at + 8])))


ARC = [
    ("Which of these does a whale breathe?", ["air", "water", "sand", "oil"], 0),
    ("What is at the end of a whale?", ["A tail", "A wheel", "A door"], 0),
    ("Ships are moved by", ["wind in their sails", "stones", "sleep", "the colour of their paint"], 0),
    ("How many legs has a sailor?", ["seven", "two", "nine", "ten"], 1),
]


def check_items(tools, scratch, items):
    try:
        import lm_eval
        import lm_eval.evaluator
        from lm_eval.models.huggingface import HFLM
        from lm_eval.tasks import TaskManager
    except ImportError as error:
        print(f"     items: {error}; not compared")
        return
    lm_eval.evaluator.add_env_info = lambda results: None  # a list of all that is installed: minutes
    if items is None:
        items = scratch / "arc.jsonl"
        with items.open("w") as file:
            for number, (question, choices, answer) in enumerate(ARC):
                labels = "ABCD"[: len(choices)]
                row = {"id": str(number), "question": question, "choices": {"text": choices, "label": list(labels)},
                       "answerKey": labels[answer]}
                file.write(json.dumps(row) + "\n")
    task = {
        "task": "arc_crosscheck", "dataset_path": "json",
        "dataset_kwargs": {"data_files": {"test": str(items)}}, "test_split": "test", "output_type": "multiple_choice",
        "doc_to_text": "Question: {{question}}\nAnswer:", "doc_to_target": "{{choices.label.index(answerKey)}}",
        "doc_to_choice": "{{choices.text}}",
        "metric_list": [{"metric": m, "aggregation": "mean", "higher_is_better": True} for m in ("acc", "acc_norm")],
    }
    for number in (8, 14):
        checkpoint, folder = scratch / f"model{number}.h5", scratch / f"model{number}-hf"
        tokenizer = AutoTokenizer.from_pretrained(folder, trust_remote_code=True)
        wrapped = HFLM(pretrained=load(folder), tokenizer=tokenizer, batch_size=1, device="cpu", max_length=4096,
                       add_bos_token=True)
        found = lm_eval.simple_evaluate(model=wrapped, tasks=[task], bootstrap_iters=0, log_samples=True,
                                        task_manager=TaskManager())
        theirs = found["results"]["arc_crosscheck"]
        (ours,) = tools.rows("bam-mcq", "--task", "arc_easy", "--no-times", "--eps", 0, checkpoint, items)[-1:]
        for metric in ("acc", "acc_norm"):
            report(f"model {number}, {ours['n']} items, {metric} {theirs[metric + ',none']:.4f}",
                   abs(theirs[metric + ",none"] - float(ours[metric])), MOST_NLL)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bin", help="the folder of the tools")
    parser.add_argument("--folder", type=pathlib.Path, default=pathlib.Path("crosscheck-scratch"))
    parser.add_argument("--text", type=pathlib.Path, help="plain text, some tens of kilobytes, to train on")
    parser.add_argument("--arc", type=pathlib.Path, help="items of ARC, JSON lines as published")
    parser.add_argument("--tokenizer", action="append", default=[], help="further tokenizer files")
    parser.add_argument("--only", default="llama,bam,ids,items", help="parts, with commas; items needs models of bam")
    arguments = parser.parse_args()
    scratch = arguments.folder.resolve()
    scratch.mkdir(parents=True, exist_ok=True)
    torch.set_num_threads(1)
    tools = Tools(arguments.bin)
    print(f"transformers {transformers.__version__}, torch {torch.__version__}")
    text = arguments.text
    if text is None:
        text = scratch / "text.txt"
        lines = [f"The whale number {i} swims {i * i} miles; its {['tail', 'eye', 'fin'][i % 3]} is seen.\n" for i in range(999)]
        text.write_text("".join(lines))
    parts = arguments.only.split(",")
    if "llama" in parts:
        check_llamas(tools, scratch)
    if "bam" in parts:
        check_models(tools, scratch, text)
    if "ids" in parts:
        check_tokenizers(tools, scratch, text, arguments.tokenizer)
    if "items" in parts:
        check_items(tools, scratch, arguments.arc)
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
