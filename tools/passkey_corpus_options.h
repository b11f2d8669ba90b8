// bam-passkey --corpus: documents to train on instead of questions to a model.
#pragma once

#include <optional>
#include <string>

#include "base/log.h"
#include "cli/progress.h"
#include "cli/run_tool.h"
#include "eval/passkey_corpus.h"
#include "io/text_file.h"

namespace bam {

struct CorpusOptions {
  Index documents = 0;
  std::string tokenizer = "bytes";
  std::optional<std::string> filler_text;
  eval::CorpusTask task;

  bool is_asked_for() const { return documents > 0; }

  void declare(cli::OptionTable& options) {
    cli::ValueType<std::string> tokenizer_type = cli::path();
    tokenizer_type.metavar = "bytes|FILE";
    tokenizer_type.words = {"bytes"};
    options.group("Training documents")
        .add("corpus", documents, cli::or_word(cli::count(), "no", 0), "N",
             "Instead of asking a model, write N documents to train one on, as JSON lines.")
        .add("tokenizer", tokenizer, tokenizer_type, "What their tokens are counted with.")
        .add("max-tokens", task.max_tokens, cli::integer({1, 1'000'000}), "TOKENS",
             "Tokens of the longest; whole documents fill each stretch of so many.")
        .add("exact-share", task.exact_share, cli::real(cli::between(0, 1)), "P",
             "Share of the passkey documents that are in the wording of the task itself; with 0 it never occurs.")
        .add("filler-text", filler_text, cli::optional(cli::path(), "none"), "FILE",
             "Ordinary text, parts of which serve as filler.");
  }

  void write(const std::string& path, std::uint64_t seed) const {
    constexpr Index kMostFiller = Index{1} << 30;
    eval::CorpusTask asked = task;
    asked.seed = seed;
    if (filler_text) asked.filler_text = io::read_text(*filler_text, kMostFiller);
    const auto encoder = text::open_tokenizer(tokenizer);
    eval::PasskeyCorpus corpus(*encoder, std::move(asked));
    io::OutputFile output(path);
    cli::Progress progress({.total = documents, .unit = "documents"});
    Index tokens = 0;
    for (Index i = 1; i <= documents; ++i) {
      const eval::CorpusDocument document = corpus.next();
      output.write(eval::corpus_line(document) + "\n");
      tokens += document.tokens;
      progress.update(i);
    }
    output.commit();
    progress.clear();
    log::info(std::to_string(documents) + " documents, " + std::to_string(tokens) + " tokens");
  }
};

}  // namespace bam
