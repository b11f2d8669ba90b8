#!/usr/bin/env python3
"""Compares bam-convert, and the models that it writes, with transformers and lm-evaluation-harness.

    python3 tests/crosscheck/huggingface.py BIN-FOLDER [--folder SCRATCH] [--text FILE] [--arc ITEMS.jsonl]

Needs torch and transformers; lm_eval is used where it is there. Not part of the tests: nothing here is needed to build or
run the tools. One line for each comparison, with the largest difference; exit status 1 if one is too large.

  llama   random LlamaForCausalLM models of transformers, converted: log-probabilities of both, and the way back
  bam     models that bam-train made, of every kind of positions and softmax, exported: the same
  ids     tokenizers: the ids of a text
  items   lm-evaluation-harness on exported models against bam-mcq (ARC, HellaSwag, PIQA, MMLU) and bam-ppl --rolling
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
    check_halves(tools, scratch, data)


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


HARD = [
    "a", " ", "  ", " " * 40, "\n", "\t", "\r\n\r\n", "\u2581", "\u2581\u2581a", "\0", "\u00a0", "\u3000 \u3000", "\ufeffa", "<0x0A>",
    "  two  blanks\n\nlines\tand tabs, 1234567, d'\u00eatre na\u00efve \u4f60\u597d\u4e16\u754c \U0001f40b <s> </s> end \n",
    "    if x:\n        return  y   # z\n\n\n", "e\u0301 \u1100\u1161\u11a8 \u0e01\u0e33 \U0001f468\u200d\U0001f469\u200d\U0001f467",
    "DON'T don\u2019t they'LL 's\u017f", "3.14159 1,000,000 \u0661\u0662\u0663 \u00bd", "x" * 300, "[REFERENCE_DOC_1]", " [REFERENCE_DOC_12] a",
    "a[REFERENCE_DOC_3][REFERENCE_DOC_4] b  [REFERENCE_DOC_5", "[INST] a [/INST]", "\ufffd\uffff\ue000", "ab" + " " * 17 + "c" + " " * 33 + "d",
]


def texts_to_compare(sample, folders):
    texts = [sample, *HARD]
    for folder in folders:
        for file in sorted(folder.glob("tokenizers/golden/*.jsonl")):
            texts += [row["text"] for row in map(json.loads, file.read_text().splitlines()) if row.get("text")]
        for file in sorted(folder.glob("corpora/*.txt.zst")):
            text = subprocess.run(["zstd", "-qdc", str(file)], check=True, stdout=subprocess.PIPE).stdout.decode()
            texts += [text[i : i + 20000] for i in (0, len(text) // 3, len(text) // 2)]
    return list(dict.fromkeys(texts))


def documents(tools, file, texts, scratch):
    """The ids of each text here, and the tokenizer's facts."""
    rows, shard = scratch / "texts.jsonl", scratch / "one.tok.zst"
    rows.write_text("".join(json.dumps({"text": text}) + "\n" for text in texts))
    tools("bam-tokenize", "--tokenizer", file, "--input", "jsonl", rows, "-o", shard)
    (info,) = tools.rows("bam-tokenize", "--info", shard)
    raw = subprocess.run(["zstd", "-qdc", str(shard)], check=True, stdout=subprocess.PIPE).stdout
    width, bos, found = int(info["dtype"][1:]) // 8, int(info["bos_id"]), []
    for at in range(0, len(raw), width):
        token = int.from_bytes(raw[at : at + width], "little")
        if token == bos:
            found.append([])
        found[-1].append(token)
    if info["eos_id"]:
        found = [ids[:-1] for ids in found]
    return found, info


