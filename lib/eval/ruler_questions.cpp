// qa: questions about documents.
#include "base/error.h"
#include "eval/python_text.h"
#include "eval/ruler_sizing.h"

namespace bam::eval {
namespace {

constexpr Index kStep = 10;

class QuestionsGenerator : public SizedGenerator {
 public:
  QuestionsGenerator(const RulerTask& task, RulerMaterial& material, const text::Tokenizer& tokenizer, Index length,
                     std::uint32_t seed)
      : SizedGenerator(task, tokenizer, length, seed, kStep), data_(material.questions(task)) {
    const Drawing draw = [this](Index size) { return draft(size); };
    const Index most = likely_most(draw, kStep, length);
    size_ = search(draw, kStep, most, length - task.answer_tokens);
  }

  RulerSample next() override {
    require_samples(made_ + 1);
    return SizedGenerator::next();
  }

  void require_samples(Index samples) const override {
    if (samples <= std::ssize(data_.questions)) return;
    throw Error("--samples: " + data_.file + " has " + std::to_string(data_.questions.size()) +
                " questions, expected no more samples than that");
  }

 protected:
  RulerDraft draft(Index size) override {
    const RulerMaterial::Question& question = data_.questions[static_cast<std::size_t>(made_)];
    std::vector<Index> chosen = documents(question, size);
    PythonRandom(seed_).shuffle(chosen);
    std::string context;
    for (std::size_t i = 0; i < chosen.size(); ++i) {
      if (i > 0) context += "\n\n";
      context += "Document " + std::to_string(i + 1) + ":\n" + data_.documents[static_cast<std::size_t>(chosen[i])];
    }
    const std::string prefix(task_.answer_prefix);
    return {fill(task_.question, {{"context", context}, {"query", question.text}}) + prefix, prefix, question.answers};
  }

 private:
  std::vector<Index> documents(const RulerMaterial::Question& question, Index size) {
    const Index all = std::ssize(data_.documents);
    std::vector<Index> chosen;
    if (size >= all) {
      for (Index i = 0; i < size; ++i) chosen.push_back(i % all);
      return chosen;
    }
    chosen = question.documents;
    const Index wanted = size - std::ssize(chosen);
    if (wanted <= std::ssize(question.nearby)) {
      for (const Index i : sample(std::ssize(question.nearby), wanted)) {
        chosen.push_back(question.nearby[static_cast<std::size_t>(i)]);
      }
      return chosen;
    }
    chosen.insert(chosen.end(), question.nearby.begin(), question.nearby.end());
    std::vector<bool> is_taken(static_cast<std::size_t>(all), false);
    for (const Index i : chosen) is_taken[static_cast<std::size_t>(i)] = true;
    std::vector<Index> others;
    for (Index i = 0; i < all; ++i) {
      if (!is_taken[static_cast<std::size_t>(i)]) others.push_back(i);
    }
    for (const Index i : sample(std::ssize(others), size - std::ssize(chosen))) {
      chosen.push_back(others[static_cast<std::size_t>(i)]);
    }
    return chosen;
  }

  const RulerMaterial::Questions& data_;
};

}  // namespace

std::unique_ptr<RulerGenerator> make_questions(const RulerTask& task, RulerMaterial& material,
                                               const text::Tokenizer& tokenizer, Index length, std::uint32_t seed) {
  return std::make_unique<QuestionsGenerator>(task, material, tokenizer, length, seed);
}

}  // namespace bam::eval
