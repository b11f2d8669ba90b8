// Compiled normalisation rules of a SentencePiece model, checked before the library follows them, since it checks
// nothing: u32 size of the trie in bytes, the trie, replacement strings that end in NUL, all little-endian.
//
// The trie is a double array of darts-clone: a unit is 32 bits; bits 0-7 and 31 are the label by which the unit was
// reached, bit 8 says that a rule ends here, bits 9-31 give the offset. The units below unit i are at (i ^ offset) ^
// byte, the value of its rule at i ^ offset: where its replacement string begins.
#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "text/sentencepiece_model.h"

namespace bam::text {
namespace {

class RuleTrie {
 public:
  RuleTrie(std::string_view units, std::string_view replacements)
      : units_(units), replacements_(replacements), state_(units.size() / 4, State::unseen), rules_(units.size() / 4) {}

  // Depth first, without recursion. Subtrees may be shared; a unit below itself would make the trie endless.
  std::string problem() {
    std::vector<std::pair<std::size_t, unsigned>> path = {{0, 0}};
    state_[0] = State::open;
    while (!path.empty()) {
      auto& [node, next_byte] = path.back();
      const std::size_t below = children(node);
      if (next_byte == 0) {
        if ((below | 0xFFU) >= state_.size()) return "a rule leads outside the table";
        if (ends_rule(node) && value(below) >= replacements_.size()) return "a rule leads outside its replacements";
        rules_[node] = ends_rule(node) ? 1 : 0;
      }
      if (next_byte == 256) {
        state_[node] = State::done;
        const std::size_t rules_below = rules_[node];
        path.pop_back();
        if (!path.empty() && !add_to_parent(path.back().first, rules_below)) return "too many rules that begin alike";
        continue;
      }
      const std::size_t child = below ^ next_byte;
      ++next_byte;
      if (label(child) != next_byte - 1) continue;
      if (state_[child] == State::open) return "a rule without end";
      if (state_[child] == State::done) {
        if (!add_to_parent(node, rules_[child])) return "too many rules that begin alike";
      } else {
        state_[child] = State::open;
        path.emplace_back(child, 0);
      }
    }
    return {};
  }

 private:
  enum class State : unsigned char { unseen, open, done };

  std::uint32_t unit(std::size_t index) const {
    std::uint32_t bits = 0;
    for (unsigned i = 0; i < 4; ++i) {
      bits |= static_cast<std::uint32_t>(static_cast<unsigned char>(units_[4 * index + i])) << (8 * i);
    }
    return bits;
  }
  std::uint32_t label(std::size_t index) const { return unit(index) & 0x800000FFU; }
  bool ends_rule(std::size_t index) const { return (unit(index) >> 8U & 1U) != 0; }
  std::size_t value(std::size_t index) const { return unit(index) & 0x7FFFFFFFU; }
  std::size_t children(std::size_t index) const {
    const std::uint32_t bits = unit(index);
    const std::size_t offset = static_cast<std::size_t>(bits >> 10U) << ((bits & 0x200U) >> 6U);
    return index ^ offset;
  }

  // The library keeps at most 32 rules that match at one place.
  bool add_to_parent(std::size_t parent, std::size_t rules_below) {
    const std::size_t own = ends_rule(parent) ? 1 : 0;
    rules_[parent] = std::max(rules_[parent], own + rules_below);
    return rules_[parent] <= 32;
  }

  std::string_view units_;
  std::string_view replacements_;
  std::vector<State> state_;
  std::vector<std::size_t> rules_;  // at most so many rules end on one way down from here
};

}  // namespace

std::string character_map_problem(std::string_view rules) {
  if (rules.empty()) return {};
  std::uint32_t trie_bytes = 0;
  if (rules.size() < 4) return "normalisation rules are cut short";
  for (unsigned i = 0; i < 4; ++i) {
    trie_bytes |= static_cast<std::uint32_t>(static_cast<unsigned char>(rules[i])) << (8 * i);
  }
  rules.remove_prefix(4);
  if (trie_bytes == 0 || trie_bytes % 4 != 0 || trie_bytes > rules.size()) return "normalisation rules are cut short";
  const std::string_view replacements = rules.substr(trie_bytes);
  if (replacements.empty() || replacements.back() != '\0') return "normalisation rules are cut short";
  return RuleTrie(rules.substr(0, trie_bytes), replacements).problem();
}

}  // namespace bam::text