def check_tokenizers(tools, scratch, text, tokenizers, folders):
    learnt = scratch / "learnt.model"
    tools("bam-tokenize", "--learn", 320, text, "-o", learnt)
    texts = texts_to_compare(text.read_text()[:6000], folders)
    for file in ["bytes", learnt, *tokenizers]:
        ours, info = documents(tools, file, texts, scratch)
        checkpoint, name = scratch / "ids.h5", pathlib.Path(file).name
        tools("bam-train", "--threads", 1, "--layers", 1, "--dim", 8, "--heads", 1, "--ffn", 8, "--context", 8,
              "--batch-tokens", 8, "--steps", 1, scratch / "one.tok.zst", "-o", checkpoint)
        folder = scratch / ("ids-" + name)
        tools("bam-convert", checkpoint, "-o", folder)
        if not (folder / "tokenizer.json").exists():
            try:
                kind = type(AutoTokenizer.from_pretrained(folder, trust_remote_code=True)).__name__
            except Exception:
                kind = None
            report(f"ids of {name}, which has no tokenizer.json, classes that load it all the same", int(kind is not None), 0)
            continue
        if len(ours) != len(texts):
            raise SystemExit(f"{file}: {len(ours)} documents of {len(texts)} texts")
        tokenizer = AutoTokenizer.from_pretrained(folder, trust_remote_code=True)
        report(f"ids of {name}, id of BOS that differs", int(tokenizer.bos_token_id != int(info["bos_id"])), 0)
        begins = int("bos" in (folder / "bam_tokenizer.json").read_text() and not str(file).endswith(".json"))
        different = []
        for one, ids in zip(texts, ours):
            theirs = tokenizer(one, add_special_tokens=bool(begins), split_special_tokens=True).input_ids
            if theirs != ids[1 - begins :]:
                different.append((one, ids[1 - begins :], theirs))
        report(f"ids of {name}, {len(texts)} texts, {sum(map(len, ours))} ids, texts that differ", len(different), 0)
        for one, a, b in different[:5]:
            at = next((i for i, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b)))
            print("     ", repr(one[:40]), "at", at, "ours", a[max(0, at - 2) : at + 8], "theirs", b[max(0, at - 2) : at + 8])
        back = [tokenizer.decode(ids[1:]) for ids in ours]
        lossy = sum(a != b for a, b in zip(back, texts))
        print(f"      {name}: {lossy} texts of {len(texts)} are not what their ids decode to there")


ARC = [
    ("Which of these does a whale breathe?", ["air", "water", "sand", "oil"], 0),
    ("What is at the end of a whale?", ["A tail", "A wheel", "A door"], 0),
    ("Ships are moved by", ["wind in their sails", "stones", "sleep", "the colour of their paint"], 0),
    ("How many legs has a sailor?", ["seven", "two", "nine", "ten"], 1),
]


def check_halves(tools, scratch, data):
    """Weights rounded on the way out: the same model in transformers and back here."""
    checkpoint = train(tools, scratch, "half", data, "--pe", "bam", "--ssmax", "full", "--kv-heads", 2)
    for dtype in ("bf16", "f16"):
        folder, back = scratch / f"half-{dtype}", scratch / f"half-{dtype}.h5"
        tools("bam-convert", "--dtype", dtype, checkpoint, "-o", folder)
        tools("bam-convert", folder, "-o", back)
        compare_ids(f"bam full, weights in {dtype}", tools, back, load(folder), scratch)


CHOICE = {"test_split": "test", "output_type": "multiple_choice", "dataset_path": "json"}
MEANS = [{"metric": m, "aggregation": "mean", "higher_is_better": True} for m in ("acc", "acc_norm")]


def arc(name, file, shots=None):
    task = dict(CHOICE, task=name, dataset_kwargs={"data_files": {"test": str(file)}}, metric_list=MEANS,
                doc_to_text="Question: {{question}}\nAnswer:", doc_to_target="{{choices.label.index(answerKey)}}",
                doc_to_choice="{{choices.text}}")
    if shots:
        task["dataset_kwargs"]["data_files"]["train"] = str(shots)
        task |= {"fewshot_split": "train", "num_fewshot": 3}
    return task


def piqa(name, file):
    return dict(CHOICE, task=name, dataset_kwargs={"data_files": {"test": str(file)}}, metric_list=MEANS,
                doc_to_text="Question: {{goal}}\nAnswer:", doc_to_target="label", doc_to_choice="{{[sol1, sol2]}}")


