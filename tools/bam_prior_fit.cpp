// The positional priors of a model: shown, fitted to what its heads do, tuned, written.
#include <algorithm>

#include "eval/prior_table.h"
#include "io/pipe.h"
#include "prior_fit_deeds.h"

namespace {

using namespace bam;

// An option that says nothing to this deed is a mistake, not a wish.
void refuse_idle_options(const PriorFitOptions& o, const cli::Context& context) {
  const std::string asked(name_in(prior_deed_names(), o.deed));
  std::vector<cli::Idle> idle;
  for (const PriorFitOptions::Use& use : PriorFitOptions::uses()) {
    const bool is_used = std::find(use.deeds.begin(), use.deeds.end(), o.deed) != use.deeds.end();
    std::string deeds;
    for (const PriorDeed deed : use.deeds) {
      deeds.append(deeds.empty() ? "" : " or ").append(name_in(prior_deed_names(), deed));
    }
    idle.push_back({.applies = !is_used, .why = "with " + asked + ", expected " + deeds, .options = {use.option}});
  }
  const bool fits_counts = o.deed == PriorDeed::fit && o.from;
  const bool tunes_to_pipe = o.deed == PriorDeed::tune && o.output.path == "-";
  idle.push_back({.applies = fits_counts,
                  .why = "with --from, whose counts are there already",
                  .options = {"context", "queries", "max-tokens", "bos"},
                  .groups = {"Computation"}});
  idle.push_back({.applies = !o.curves, .why = "without --curves", .options = {"points"}});
  idle.push_back({.applies = o.curves, .why = "with --curves", .options = {"window-eps"}});
  idle.push_back({.applies = o.by_class, .why = "with --by-class", .options = {"lengths", "window-eps"}});
  idle.push_back({.applies = !o.passkey, .why = "without --passkey", .options = {"passkey-samples"}});
  idle.push_back({.applies = tunes_to_pipe || o.deed == PriorDeed::init,
                  .why = "with " + asked + (tunes_to_pipe ? " where the checkpoint goes to standard output" : ""),
                  .options = {"format", "no-header"}});
  cli::refuse_idle(*context.options, idle);
}

void check_files(const PriorFitOptions& o) {
  const bool takes_data = o.deed == PriorDeed::fit || o.deed == PriorDeed::tune;
  if (o.deed == PriorDeed::fit && o.from) {
    if (!o.files.empty()) throw UsageError("--from: counts take the place of a model, expected no further FILE");
    return;
  }
  if (o.files.empty()) throw UsageError("FILE is missing, expected a model");
  if (!takes_data && o.files.size() > 1) throw UsageError("'" + o.files[1] + "' is not expected, one model is");
  if (o.deed == PriorDeed::tune && o.files.size() < 2) throw UsageError("FILE is missing, expected token shards");
  const bool reads_standard_input = o.deed == PriorDeed::fit && o.files.size() == 1;
  const auto dashes =
      std::count(o.files.begin(), o.files.end(), "-") + reads_standard_input + (o.from == "-") + (o.tune.val == "-");
  if (dashes > 1) throw UsageError("-: standard input can be read once, expected files for the others");
}

std::vector<Index> lengths_of(const PriorFitOptions& o, const ModelPriors& priors, const std::string& name) {
  std::vector<Index> lengths;
  for (const Length& length : o.lengths) {
    lengths.push_back(eval::tokens_of(length, priors.config, name, "--lengths"));
    if (lengths.back() <= eval::kLongestPrior) continue;
    throw UsageError("--lengths: " + std::to_string(lengths.back()) + " is out of range, expected at most " +
                     std::to_string(eval::kLongestPrior));
  }
  return lengths;
}

int show(const PriorFitOptions& o, const cli::Context& context) {
  if (o.by_class && o.curves) throw UsageError("--by-class, --curves: expected one of them");
  io::OutputFile output(o.output.path);
  const io::CheckpointReader reader(o.model());
  const ModelPriors priors = read_priors(reader);
  if (priors.heads.empty()) {
    throw Error(reader.name() + ": " + std::string(name_in(positional_encoding_names(), priors.config.pe)) +
                " is no prior over distances, expected bam, alibi or nope");
  }
  const eval::PriorView view{reader.digest(), context.version, lengths_of(o, priors, reader.name()), o.window_eps};
  if (o.by_class) {
    io::TableWriter rows = open_table(o, output, eval::prior_class_columns());
    eval::write_prior_classes(rows, priors, view);
  } else if (o.curves) {
    io::TableWriter rows = open_table(o, output, eval::prior_curve_columns());
    eval::write_prior_curves(rows, priors, view, o.points);
  } else {
    io::TableWriter rows = open_table(o, output, eval::prior_columns());
    eval::write_priors(rows, priors, view);
  }
  log::info(reader.name() + ": " + eval::count_classes(priors));
  output.commit();
  return 0;
}

// As many sets of priors as the model stores, from the table, a formula, or what it has.
std::vector<std::vector<HeadPrior>> new_priors(const PriorFitOptions& o, const ModelPriors& own,
                                               const ModelConfig& config, const io::CheckpointReader& reader,
                                               std::uint64_t seed) {
  const bool global = config.prior_scope == PriorScope::global;
  const auto sets = static_cast<std::size_t>(global ? 1 : config.layers);
  std::vector<std::vector<HeadPrior>> priors;
  if (o.from) {
    priors = priors_from(*o.from, config);
  } else if (o.prior_init == "spread") {
    priors.assign(sets, spread_prior(config.heads));
  } else if (o.prior_init == "authors") {
    priors.assign(sets, authors_prior(config.heads));
  } else if (own.heads.empty()) {
    throw UsageError(reader.name() + ": " + std::string(name_in(positional_encoding_names(), own.config.pe)) +
                     " is no prior over distances, expected --from or --prior-init");
  } else {
    priors.assign(own.heads.begin(), own.heads.begin() + static_cast<std::ptrdiff_t>(sets));
  }
  apply_formulas(o.formulas, seed, priors);
  return priors;
}

int init(const PriorFitOptions& o, const cli::Context& context) {
  if (o.from && !o.prior_init.empty()) throw UsageError("--from, --prior-init: expected one of them");
  if (!o.from && o.prior_init.empty() && o.formulas.shape.empty() && o.formulas.scale.empty() &&
      o.formulas.loc.empty()) {
    throw UsageError("init: nothing to write, expected --from, --prior-init, --shape-init, --scale-init or --loc-init");
  }
  const io::CheckpointReader reader(o.model());
  const ModelPriors own = read_priors(reader);
  const ModelConfig config = with_bam_prior(own.config);
  const auto priors = new_priors(o, own, config, reader, context.seed);
  io::CheckpointWriter writer(o.output.path);
  write_with_priors(writer.file(), reader, config, {priors, {}});
  writer.commit();
  if (own.config.pe != PositionalEncoding::bam) {
    log::info(reader.name() + ": " + std::string(name_in(positional_encoding_names(), own.config.pe)) +
              " gave way to bam");
  }
  return 0;
}

int run(const PriorFitOptions& o, cli::Context& context) {
  refuse_idle_options(o, context);
  check_files(o);
  if (o.from && o.from_alibi) throw UsageError("--from, --from-alibi: expected one of them");
  const bool writes_checkpoint = o.deed == PriorDeed::tune || o.deed == PriorDeed::init;
  const bool is_fifo = o.output.path != "-" && io::is_pipe(o.output.path);
  if (writes_checkpoint && !is_fifo) cli::require_not_terminal(io::OutputFile(o.output.path));
  switch (o.deed) {
    case PriorDeed::show:
      return show(o, context);
    case PriorDeed::fit:
      return fit(o, context);
    case PriorDeed::tune:
      return tune(o, context);
    case PriorDeed::init:
      return init(o, context);
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  return bam::cli::run_tool<PriorFitOptions>(
      {.name = "bam-prior-fit",
       .purpose = "the positional priors of a model: shown, fitted, tuned, written",
       .examples = {{"bam-prior-fit show --lengths 1x,64x model.h5",
                     "Where each head's prior looks, in training and far beyond."},
                    {"bam-prior-fit fit a.h5 x.tok.zst | bam-prior-fit init b.h5 --from - -o c.h5",
                     "What the heads of one model do becomes the priors of another."},
                    {"bam-prior-fit tune alibi.h5 train.tok.zst -o bam.h5", "Better priors, all else as it was."},
                    {"bam-prior-fit init a.h5 --prior-init spread -o b.h5", "The same weights with other priors."}}},
      run, argc, argv);
}
