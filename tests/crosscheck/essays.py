#!/usr/bin/env python3
"""Compares bam-ruler's essays with NLTK's sentences put together as RULER does, byte for byte.

    python3 tests/crosscheck/essays.py BIN-FOLDER --folder SCRATCH [--punkt DIR] [--essay FILE.txt]

Needs nltk and numpy. Without --punkt (punkt_tab/english of nltk_data) the parameters are learnt from the essay. One line for
each comparison; exit status 1 if any differs.
"""

import argparse
import json
import pathlib
import random
import re
import subprocess
import sys
import uuid

import numpy
from nltk.tabdata import PunktDecoder, TabEncoder
from nltk.tokenize import punkt

NOUNS = ["anchor", "basin", "candle", "dump truck", "egg", "jalape\u00f1o"]
ADJECTIVES = ["Early", "amber", "brisk", "calm", "well", "well-known"]
DEPTHS = list(numpy.round(numpy.linspace(0, 100, num=40, endpoint=True)).astype(int))
ANSWER = 128
# name: kind of value, keys, values of a key, keys that are asked for
TASKS = {"niah_single_2": ("numbers", 1, 1, 1), "niah_single_3": ("uuids", 1, 1, 1), "niah_multikey_1": ("numbers", 4, 1, 1),
         "niah_multivalue": ("numbers", 1, 4, 1), "niah_multiquery": ("numbers", 4, 1, 4)}
QUESTION = ("Some special magic {v} are hidden within the following text. Make sure to memorize it. I will quiz you about the {v} "
            "afterwards.\n{context}\nWhat are all the special magic {v} for {query} mentioned in the provided text?")
PREFIX = " The special magic {v} for {query} mentioned in the provided text are"
# What sentences are cut at, or not, in every order.
PIECES = ["Mr.", "Mrs", "U.S.", "e.g.", "i.e.,", "No. 5", "3.50", "1999.", "-7.", "J.", "S.", "\u00c9.", "a.m.", "Inc.", "vs.", "etc.).", "...", ". . .",
          "....", "--", "-", "word--word", "word.--", "end!", "end?", "?!", "!!!", "end.", "end.)", "(end.)", "end.\u201d", "\u201cOh.", "end.'", "\"Quote.\"",
          "\u00abBien.\u00bb", "The", "the", "He", "he", "It", "I", "went", "Smith", "London", "new", "New", "york.", "co-op.", "St.-Cloud.", "x,y", "a,", "b;",
          ":", ",", "'", "\u2018", "\u00f1.", "\u4f60\u597d\u3002", "\u0661.", "\u00bd.", "_.", "[1].", "{x}.", "*", "@a.", "#b.", "&c.", "`d`.", "A.B.C.", "end.The"]


class Sentences:
    def __init__(self, folder):
        files = {name: (folder / name).open(encoding="utf-8") for name in
                 ("collocations.tab", "sent_starters.txt", "abbrev_types.txt", "ortho_context.tab")}
        decoder, parameters = PunktDecoder(), punkt.PunktParameters()
        parameters.collocations = set(decoder.tab2tups(files["collocations.tab"]))
        parameters.sent_starters = decoder.txt2set(files["sent_starters.txt"])
        parameters.abbrev_types = decoder.txt2set(files["abbrev_types.txt"])
        parameters.ortho_context = decoder.tab2intdict(files["ortho_context.tab"])
        self.tokenizer = punkt.PunktSentenceTokenizer(parameters)
        self.known = {}

    def __call__(self, text):
        if text not in self.known:
            self.known[text] = self.tokenizer.tokenize(text)
        return self.known[text]


def learn(text, folder):
    trainer = punkt.PunktTrainer()
    trainer.INCLUDE_ALL_COLLOCS = True
    trainer.train(text)
    parameters, encoder = trainer.get_params(), TabEncoder()
    parameters.abbrev_types |= {"mr", "e.g", "u.s", "inc", "co-op", "cloud", "no"}
    parameters.collocations |= {("##number##", "london"), ("j", "smith")}
    folder.mkdir(exist_ok=True)
    for name, content in (("collocations.tab", encoder.tups2tab(sorted(parameters.collocations))),
                          ("sent_starters.txt", encoder.set2txt(sorted(parameters.sent_starters | {"it"}))),
                          ("abbrev_types.txt", encoder.set2txt(sorted(parameters.abbrev_types))),
                          ("ortho_context.tab", encoder.ivdict2tab(parameters.ortho_context))):
        (folder / name).write_text(content, encoding="utf-8")