def hellaswag(name, file):
    from lm_eval.tasks.hellaswag.utils import process_docs
    return dict(CHOICE, task=name, dataset_kwargs={"data_files": {"test": str(file)}}, metric_list=MEANS,
                process_docs=process_docs, doc_to_text="{{query}}", doc_to_target="{{gold}}", doc_to_choice="choices")


def mmlu(name, file, dev, subject):
    words = subject.replace("_", " ")
    return dict(CHOICE, task=name, dataset_kwargs={"data_files": {"test": str(file), "dev": str(dev)}},
                fewshot_split="dev", fewshot_config={"sampler": "first_n"}, num_fewshot=5, metric_list=MEANS[:1],
                description=f"The following are multiple choice questions (with answers) about {words}.\n\n",
                doc_to_text="{{question.strip()}}\nA. {{choices[0]}}\nB. {{choices[1]}}\nC. {{choices[2]}}\nD. {{choices[3]}}\nAnswer:",
                doc_to_choice=["A", "B", "C", "D"], doc_to_target="answer")


def rolling(name, file):
    return {"task": name, "dataset_path": "json", "dataset_kwargs": {"data_files": {"test": str(file)}},
            "test_split": "test", "output_type": "loglikelihood_rolling", "doc_to_text": "", "doc_to_target": "{{text}}",
            "metric_list": [{"metric": m} for m in ("word_perplexity", "byte_perplexity", "bits_per_byte")]}


def first_lines(source, target, most, wanted=lambda line: True):
    lines = [line for line in source.read_text().splitlines() if wanted(line)][:most]
    target.write_text("".join(line + "\n" for line in lines))
    return target


def item_checks(scratch, folders, text):
    """Of each: its name, tasks of the harness, and the options and files of bam-mcq."""
    own = scratch / "arc.jsonl"
    with own.open("w") as file:
        for number, (question, choices, answer) in enumerate(ARC):
            labels = "ABCD"[: len(choices)]
            row = {"id": str(number), "question": question, "choices": {"text": choices, "label": list(labels)},
                   "answerKey": labels[answer]}
            file.write(json.dumps(row) + "\n")
    checks = [("arc of our own", [arc("arc_own", own)], ("--task", "arc_easy"), own)]
    for folder in folders:
        mc = folder / "benchmarks/mc"
        if not mc.is_dir():
            continue
        easy = first_lines(mc / "arc_easy.validation.200.jsonl", scratch / "easy.jsonl", 60)
        hard = first_lines(mc / "arc_challenge.validation.200.jsonl", scratch / "hard.jsonl", 40)
        whole = first_lines(mc / "hellaswag.original-fields.12.jsonl", scratch / "hellaswag.jsonl", 40)
        goals = first_lines(mc / "piqa.hf-form.100.jsonl", scratch / "piqa.jsonl", 60)
        checks += [
            ("ARC-Easy", [arc("arc_easy_part", easy)], ("--task", "arc_easy"), easy),
            ("ARC-Challenge, 3 shots", [arc("arc_challenge_part", hard, easy)],
             ("--task", "arc_challenge", "--shots", 3, "--shots-from", easy), hard),
            ("HellaSwag", [hellaswag("hellaswag_part", whole)], ("--task", "hellaswag"), whole),
            ("PIQA", [piqa("piqa_part", goals)], ("--task", "piqa"), goals),
        ]
        for subject in ("abstract_algebra", "global_facts"):
            of_subject = lambda line, subject=subject: json.loads(line)["subject"] == subject
            test = first_lines(mc / "mmlu.test.200.jsonl", scratch / f"{subject}.jsonl", 25, of_subject)
            dev = first_lines(mc / "mmlu.dev.40.jsonl", scratch / f"{subject}.dev.jsonl", 5, of_subject)
            checks.append((f"MMLU {subject}, 5 shots", [mmlu(f"mmlu_{subject}_part", test, dev, subject)],
                           ("--task", "mmlu", "--shots", 5, "--shots-from", dev), test))
    pages = scratch / "pages.jsonl"
    parts = [text[i : i + 900] for i in range(0, 3600, 900)] + [" two  blanks\n\n na\u00efve \u4f60\u597d\n"]
    pages.write_text("".join(json.dumps({"text": part}) + "\n" for part in parts))
    return checks, pages


