// Models between checkpoints and the folders of Hugging Face.
#include <filesystem>
#include <optional>

#include "base/log.h"
#include "cli/run_tool.h"
#include "model/huggingface.h"

namespace {

using namespace bam;

enum class Target { automatic, hf, bam };
enum class WeightType { automatic, f32, bf16, f16 };

struct ConvertOptions {
  std::string model;
  Target target = Target::automatic;
  WeightType dtype = WeightType::automatic;
  ImportChoice import;
  std::string output = "-";

  void declare(cli::OptionTable& options) {
    options.operand(model, cli::path(), "MODEL",
                    "A folder with config.json and safetensors files, or a checkpoint; - is a checkpoint on standard "
                    "input.");
    options.group("Conversion")
        .add("to", target, cli::choice<Target>({{"auto", Target::automatic}, {"hf", Target::hf}, {"bam", Target::bam}}),
             "What to write: a folder for transformers, or a checkpoint. With auto, whichever MODEL is not.")
        .add("dtype", dtype,
             cli::choice<WeightType>({{"auto", WeightType::automatic},
                                      {"f32", WeightType::f32},
                                      {"bf16", WeightType::bf16},
                                      {"f16", WeightType::f16}}),
             "Type of the weights in a folder. With auto, the one that each came in, or f32.");
    options.group("Tokenizer")
        .add("tokenizer", import.tokenizer, cli::or_word(cli::path(), "auto", ""), "bytes|FILE",
             "The tokenizer of a model that comes in a folder. With auto, the one there.")
        .add("bos-token", import.bos_token, cli::or_word(cli::text(), "auto", ""), "TEXT",
             "The special token that begins documents. With auto, the one that the folder names, or the tokenizer's "
             "own.");
    options.group("Output").add("output,o", output, cli::path(cli::PathUse::output), "PATH",
                                "Where the checkpoint goes, or the name of the new folder; - is standard output.");
  }
};

std::optional<io::TensorType> tensor_type(WeightType type) {
  switch (type) {
    case WeightType::automatic:
      return std::nullopt;
    case WeightType::f32:
      return io::TensorType::f32;
    case WeightType::bf16:
      return io::TensorType::bf16;
    case WeightType::f16:
      return io::TensorType::f16;
  }
  return std::nullopt;
}

int to_checkpoint(const ConvertOptions& o) {
  io::CheckpointWriter writer(o.output);
  if (writer.is_terminal()) cli::require_not_terminal(io::OutputFile(o.output));
  import_huggingface(o.model, o.import, writer.file());
  log::info(o.model + ": model " + writer.commit());
  return 0;
}

int to_folder(const ConvertOptions& o) {
  if (o.output == "-") throw UsageError("--output: a folder cannot go to standard output, expected its name");
  const io::CheckpointReader reader(o.model);
  io::OutputFolder folder(o.output);
  export_huggingface(reader, tensor_type(o.dtype), folder);
  folder.commit();
  const bool stock = is_stock_llama(read_config(reader.file()));
  log::info(o.output + (stock ? ": a LlamaForCausalLM" : ": to be loaded with trust_remote_code=True"));
  return 0;
}

int run(const ConvertOptions& o, cli::Context& context) {
  std::error_code error;
  const bool is_folder = std::filesystem::is_directory(o.model, error);
  const Target found = is_folder ? Target::bam : Target::hf;
  if (o.target != Target::automatic && o.target != found) {
    throw UsageError("--to: " + o.model + (is_folder ? " is a folder, expected bam" : " is no folder, expected hf"));
  }
  const bool to_bam = found == Target::bam;
  cli::refuse_idle(*context.options,
                   {{.applies = to_bam, .why = "with --to bam, expected hf", .options = {"dtype"}},
                    {.applies = !to_bam, .why = "with --to hf, expected bam", .options = {"tokenizer", "bos-token"}}});
  return to_bam ? to_checkpoint(o) : to_folder(o);
}

}  // namespace

int main(int argc, char** argv) {
  return bam::cli::run_tool<ConvertOptions>(
      {.name = "bam-convert",
       .purpose = "models to and from the folders of Hugging Face",
       .examples = {{"bam-convert Llama-3.2-1B -o llama.h5", "A model from elsewhere, to be evaluated here."},
                    {"bam-convert model.h5 -o model-hf", "A model for transformers, in f32."},
                    {"bam-convert --dtype bf16 model.h5 -o model-bf16", "Half the size, rounded."}}},
      run, argc, argv);
}
