#include "engine/support/error.h"
#include "models/files/bnn_file.h"
#include "tests/fuzz/targets.h"
#include "tools/dma/fit/prediction_table.h"

namespace dma::fuzz {

namespace {

constexpr Eigen::Index kRows = 8;

Eigen::MatrixXd inputs_of(Eigen::Index columns) {
  Eigen::MatrixXd x(kRows, columns);
  for (Eigen::Index i = 0; i < kRows; ++i)
    for (Eigen::Index j = 0; j < columns; ++j) x(i, j) = std::sin(static_cast<double>(3 * i + 5 * j + i * j));
  return x;
}
Eigen::MatrixXd outputs_of(Eigen::Index columns) { return inputs_of(columns + 2).rightCols(columns) * 10; }

const LearnOptions kFit{.batches = 2, .epochs = 2, .tolerance = 0};

std::string without_checksum(std::string text) {
  const std::size_t at = text.find("\"checksum\"");
  return text.erase(at, text.find('\n', at) + 1 - at);
}

// Files of small networks of every shape, without the checksum that would stop most damage at the door.
std::vector<std::string> seeds(bool checkpoint) {
  std::vector<std::string> texts;
  for (const BnnOptions& options :
       {BnnOptions{.layers = {1, 2, 1}}, BnnOptions{.layers = {2, 2, 2}, .method = "dma", .members = 2},
        BnnOptions{.layers = {2, 1}, .noise = 0.3, .learn_prior = true, .method = "dma"}}) {
    Bnn net(options);
    const auto inputs = static_cast<Eigen::Index>(options.layers.front()),
               outputs = static_cast<Eigen::Index>(options.layers.back());
    net.fit(inputs_of(inputs), outputs_of(outputs), kFit);
    SavedBnn saved{.features = {},
                   .targets = {},
                   .options = net.options(),
                   .memory = net.memory(!checkpoint),
                   .training = {.rows = kRows, .options = kFit}};
    for (Eigen::Index i = 0; i < inputs; ++i) saved.features.push_back(fmt::format("x{}", i));
    for (Eigen::Index i = 0; i < outputs; ++i) saved.targets.push_back(fmt::format("y{}", i));
    if (inputs == 2) saved.memory.inputs.log_from = Eigen::RowVectorXd{{0, 0.2}};
    if (checkpoint) saved.data_fingerprint = "8x1";
    texts.push_back(without_checksum(bnn_to_text(saved)));
    if (texts.size() == 1) texts.push_back(bnn_to_text(saved));
  }
  return texts;
}

// The network in a damaged file; none where the damage was noticed.
std::optional<SavedBnn> read(const std::vector<std::string>& texts, Choices& choices) {
  const std::string& seed = choices.any_of(texts);
  const std::string text = mutated(seed, choices);
  try {
    SavedBnn saved = bnn_from_text(text, "m.json");
    promise(seed.find("\"checksum\"") == seed.npos || text == seed || text.find("\"checksum\"") == text.npos,
            "a file whose bytes do not give its checksum was read");
    return saved;
  } catch (const Error& e) {
    promise_one_line(e.what());
    promise(std::string_view(e.what()).starts_with("'m.json'"), "an error that does not name the file: {}", e.what());
  }
  return {};
}

void predict(Bnn& net, const std::vector<std::string>& targets, Eigen::Index columns) {
  const Prediction p = net.predict(inputs_of(columns));
  check_prediction(p, targets);
  const std::string table = prediction_csv(p, targets);
  for (const char* word : {"nan", "inf"})
    promise(table.find(word) == table.npos || targets[0].find(word) != std::string::npos, "{} in a prediction", word);
}

}  // namespace

std::size_t fuzz_model(Choices& choices) {
  static const std::vector<std::string> texts = seeds(false);
  auto saved = read(texts, choices);
  if (!saved) return 1;
  try {
    const auto targets = saved->targets;
    const auto columns = static_cast<Eigen::Index>(saved->features.size());
    Bnn net = make_bnn(std::move(*saved));
    predict(net, targets, columns);
  } catch (const Error& e) {
    promise_one_line(e.what());
  }
  return 1;
}

std::size_t fuzz_checkpoint(Choices& choices) {
  static const std::vector<std::string> texts = seeds(true);
  auto saved = read(texts, choices);
  if (!saved) return 1;
  try {
    const auto targets = saved->targets;
    const auto inputs = static_cast<Eigen::Index>(saved->features.size()),
               outputs = static_cast<Eigen::Index>(targets.size());
    LearnOptions more = saved->training.options;
    more.epochs = std::min(more.epochs, 2) + 1;
    Bnn net = make_bnn(std::move(*saved));
    net.fit(inputs_of(inputs), outputs_of(outputs), more);
    predict(net, targets, inputs);
  } catch (const Error& e) {
    promise_one_line(e.what());
  }
  return 1;
}

}  // namespace dma::fuzz
