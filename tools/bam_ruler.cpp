// RULER: whether a model finds, follows, counts and answers in long texts.
#include <algorithm>
#include <memory>
#include <set>

#include "base/log.h"
#include "cli/progress.h"
#include "cli/run_tool.h"
#include "computation_options.h"
#include "eval/item_file.h"
#include "eval/ruler.h"
#include "item_options.h"
#include "kernels/registry.h"

namespace {

using namespace bam;

// Prompts that are made and sorted together: many share more, and a thousand long ones would fill the memory.
constexpr Index kBatch = 64;
const std::vector<std::string> kMayBeEmpty = {"length"};

cli::ValueType<Index> task_type() {
  std::vector<std::pair<std::string, Index>> names;
  for (const eval::RulerTask& task : eval::ruler_tasks()) {
    names.emplace_back(std::string(task.name), std::ssize(names));
  }
  cli::ValueType<Index> type = cli::choice<Index>(names);
  type.metavar = "TASK";
  return type;
}

struct RulerToolOptions {
  std::string model;
  std::vector<std::string> files;
  std::vector<Index> tasks = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
  std::vector<Length> lengths = {{4096, false}, {8192, false}, {16384, false}, {32768, false}};
  Index samples = 100;
  std::optional<eval::Haystack> haystack;
  eval::RulerMaterial::Files material;
  std::string data;
  std::string append;
  eval::BosUse bos = eval::BosUse::automatic;
  bool dump = false;
  bool share_prefix = true;
  ItemOptions items;
  ComputationOptions computation;
  cli::OutputOption output;
  cli::TableOptions table;

  void declare(cli::OptionTable& options) {
    const auto maybe_path = [](const std::string& none) { return cli::or_word(cli::path(), none, ""); };
    options.operand(model, cli::path(), "MODEL", "A checkpoint; - is standard input.");
    options.operands(files, cli::path(), "FILE", 0, "With --merge, further tables.");
    options.group("Task")
        .add("tasks", tasks, cli::list(task_type()), "TASK,...", "Which of RULER's tasks.")
        .add("lengths", lengths, cli::list(cli::length()), "TOKENS,...",
             "Most tokens of prompt and answer together; 64x is 64 training contexts.")
        .add("samples", samples, cli::integer({1, 1'000'000}), "N", "Samples of each task and length.")
        .add("haystack", haystack,
             cli::optional(cli::choice<eval::Haystack>({eval::haystack_names().begin(), eval::haystack_names().end()}),
                           "own"),
             "What needles lie in, in place of what each task has.")
        .add("words", material.words, maybe_path("built-in"), "DIR",
             "A folder with the word lists that RULER draws from.")
        .add("essay", material.essay, maybe_path("built-in"), "FILE",
             "The text of essay haystacks, plain or as RULER's JSON.")
        .add("squad", material.squad, maybe_path("none"), "FILE", "SQuAD's dev-v2.0.json, for qa_1.")
        .add("hotpot", material.hotpot, maybe_path("none"), "FILE", "hotpot_dev_distractor_v1.json, for qa_2.")
        .add("data", data, maybe_path("none"), "FILE", "Ask the samples of this RULER file; --tasks names its task.")
        .add("bos", bos, bos_type(), "Whether the prompt begins with BOS, as documents do in training; auto does.");
    computation.declare(options).flag("share-prefix", share_prefix,
                                      "Read once what neighbouring prompts have in common.");
    output.declare(options);
    items.declare(options, "samples")
        .add("append", append, cli::or_word(cli::path(cli::PathUse::none), "none", ""), "FILE",
             "Add each sample's row to FILE as it is answered; samples whose rows are there are not asked again.")
        .flag("dump", dump, "Write the samples as RULER's JSON lines, and ask the model nothing.");
    table.declare(options);
  }
};

// What is asked of the model: the samples of one task and length.
struct Series {
  eval::RulerTask task;
  std::optional<Index> length;  // none for samples from a file
  std::string name() const {
    std::string text(task.name);
    if (length) text.append(" ").append(std::to_string(*length));
    return text;
  }
};

eval::RulerTask task_of(const RulerToolOptions& o, Index number) {
  eval::RulerTask task = eval::ruler_tasks()[static_cast<std::size_t>(number)];
  if (o.haystack && task.kind == eval::RulerKind::needles) task.haystack = *o.haystack;
  return task;
}

class Run {
 public:
  Run(const RulerToolOptions& o, cli::Context& context, io::OutputFile& output)
      : o_(o),
        output_(output),
        backend_(make_backend(context.device, context.threads)),
        loaded_(load_model(o.model, *backend_, o.computation.dtype, o.computation.eps)),
        material_(o.material),
        seed_(static_cast<std::uint32_t>(context.seed)),
        run_{.source = o.data.empty() ? "generated" : o.data,
             .haystack = {},
             .words = o.material.words.empty() ? "built-in" : o.material.words,
             .essay = o.material.essay.empty() ? "built-in" : o.material.essay,
             .bos = eval::uses_bos(o.bos) ? "yes" : "no",
             .seed = std::to_string(context.seed),
             .dtype = o.computation.dtype_name(),
             .eps = format_real(o.computation.eps),
             .device = std::string(backend_->name()),
             .model = loaded_.digest} {}

