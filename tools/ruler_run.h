// A run of bam-ruler: samples made or read, asked in batches, their rows written.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/log.h"
#include "cli/progress.h"
#include "eval/item_file.h"
#include "kernels/registry.h"
#include "ruler_options.h"

namespace bam {

// Prompts that are made and sorted together: many share more, and a thousand long ones would fill the memory.
inline constexpr Index kRulerBatch = 64;
// Samples from a file have no length, and only needles a depth.
inline const std::vector<std::string> kRulerMayBeEmpty = {"length", "depth"};

// What is asked of the model: the samples of one task and length.
struct RulerSeries {
  eval::RulerTask task;
  std::optional<Index> length = {};                      // none for samples from a file
  std::unique_ptr<eval::RulerGenerator> generator = {};  // none for these
  std::vector<eval::RulerPrompt> ready = {};             // all of a file, or the first that was made
  std::string name() const {
    std::string text(task.name);
    if (length) text.append(" ").append(std::to_string(*length));
    return text;
  }
};

inline eval::RulerTask asked_task(const RulerToolOptions& o, Index number) {
  eval::RulerTask task = eval::ruler_tasks()[static_cast<std::size_t>(number)];
  if (o.haystack && task.kind == eval::RulerKind::needles) task.haystack = *o.haystack;
  return task;
}

// The text, and what cuts it where that is not our own rule.
inline std::string essay_name(const eval::RulerMaterial::Files& files) {
  std::string name = files.essay.empty() ? "built-in" : files.essay;
  if (!files.punkt.empty()) name.append(" by ").append(files.punkt);
  return name;
}

class RulerRunner {
 public:
  RulerRunner(const RulerToolOptions& o, cli::Context& context, io::OutputFile& output)
      : o_(o),
        output_(output),
        backend_(make_backend(context.device, context.threads)),
        loaded_(o.computation.load(o.model, *backend_)),
        material_(o.material),
        seed_(static_cast<std::uint32_t>(context.seed)),
        run_{.source = o.data.empty() ? "generated" : o.data,
             .haystack = {},
             .words = o.material.words.empty() ? "built-in" : o.material.words,
             .essay = essay_name(o.material),
             .bos = eval::uses_bos(o.bos) ? "yes" : "no",
             .stamp = o.computation.stamp(context, loaded_, *backend_)} {}

  std::vector<RulerSeries> series() const {
    std::vector<RulerSeries> all;
    for (const Index number : o_.tasks) {
      if (!o_.data.empty()) all.push_back({asked_task(o_, number)});
      for (const Length& length : o_.lengths) {
        if (o_.data.empty()) all.push_back({asked_task(o_, number), eval::tokens_of(length, loaded_, "--lengths")});
      }
    }
    return all;
  }

  void dump() {
    const std::vector<RulerSeries> all = series();
    const auto generator = make(all.front());
    for (Index i = 0; i < o_.samples; ++i) {
      const eval::RulerSample sample = generator->next();
      if (o_.items.share.has(i)) output_.write(sample.json_line() + "\n");
    }
  }

  void ask() {
    static const std::vector<io::Column> columns = eval::ruler_item_columns();
    std::vector<RulerSeries> all = series();
    for (const RulerSeries& each : all) check_memory(each);
    for (RulerSeries& each : all) prepare(each);
    log::info(loaded_.name + " on " + backend_->describe());
    if (!o_.append.empty()) file_ = std::make_unique<eval::ItemFile>(o_.append, columns, kRulerMayBeEmpty);
    if (file_) {
      for (const eval::ItemRow& row : file_->rows()) answered_.insert(identity(row));
    }
    progress_ = std::make_unique<cli::Progress>(cli::ProgressInfo{.total = total(all), .unit = "samples"});
    for (RulerSeries& each : all) {
      rows_.clear();
      ask(each);
      if (!file_) write(rows_);
    }
    if (file_) write(file_->rows());
    o_.computation.report(skipped_);
  }

 private:
  std::unique_ptr<eval::RulerGenerator> make(const RulerSeries& each) {
    auto generator = eval::make_ruler_generator(each.task, material_, *loaded_.tokenizer, *each.length, seed_);
    generator->require_samples(o_.samples);
    return generator;
  }

