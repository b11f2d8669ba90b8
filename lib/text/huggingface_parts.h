// The parts of a tokenizer.json: what each of its objects asks for, or an error that names it.
#pragma once

#include <simdjson.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "text/bpe_tokenizer.h"
#include "text/characters.h"
#include "text/huggingface_decoder.h"

namespace bam::text::huggingface {

using Element = simdjson::dom::element;
using Object = simdjson::dom::object;

// Members of objects, as they must be: each throws Error "SUBJECT: ..." otherwise. A member that is null is not there.
class Reader {
 public:
  explicit Reader(const std::string& subject) : subject_(subject) {}

  [[noreturn]] void refuse(const std::string& what) const;
  [[noreturn]] void unsupported(const std::string& what) const;

  std::optional<Element> member(Object object, std::string_view name) const;
  Object object(Element element, const std::string& what) const;
  std::string text(Object object, std::string_view name, const std::string& what) const;
  std::string text(Object object, std::string_view name, const std::string& what, const std::string& otherwise) const;
  std::string character(Object object, std::string_view name, const std::string& what) const;
  bool flag(Object object, std::string_view name, bool otherwise) const;
  simdjson::dom::array array(Object object, std::string_view name, const std::string& what) const;

  const std::string& subject() const { return subject_; }

 private:
  const std::string& subject_;
};

// What the normaliser and the pre-tokenizer make of a text, before both are put together.
struct TextRules {
  struct Step {
    enum class Kind { form, prepend, replace } kind = Kind::form;
    NormalForm form = NormalForm::nfc;
    std::string from;  // replace
    std::string to;    // replace, prepend
  };
  std::vector<Step> steps;
  std::vector<std::unique_ptr<Splitter>> splitters;
  bool drops_text = false;  // of what is split
  bool byte_level = false;
  bool metaspace = false;
  PrefixBlank prefix = PrefixBlank::none;
  bool prefix_at_start_only = false;
};

// As the library has it: characters that its table does not know stand for themselves.
std::string normal_form_of_library(std::string_view text, NormalForm form);

void read_normaliser(const Reader& reader, Object object, TextRules& rules);
void read_pre_tokenizer(const Reader& reader, Object object, TextRules& rules);

struct Borders {
  std::optional<Token> bos;
  std::optional<Token> eos;
};
void read_post_processor(const Reader& reader, Object object, Borders& borders);

void read_decoder(const Reader& reader, Object object, std::vector<DecoderStep>& steps);

}  // namespace bam::text::huggingface
