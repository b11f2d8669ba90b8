#!/usr/bin/env python3
"""ids_by_library.py TOKENIZER TEXT... - ids of each text, as one string without BOS and EOS, by the library that the tokenizer's
file belongs to (SentencePiece, Hugging Face tokenizers, tiktoken): a line of decimal numbers for each text. Status 77 where the
library is not here."""
import os
import sys

name, texts = sys.argv[1], sys.argv[2:]
try:
    if name.endswith(".model"):
        import sentencepiece

        library = sentencepiece.SentencePieceProcessor(model_file=name)
        encode = library.encode
    elif name.endswith(".tiktoken"):
        import tiktoken
        import tiktoken.load
        import tiktoken_ext.openai_public as known

        # The pattern stands inside the function that would fetch the ranks: give it ours in their place.
        ranks = tiktoken.load.load_tiktoken_bpe(name)
        known.load_tiktoken_bpe = lambda *_, **__: ranks
        pattern = getattr(known, os.path.basename(name).removesuffix(".tiktoken"))()["pat_str"]
        library = tiktoken.Encoding("ours", pat_str=pattern, mergeable_ranks=ranks, special_tokens={})
        encode = library.encode_ordinary
    else:
        import tokenizers

        library = tokenizers.Tokenizer.from_file(name)

        def encode(text):
            return library.encode(text, add_special_tokens=False).ids
except ImportError as error:
    print(error, file=sys.stderr)
    sys.exit(77)
for text in texts:
    with open(text, encoding="utf-8", newline="") as file:
        print(*encode(file.read()))