  // A length that is too short for a task shows when a sample is made; it is refused before another one is answered.
  void prepare(RulerSeries& each) {
    if (each.length) {
      each.generator = make(each);
      each.ready.push_back(eval::prompt_of(each.generator->next(), 0, each.task));
    } else {
      each.ready = eval::read_ruler_data(o_.data, each.task);
      eval::check_prompts(loaded_, each.task, each.ready, options(), subject());
    }
  }

  eval::RulerOptions options() const {
    return {o_.bos, o_.computation.chunk, o_.share_prefix, o_.computation.memory_bytes()};
  }

  std::string subject() const { return o_.data.empty() ? "--lengths" : o_.data; }

  void check_memory(const RulerSeries& each) const {
    if (!each.length) return;
    eval::require_memory(*loaded_.model, 1, *each.length + 1, o_.computation.chunk, o_.computation.memory_bytes(),
                         "--lengths");
  }

  Index total(const std::vector<RulerSeries>& all) const {
    const Index samples = o_.data.empty() ? o_.samples : std::ssize(all.front().ready);
    return std::ssize(all) * o_.items.share.count(samples);
  }

  void ask(RulerSeries& each) {
    if (each.task.kind == eval::RulerKind::needles) {
      run_.haystack = std::string(name_in(eval::haystack_names(), each.task.haystack));
    } else {
      run_.haystack = "-";
    }
    std::vector<eval::RulerPrompt> batch;
    const auto add = [&](eval::RulerPrompt prompt) {
      if (!o_.items.share.has(prompt.sample) || is_answered(each, prompt.sample)) return;
      batch.push_back(std::move(prompt));
      if (std::ssize(batch) < kRulerBatch) return;
      answer(each, batch);
      batch.clear();
    };
    const Index made = std::ssize(each.ready);
    for (eval::RulerPrompt& prompt : std::exchange(each.ready, {})) add(std::move(prompt));
    for (Index i = made; each.generator && i < o_.samples; ++i) {
      add(eval::prompt_of(each.generator->next(), i, each.task));
    }
    each.generator.reset();
    if (!batch.empty()) answer(each, batch);
    progress_->clear();
  }

  void answer(const RulerSeries& each, const std::vector<eval::RulerPrompt>& batch) {
    eval::ask_ruler(loaded_, each.task, batch, options(), subject(), [&](const eval::RulerItem& item) {
      skipped_ += item.skipped;
      eval::ItemRow row = row_of(each, item);
      if (file_) {
        file_->add(std::move(row));
      } else {
        rows_.push_back(std::move(row));
      }
      progress_->update(++done_, each.name());
    });
  }

  eval::ItemRow row_of(const RulerSeries& each, const eval::RulerItem& item) const {
    return eval::ruler_item_row(std::string(each.task.name), each.length, item, each.task, run_, !o_.table.no_times);
  }

  static std::string identity(const eval::ItemRow& row) {
    std::string text = eval::cell_text(row.cell("sample"));
    for (const std::string& column : eval::ruler_group_columns()) {
      text.append("\t").append(eval::cell_text(row.cell(column)));
    }
    return text;
  }

  bool is_answered(const RulerSeries& each, Index sample) const {
    eval::RulerItem item;
    item.sample = sample;
    return answered_.contains(identity(row_of(each, item)));
  }

  void write(const std::vector<eval::ItemRow>& rows) {
    if (!table_) {  // not before there are rows: what fails leaves no header behind
      static const std::vector<io::Column> columns = eval::ruler_item_columns();
      std::vector<io::Column> shown = o_.items.per_item ? columns : eval::ruler_columns();
      if (o_.table.no_times) shown.pop_back();
      table_.emplace(output_, o_.table.format, shown, !o_.table.no_header);
    }
    (o_.items.per_item ? eval::write_items : eval::write_ruler)(*table_, rows, !o_.table.no_times);
  }

  const RulerToolOptions& o_;
  io::OutputFile& output_;
  std::optional<io::TableWriter> table_;
  std::unique_ptr<Backend> backend_;
  LoadedModel loaded_;
  eval::RulerMaterial material_;
  std::uint32_t seed_;
  eval::RulerRun run_;
  std::unique_ptr<eval::ItemFile> file_;
  std::set<std::string> answered_;
  std::vector<eval::ItemRow> rows_;
  SkipCounts skipped_;
  std::unique_ptr<cli::Progress> progress_;
  Index done_ = 0;
};

}  // namespace bam