  std::vector<Series> series() const {
    std::vector<Series> all;
    for (const Index number : o_.tasks) {
      if (!o_.data.empty()) all.push_back({task_of(o_, number), {}});
      for (const Length& length : o_.lengths) {
        if (o_.data.empty()) all.push_back({task_of(o_, number), eval::tokens_of(length, loaded_, "--lengths")});
      }
    }
    return all;
  }

  void dump() {
    const Series only = series().front();
    const auto generator = make(only);
    for (Index i = 0; i < o_.samples; ++i) {
      const eval::RulerSample sample = generator->next();
      if (o_.items.share.has(i)) output_.write(sample.json_line() + "\n");
    }
  }

  void ask() {
    static const std::vector<io::Column> columns = eval::ruler_item_columns();
    const std::vector<Series> all = series();
    for (const Series& each : all) check_memory(each);
    log::info(loaded_.name + " on " + backend_->describe());
    if (!o_.append.empty()) file_ = std::make_unique<eval::ItemFile>(o_.append, columns, kMayBeEmpty);
    if (file_) {
      for (const eval::ItemRow& row : file_->rows()) answered_.insert(identity(row));
    }
    std::vector<io::Column> shown = o_.items.per_item ? columns : eval::ruler_columns();
    if (o_.table.no_times) shown.pop_back();
    io::TableWriter table(output_, o_.table.format, shown, !o_.table.no_header);
    progress_ = std::make_unique<cli::Progress>(cli::ProgressInfo{.total = total(all), .unit = "samples"});
    for (const Series& each : all) {
      rows_.clear();
      ask(each);
      if (!file_) write(table, rows_);
    }
    if (file_) write(table, file_->rows());
  }

 private:
  std::unique_ptr<eval::RulerGenerator> make(const Series& each) {
    return eval::make_ruler_generator(each.task, material_, *loaded_.tokenizer, *each.length, seed_);
  }

  void check_memory(const Series& each) const {
    if (!each.length) return;
    eval::require_memory(*loaded_.model, 1, *each.length + 1, o_.computation.chunk, o_.computation.memory_bytes(),
                         "--lengths");
  }

  Index total(const std::vector<Series>& all) const {
    return o_.data.empty() ? std::ssize(all) * o_.samples / o_.items.share.of : 0;
  }

  void ask(const Series& each) {
    if (each.task.kind == eval::RulerKind::needles) {
      run_.haystack = std::string(name_in(eval::haystack_names(), each.task.haystack));
    } else {
      run_.haystack = "-";
    }
    std::vector<eval::RulerPrompt> batch;
    const auto add = [&](eval::RulerPrompt prompt) {
      if (!o_.items.share.has(prompt.sample) || is_answered(each, prompt.sample)) return;
      batch.push_back(std::move(prompt));
      if (std::ssize(batch) < kBatch) return;
      answer(each, batch);
      batch.clear();
    };
    if (o_.data.empty()) {
      const auto generator = make(each);
      for (Index i = 0; i < o_.samples; ++i) {
        const eval::RulerSample sample = generator->next();
        add({.sample = i, .text = sample.input + sample.answer_prefix, .outputs = sample.outputs});
      }
    } else {
      for (eval::RulerPrompt& prompt : eval::read_ruler_data(o_.data)) add(std::move(prompt));
    }
    if (!batch.empty()) answer(each, batch);
    progress_->clear();
  }