def check_items(tools, scratch, text, folders):
    try:
        import lm_eval
        import lm_eval.evaluator
        from lm_eval.models.huggingface import HFLM
        from lm_eval.tasks import TaskManager
    except ImportError as error:
        print(f"     items: {error}; not compared")
        return
    lm_eval.evaluator.add_env_info = lambda results: None  # a list of all that is installed: minutes
    checks, pages = item_checks(scratch, folders, text.read_text())
    learnt = scratch / "items.model"
    tools("bam-tokenize", "--learn", 320, text, "-o", learnt)
    manager = TaskManager()
    for file, arguments in (("bytes", ("--pe", "rope", "--ssmax", "off")), (learnt, ("--pe", "bam", "--ssmax", "full"))):
        name = f"{arguments[1]}, {pathlib.Path(file).name}"
        data = scratch / "items.tok.zst"
        tools("bam-tokenize", "--tokenizer", file, text, "-o", data)
        checkpoint = train(tools, scratch, "items-" + arguments[1], data, *arguments)
        folder = scratch / f"items-{arguments[1]}-hf"
        tools("bam-convert", checkpoint, "-o", folder)
        tokenizer = AutoTokenizer.from_pretrained(folder, trust_remote_code=True)
        model = load(folder)

        def evaluate(tasks, length, bos):
            wrapped = HFLM(pretrained=model, tokenizer=tokenizer, batch_size=1, device="cpu", max_length=length,
                           add_bos_token=bos)
            return lm_eval.simple_evaluate(model=wrapped, tasks=tasks, bootstrap_iters=0, task_manager=manager)["results"]

        for what, tasks, options, items in checks:
            theirs = evaluate(tasks, 8192, True)[tasks[0]["task"]]
            ours = tools.rows("bam-mcq", "--no-times", "--eps", 0, *options, checkpoint, items)[-1]
            for metric in ("acc", "acc_norm"):
                if metric + ",none" in theirs:
                    value = theirs[metric + ",none"]
                    report(f"{name}, {what}, {ours['n']} items, {metric} {value:.4f}", abs(value - float(ours[metric])), MOST_NLL)
        # It puts a BOS before the first window by itself; with another from the tokenizer, that one would be scored.
        theirs = evaluate([rolling("rolling_part", pages)], 256, False)["rolling_part"]
        (ours,) = tools.rows("bam-ppl", "--rolling", "--context", 256, "--no-times", "--eps", 0, "--input", "jsonl", checkpoint, pages)[-1:]
        for metric in ("word_perplexity", "byte_perplexity", "bits_per_byte"):
            value = theirs[metric + ",none"]
            report(f"{name}, rolling, {metric} {value:.6g}, relative", abs(value / float(ours[metric]) - 1), MOST_NLL)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bin", help="the folder of the tools")
    parser.add_argument("--folder", type=pathlib.Path, default=pathlib.Path("crosscheck-scratch"))
    parser.add_argument("--text", type=pathlib.Path, help="plain text, some tens of kilobytes, to train on")
    parser.add_argument("--tokenizer", action="append", default=[], help="further tokenizer files")
    parser.add_argument("--data", action="append", default=[], type=pathlib.Path,
                        help="a folder with tokenizers/golden/*.jsonl, corpora/*.txt.zst (texts for ids) and benchmarks/mc")
    parser.add_argument("--only", default="llama,bam,ids,items", help="parts, with commas")
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
        check_tokenizers(tools, scratch, text, arguments.tokenizer, arguments.data)
    if "items" in parts:
        check_items(tools, scratch, text, arguments.data)
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
