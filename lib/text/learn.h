// Learns a SentencePiece BPE model from text.
#pragma once

#include <string>
#include <vector>

#include "text/tokenize.h"

namespace bam::text {

struct LearnOptions {
  Index vocab_size = 0;
  InputOptions input;
  OnError on_error = OnError::fail;
  bool chatter = false;  // what the trainer says on standard error
};

// The content of a .model file: the same for the same text, whatever the machine.
//   ids          <unk> 0, <s> 1, </s> 2, the 256 bytes, then pieces: decode(encode(x)) == x for valid UTF-8
//   characters   every one that occurs is a piece (the trainer's own default drops rare ones, digits among them), and
//                all digits; digits are never merged
//   blanks       kept as they are, runs of them may become pieces; no blank is put before a text
//   newlines     bytes, since the trainer sees one line at a time; no piece crosses one
// The text is held in memory. Throws Error for files as tokenize_files does, for no text at all, and for a size that is
// too small for the characters or too large for the text.
std::string learn_sentencepiece(const std::vector<std::string>& paths, const LearnOptions& options);

}  // namespace bam::text
