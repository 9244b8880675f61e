#include "tools/dma/fit/checkpoint.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "engine/support/error.h"
#include "engine/support/json.h"
#include "tools/dma/io/read_file.h"
#include "tools/dma/io/write_file.h"

namespace dma {

namespace {

void check_same(const std::filesystem::path& path, const Json& saved, const Json& now) {
  const auto given = [](const Json& options, const std::string& key) {
    return options.value(key, Json(1));
  };  // workers
  for (const Json* options : {&saved, &now})
    for (const auto& [key, value] : options->items())
      if (key != "epochs" && key != "tolerance" && key != "patience" && key != "least_gain" &&
          given(saved, key) != given(now, key))
        fail("'{}' was made with {} = {}, but {} is given now; repeat the command that made it", path.string(), key,
             json_text(given(saved, key)), json_text(given(now, key)));
}

// Options that the network sets for itself: learned noise when none is given, hidden layers that it has chosen.
Json options_as_made(BnnOptions options, const BnnOptions& saved) {
  if (options.noise.empty()) options.learn_noise = true;
  if (options.choose_width && saved.choose_width && saved.layers.front() == options.layers.front() &&
      saved.layers.back() == options.layers.back())
    options.layers = saved.layers;
  if (options.members == 0) options.members = saved.members;
  return to_json(options);
}

}  // namespace

void save_checkpoint(const std::filesystem::path& path, const Bnn& net, const TrainingData& data,
                     const LearnOptions& options) {
  Bnn::Memory memory = net.memory(false);  // of all processes, which all come here
  if (path.empty()) return;
  write_file(path,
             bnn_to_text({.features = data.features,
                          .targets = data.targets,
                          .options = net.options(),
                          .memory = std::move(memory),
                          .training = {.rows = data.rows(), .held_out_rows = data.held_out_rows(), .options = options},
                          .data_fingerprint = data.fingerprint()}));
}

Bnn resume_from(const std::filesystem::path& path, const TrainingData& data, const BnnOptions& network,
                const LearnOptions& options) {
  SavedBnn saved = bnn_from_text(read_file(path, "a model file"), path.string());
  if (!saved.is_checkpoint())
    fail("'{}' is a finished model, not a checkpoint; --resume takes a file written by --checkpoint", path.string());
  if (saved.data_fingerprint != data.fingerprint())
    fail(
        "'{}' belongs to other data, columns or held-out rows; repeat the command that made it, or start without "
        "--resume",
        path.string());
  check_same(path, to_json(saved.options), options_as_made(network, saved.options));
  check_same(path, to_json(saved.training.options), to_json(options));
  saved.training.options = options;
  // A joint fit stopped in its first epoch may not have chosen its width or members: it begins anew.
  if (network.is_joint() && saved.memory.joint &&
      std::ranges::all_of(saved.memory.joint->members, [](const auto& m) { return m.plain.epoch <= 1; }))
    return Bnn(network);
  return make_bnn(std::move(saved));
}

}  // namespace dma