class Samples:
    """RULER's samples of needles in essays, where a byte is a token."""

    def __init__(self, task, length, seed, words, names, sentences):
        self.kind, self.keys, self.values, self.asked = TASKS[task]
        self.length, self.seed, self.words, self.names, self.sentences = length, seed, words, names, sentences
        self.random = random.Random(seed)
        each = len(self.draw(500)[0].encode()) / 500
        low, high, self.size = 500, max(int(length / each * 3), 1000), 500
        while low <= high:
            middle = (low + high) // 2
            if len(self.draw(middle)[0].encode()) + ANSWER <= length:
                self.size, low = middle, middle + 1
            else:
                high = middle - 1

    def value(self):
        if self.kind == "uuids":
            return str(uuid.UUID(int=self.random.getrandbits(128), version=4))
        return str(self.random.randint(10**6, 10**7 - 1))

    def draw(self, size):
        keys, values, needles = [], [], []
        for _ in range(self.keys):
            keys.append(self.random.choice(self.names))
            values.append([])
            for _ in range(self.values):
                values[-1].append(self.value())
                needles.append(f"One of the special magic {self.kind} for {keys[-1]} is: {values[-1][-1]}.")
        random.Random(self.seed).shuffle(needles)
        repeated = self.words * (size // len(self.words) + 1)
        sentences = self.sentences(" ".join(repeated[:size]).strip())
        places = sorted(int(len(sentences) * (depth / 100)) for depth in self.random.sample(DEPTHS, len(needles)))
        parts, begin = [], 0
        for place, needle in zip(places, needles):
            parts += [" ".join(sentences[begin:place]), needle]
            begin = place
        context = " ".join([*parts, " ".join(sentences[begin:])])
        chosen = self.random.sample(range(self.keys), self.asked)
        query = ", ".join(keys[k] for k in chosen[:-1]) + ", and " * (self.asked > 1) + keys[chosen[-1]]
        pattern, prefix, v = QUESTION, PREFIX, self.kind
        if self.asked * self.values == 1:
            v = v[:-1]
            for a, b in (("Some", "A"), ("are all", "is"), ("are", "is")):
                pattern, prefix = pattern.replace(a, b), prefix.replace(a, b)
        prefix = prefix.format(v=v, query=query)
        return pattern.format(v=v, context=context, query=query) + prefix, prefix, [x for k in chosen for x in values[k]]

    def next(self):
        size = self.size
        while True:
            text, prefix, answers = self.draw(size)
            tokens = len(text.encode()) + ANSWER
            if tokens <= self.length:
                break
            if size <= 500:
                raise SystemExit(f"{self.length} bytes are too few")
            size -= 500
        text = text[: len(text) - len(prefix)]
        place = text.find(answers[0])
        return json.dumps({"index": place, "input": text, "outputs": answers, "length": tokens, "length_w_model_temp": tokens,
                           "answer_prefix": prefix, "token_position_answer": len(text[:place].encode())})


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bin", type=pathlib.Path, help="the folder of the tools")
    parser.add_argument("--folder", type=pathlib.Path, required=True)
    parser.add_argument("--punkt", type=pathlib.Path)
    parser.add_argument("--essay", type=pathlib.Path, help="plain text, some tens of kilobytes")
    arguments = parser.parse_args()
    scratch = arguments.folder
    scratch.mkdir(parents=True, exist_ok=True)
    (scratch / "nounlist.txt").write_text("".join(n + "\n" for n in NOUNS), encoding="utf-8")
    (scratch / "adjectivelist.txt").write_text("".join(a + "\n" for a in ADJECTIVES))
    (scratch / "verblist.txt").write_text("go\n")
    names = sorted({f"{a}-{n}" for a in ADJECTIVES for n in NOUNS})
    drawn = random.Random(1)
    hard = scratch / "hard.json"
    hard.write_text(json.dumps({"text": " " + " ".join(drawn.choice(PIECES) for _ in range(4000)) + "\n"}))
    essays = {"hard": (hard, json.loads(hard.read_text())["text"])}
    if arguments.essay:
        essays["essay"] = (arguments.essay, arguments.essay.read_text(encoding="utf-8"))
    folder = arguments.punkt
    if folder is None:
        folder = scratch / "punkt"
        learn("\n".join(text for _, text in essays.values()), folder)
    sentences = Sentences(folder)
    (scratch / "data.txt").write_text("any text does\n" * 9)
    tool = lambda name, *more: subprocess.run([arguments.bin / name, "-q", *map(str, more)], check=True, stdout=subprocess.PIPE).stdout.decode()
    tool("bam-tokenize", "--tokenizer", "bytes", scratch / "data.txt", "-o", scratch / "data.tok.zst")
    tool("bam-train", "--layers", 1, "--dim", 8, "--heads", 1, "--context", 8, "--batch-tokens", 8, "--steps", 1,
         scratch / "data.tok.zst", "-o", scratch / "model.h5")
    failures = 0
    for name, (file, text) in essays.items():
        words = re.sub(r"\s+", " ", text).split(" ")
        for task in TASKS:
            for length, seed in ((7000, 42), (25000, 7)):
                ours = tool("bam-ruler", "--tasks", task, "--lengths", length, "--samples", 3, "--seed", seed, "--words", scratch,
                            "--essay", file, "--punkt", folder, "--dump", scratch / "model.h5").splitlines()
                samples = Samples(task, length, seed, words, names, sentences)
                different = sum(one != samples.next() for one in ours) + abs(len(ours) - 3)
                failures += different > 0
                print(f"{'ok  ' if different == 0 else 'FAIL'} {name}, {task}, {length} bytes, seed {seed}: {different} of 3 differ", flush=True)
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
