// SentencePiece BPE models as a tokenizer.json, where that gives the same ids of every text.
#include <algorithm>
#include <limits>
#include <map>
#include <unordered_map>

#include "text/sentencepiece_tokenizer.h"
#include "text/utf8.h"

namespace bam::text {
namespace {

using Group = std::span<Merge>;

// Merges of runs of one character.
class Runs {
 public:
  static std::optional<Runs> of(const SentencePieceModel& model, Group group) {
    constexpr std::size_t kMostLength = 64;
    Runs runs;
    const std::string_view text = model.pieces[static_cast<std::size_t>(group.front().merged)].text;
    const std::string_view character = text.substr(0, first_code_point(text).bytes);
    for (const Merge& merge : group) {
      for (const Token id : {merge.left, merge.right, merge.merged}) {
        if (static_cast<std::size_t>(id) >= model.pieces.size()) return std::nullopt;
        std::string_view rest = model.pieces[static_cast<std::size_t>(id)].text;
        std::size_t length = 0;
        for (; rest.starts_with(character); ++length) rest.remove_prefix(character.size());
        if (!rest.empty() || length > kMostLength) return std::nullopt;
        runs.lengths_[id] = length;
        runs.longest_ = std::max(runs.longest_, length);
      }
      runs.known_[{runs.length(merge.left), runs.length(merge.right)}] = true;
    }
    return runs;
  }

  std::size_t length(Token id) const { return lengths_.at(id); }

  // With L the longest: where L characters become it, and it goes on to nothing, a run begins with it and goes on as if
  // the rest were alone, the leftmost first. By list the same holds of a run of 2 L or more, if it does of 2 L (further
  // characters add only pairs of the least length, behind others), so that shorter ones decide.
  bool list_is_leftmost() const {
    for (const auto& [pair, is_known] : known_) {
      if (std::max(pair.first, pair.second) == longest_) return false;
    }
    using Lengths = std::vector<std::size_t>;
    if (merged(longest_, longest_, false) != Lengths{longest_}) return false;
    Lengths begun(longest_ + 1, 1);
    begun.front() = longest_;
    if (merged(2 * longest_, longest_ - 1, true) != begun) return false;
    for (std::size_t count = 2; count < 2 * longest_; ++count) {
      if (merged(count, count, true) != merged(count, count, false)) return false;
    }
    return true;
  }

 private:
  std::vector<std::size_t> merged(std::size_t count, std::size_t steps, bool longest_first) const {
    std::vector<std::size_t> run(count, 1);
    for (; steps > 0; --steps) {
      std::size_t best = count, best_length = 0;
      for (std::size_t i = 0; i + 1 < run.size(); ++i) {
        if (!known_.contains({run[i], run[i + 1]}) || run[i] + run[i + 1] <= best_length) continue;
        best = i;
        best_length = run[i] + run[i + 1];
        if (!longest_first) break;
      }
      if (best == count) break;
      run[best] = best_length;
      run.erase(run.begin() + static_cast<std::ptrdiff_t>(best) + 1);
    }
    return run;
  }

  std::unordered_map<Token, std::size_t> lengths_;
  std::map<std::pair<std::size_t, std::size_t>, bool> known_;
  std::size_t longest_ = 0;
};

// Merges of one rank here, the leftmost first, have ranks of their own in a list. This is about which list does the
// same.
class ListOrder {
 public:
  ListOrder(const SentencePieceModel& model, std::vector<Merge>& merges) : model_(model), merges_(merges) {}

  // False where there is none, or none was found.
  bool find() {
    std::stable_sort(merges_.begin(), merges_.end(), [](const Merge& a, const Merge& b) { return a.rank < b.rank; });
    for (std::size_t begin = 0; begin < merges_.size();) {
      std::size_t end = begin + 1;
      while (end < merges_.size() && merges_[end].rank == merges_[begin].rank) ++end;
      const Group group = Group(merges_).subspan(begin, end - begin);
      if (group.size() > 1 && !order_apart(group) && !order_runs(group)) return false;
      begin = end;
    }
    return true;
  }

 private:
  // The least rank of a merge, outside the group, of what the group makes.
  std::uint32_t least_use(Group group) const {
    std::unordered_map<Token, bool> made;
    for (const Merge& merge : group) made[merge.merged] = true;
    std::uint32_t least = std::numeric_limits<std::uint32_t>::max();
    for (const Merge& merge : merges_) {
      const bool is_outside = &merge < group.data() || &merge >= group.data() + group.size();
      if (is_outside && (made.contains(merge.left) || made.contains(merge.right))) least = std::min(least, merge.rank);
    }
    return least;
  }