  void answer(const Series& each, const std::vector<eval::RulerPrompt>& batch) {
    const eval::RulerOptions options{o_.bos, o_.computation.chunk, o_.share_prefix, o_.computation.memory_bytes()};
    const std::string subject = o_.data.empty() ? "--lengths" : o_.data;
    eval::ask_ruler(loaded_, each.task, batch, options, subject, [&](const eval::RulerItem& item) {
      eval::ItemRow row = row_of(each, item);
      if (file_) {
        file_->add(std::move(row));
      } else {
        rows_.push_back(std::move(row));
      }
      progress_->update(++done_, each.name());
    });
  }

  eval::ItemRow row_of(const Series& each, const eval::RulerItem& item) const {
    return eval::ruler_item_row(std::string(each.task.name), each.length, item, each.task, run_, !o_.table.no_times);
  }

  static std::string identity(const eval::ItemRow& row) {
    std::string text = eval::cell_text(row.cell("sample"));
    for (const std::string& column : eval::ruler_group_columns()) {
      text.append("\t").append(eval::cell_text(row.cell(column)));
    }
    return text;
  }

  bool is_answered(const Series& each, Index sample) const {
    eval::RulerItem item;
    item.sample = sample;
    return answered_.contains(identity(row_of(each, item)));
  }

  void write(io::TableWriter& table, const std::vector<eval::ItemRow>& rows) const {
    if (!o_.items.per_item) {
      eval::write_ruler(table, rows, !o_.table.no_times);
      return;
    }
    eval::write_items(table, rows, !o_.table.no_times);
  }

  const RulerToolOptions& o_;
  io::OutputFile& output_;
  std::unique_ptr<Backend> backend_;
  LoadedModel loaded_;
  eval::RulerMaterial material_;
  std::uint32_t seed_;
  eval::RulerRun run_;
  std::unique_ptr<eval::ItemFile> file_;
  std::set<std::string> answered_;
  std::vector<eval::ItemRow> rows_;
  std::unique_ptr<cli::Progress> progress_;
  Index done_ = 0;
};

void check(const RulerToolOptions& o, std::uint64_t seed) {
  if (!o.files.empty()) throw UsageError(o.files.front() + ": a second file is for --merge alone");
  if (o.dump && (o.items.per_item || !o.append.empty())) {
    throw UsageError("--dump: does not go with --per-item or --append");
  }
  if (o.dump && !o.data.empty()) throw UsageError("--dump: does not go with --data, whose samples are there already");
  if (o.dump && (o.tasks.size() != 1 || o.lengths.size() != 1)) {
    throw UsageError("--dump: expected one of the --tasks and one of the --lengths, as in a file of RULER's");
  }
  if (!o.data.empty() && o.tasks.size() != 1) throw UsageError("--data: expected one of the --tasks, the file's own");
  if (seed > 0xFFFFFFFFU) {
    throw UsageError("--seed: " + std::to_string(seed) +
                     " is out of range, expected at most 4294967295, as RULER's generators take it");
  }
}

int run(const RulerToolOptions& o, cli::Context& context) {
  io::OutputFile output(o.output.path);
  if (o.items.merge) {
    static const std::vector<io::Column> columns = eval::ruler_item_columns();
    const std::vector<eval::ItemRow> rows = o.items.merged_rows(o.model, o.files, columns, kMayBeEmpty);
    const bool with_times = !o.table.no_times && have_seconds(rows);
    std::vector<io::Column> shown = eval::ruler_columns();
    if (!with_times) shown.pop_back();
    io::TableWriter table(output, o.table.format, shown, !o.table.no_header);
    eval::write_ruler(table, rows, with_times);
  } else {
    check(o, context.seed);
    Run run(o, context, output);
    o.dump ? run.dump() : run.ask();
  }
  output.commit();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  return bam::cli::run_tool<RulerToolOptions>(
      {.name = "bam-ruler",
       .purpose = "whether a model finds, follows and counts in long texts: the tasks of RULER",
       .examples = {{"bam-ruler --lengths 4Ki,8Ki --samples 50 model.h5", "All tasks that need no file of yours."},
                    {"bam-ruler --tasks niah_single_1,vt --lengths 4x --words lists/ model.h5",
                     "Two of them, with RULER's own words."},
                    {"bam-ruler --tasks cwe --lengths 4096 --seed 42 --dump model.h5", "The samples, as RULER's JSON."},
                    {"bam-ruler --task 3/8 --per-item --no-header model.h5 -o 3.tsv", "An eighth, in a job array."},
                    {"bam-ruler --merge *.tsv", "The table of all eighths."}}},
      run, argc, argv);
}
