// boxes: model text io kernels base
#include "model/checkpoint_model.h"

#include "support/catch.h"
#include "support/files.h"
#include "support/tiny_model.h"

using namespace bam;
using namespace bam::test;

TEST_CASE("checkpoint_model: sizes that are only claimed are refused before memory is taken for them") {
  const ScratchFolder folder;
  TinyModel tiny = random_model();
  const std::string path = folder / "claims.h5";
  const auto claims = [&](const std::string& size, Index value) {
    io::CheckpointWriter writer(path);
    write_config(writer.file(), tiny.model().config());
    writer.file().set_int(size, value);
    {
      io::Hdf5Group parameters = writer.file().create_group("params");
      write_parameters(parameters, tiny.model().parameters(), *tiny.backend);
    }
    write_tokenizer(writer.file(), tiny.loaded.tokenizer_header, tiny.loaded.tokenizer->files());
    writer.commit();
    return error_of([&] { load_model(path, *tiny.backend, Products::real); });
  };
  // Any of these models would take more memory than there is; without the check that is all that would be said.
  constexpr Index kLargest = Index{1} << 24;
  for (const char* size : {"dim", "ffn", "vocab"}) {
    CHECK(contains(claims(size, kLargest), "another type or shape than the configuration says"));
  }
  CHECK(contains(claims("layers", kLargest), "arrays, expected the parameters of 16777216 layers"));
  CHECK(contains(claims("layers", 3), "layers/2/"));
  CHECK(claims("context", 99) == "no error");
}