  // Where the group makes nothing that it or an earlier merge uses, all its places are there when its turn comes, and a
  // place is merged unless the one before it, which shares a symbol with it, is. In a list that holds if (x, y) always
  // stands before (y, z).
  bool order_apart(Group group) const {
    constexpr std::size_t kMostMerges = 1000;
    if (group.size() > kMostMerges || least_use(group) <= group.front().rank) return false;
    for (const Merge& a : group) {
      for (const Merge& b : group) {
        if (a.merged == b.left || a.merged == b.right) return false;
      }
    }
    for (std::size_t done = 0; done < group.size(); ++done) {
      const auto is_free = [&](const Merge& b) {
        return std::none_of(group.begin() + static_cast<std::ptrdiff_t>(done), group.end(),
                            [&](const Merge& a) { return &a != &b && a.right == b.left; });
      };
      const auto next = std::find_if(group.begin() + static_cast<std::ptrdiff_t>(done), group.end(), is_free);
      if (next == group.end()) return false;
      std::rotate(group.begin() + static_cast<std::ptrdiff_t>(done), next, next + 1);
    }
    return true;
  }

  // Runs of one character (of blanks, which are given one score), which nothing else that comes as early is made of.
  // Then each run in a text is merged for itself, and the list with the longest first is tried on runs of all lengths.
  bool order_runs(Group group) const {
    if (least_use(group) <= group.front().rank) return false;
    std::optional<Runs> runs = Runs::of(model_, group);
    if (!runs || !runs->list_is_leftmost()) return false;
    std::sort(group.begin(), group.end(),
              [&](const Merge& a, const Merge& b) { return runs->length(a.merged) > runs->length(b.merged); });
    return true;
  }

  const SentencePieceModel& model_;
  std::vector<Merge>& merges_;
};

std::string problem_of(const SentencePieceModel& model) {
  if (model.segmentation != SegmentationType::bpe) return "it is no BPE model";
  if (!model.character_map.empty()) return "it has normalisation rules";
  if (model.removes_extra_blanks) return "it takes extra blanks out of texts";
  if (!merges_by_ours(model)) return "it has unused pieces, symbols with blanks or other rules for blanks";
  for (const Piece& piece : model.pieces) {
    const bool is_text = piece.type == PieceType::normal || piece.type == PieceType::user_defined;
    if (piece.text.find(' ') != piece.text.npos) return "it has pieces with blanks";
    if (piece.text.find(kSymbolMark) != piece.text.npos) return "it has pieces with U+FDD0 U+FDEF";
    if (!is_text && first_code_point(piece.text).bytes == piece.text.size()) {
      return "it has control pieces of one character";
    }
  }
  return "";
}

void set_pieces(const SentencePieceModel& model, TokenizerJson& json) {
  for (std::size_t i = 0; i < model.pieces.size(); ++i) {
    const Piece& piece = model.pieces[i];
    const auto id = static_cast<Token>(i);
    json.entries.emplace_back(piece.text);
    if (piece.type == PieceType::unknown) json.unknown = piece.text;
    if (piece.type == PieceType::unknown || piece.type == PieceType::control) json.special.push_back(id);
    if (piece.type == PieceType::user_defined) json.user_defined.push_back(id);
  }
}

}  // namespace

std::optional<TokenizerJson> sentencepiece_json(const SentencePieceModel& model, const std::string& subject,
                                                std::string& problem) {
  problem = problem_of(model);
  if (!problem.empty()) return std::nullopt;
  TokenizerJson json;
  set_pieces(model, json);
  json.byte_fallback = model.byte_fallback;
  json.dummy_prefix = model.dummy_prefix;
  json.merges = sentencepiece_merges(model, subject);
  // A text is searched for symbols before it is merged, so that none is ever made.
  std::erase_if(json.merges, [&](const Merge& merge) {
    return model.pieces[static_cast<std::size_t>(merge.merged)].type == PieceType::user_defined;
  });
  const auto entries = static_cast<Token>(model.pieces.size());
  for (const Merge& merge : json.merges) {
    if (merge.left >= entries || merge.right >= entries) problem = "it has pieces with characters that are no pieces";
  }
  if (problem.empty() && !ListOrder(model, json.merges).find()) problem = "it has pieces of one score that meet";
  if (!problem.empty()) return std::nullopt;
  return json;
}

}  // namespace bam::text
