// boxes: cli io base
// A configuration file and a command line: refused with a UsageError, or values whose texts give the same values again.
#include <array>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "cli/options.h"
#include "memory_file.h"

namespace {

using namespace bam;
using namespace bam::cli;

enum class Kind { first, second };

struct Options {
  std::string model, name = "a", device_name = "auto";
  std::vector<std::string> files, stops;
  Index context = 512, memory = 1 << 30;
  std::optional<Index> window;
  std::vector<Length> lengths{{512, false}, {2, true}};
  std::vector<double> rates;
  std::uint64_t seed_value = 0;
  Kind kind = Kind::first;
  bool border = true, dry_run = false;
  double fraction = 0.5;
  TableOptions table;
  OutputOption output;
  std::string config;

  void declare(OptionTable& options) {
    options.operand(model, path(), "MODEL", "A model.");
    options.operands(files, path(), "FILE", 0, "Files.", 3);
    options.group("Values")
        .add("context,c", context, integer({2, 1'000'000'000'000}), "TOKENS", "Tokens.")
        .add("memory", memory, bytes(), "Memory.")
        .add("window", window, optional(count(), "none"), "TOKENS", "Window.")
        .add("lengths", lengths, list(length()), "Lengths.")
        .add("rates", rates, list(real(above(0))), "LR,...", "Rates.")
        .add("stop,s", stops, repeated(text()), "Texts.")
        .add("seed", seed_value, seed(), "Seed.")
        .add("device", device_name, device(), "Device.")
        .add("fraction", fraction, real(between(0, 1)), "Fraction.")
        .add("kind", kind, choice<Kind>({{"first", Kind::first}, {"second", Kind::second}}), "Kind.")
        .add("name", name, text(), "Name.")
        .add("border", border, yes_no(), "Border.")
        .add("config", config, path(), "FILE", "Configuration.")
        .flag("dry-run,n", dry_run, "Dry.");
    table.declare(options);
    output.declare(options);
  }
};

using Values = std::vector<std::pair<std::string, std::string>>;

// Throws UsageError.
Values parse(const std::vector<std::string>& arguments, std::vector<std::string>& operands) {
  Options options;
  OptionTable table;
  options.declare(table);
  std::vector<const char*> argv = {"fuzz"};
  for (const std::string& argument : arguments) argv.push_back(argument.c_str());
  table.parse(static_cast<int>(argv.size()), argv.data());
  operands = {options.model};
  operands.insert(operands.end(), options.files.begin(), options.files.end());
  Values values;
  for (const EffectiveValue& value : table.values()) {
    if (value.source != Source::defaults && value.name != "config") values.emplace_back(value.name, value.value);
  }
  return values;
}

}  // namespace

// Bytes: the configuration, then arguments, each up to a zero byte.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  std::vector<std::string> pieces;
  for (std::size_t at = 0; at <= size && pieces.size() < 40; at = bytes.find('\0', at) + 1) {
    pieces.push_back(bytes.substr(at, bytes.find('\0', at) - at));
    if (bytes.find('\0', at) == std::string::npos) break;
  }
  const bam::test::MemoryFile config(pieces.front());
  pieces.front() = "--config=" + config.path();
  try {
    std::vector<std::string> operands, same_operands;
    const Values values = parse(pieces, operands);
    std::vector<std::string> again;
    for (const auto& [name, value] : values) {
      const bool is_list = name == "lengths" || name == "rates" || name == "stop";
      if (!is_list) again.push_back("--" + name + "=" + value);
    }
    again.emplace_back("--");
    again.insert(again.end(), operands.begin(), operands.end());
    Values scalars;
    for (const auto& pair : values) {
      if (pair.first != "lengths" && pair.first != "rates" && pair.first != "stop") scalars.push_back(pair);
    }
    Values same;
    try {
      same = parse(again, same_operands);
    } catch (const bam::Error&) {
      abort();
    }
    if (same != scalars || same_operands != operands) abort();
  } catch (const bam::UsageError&) {
  } catch (const bam::Error&) {
  }
  return 0;
}
