#include "engine/support/error.h"
#include "models/files/classifier_file.h"
#include "tests/fuzz/targets.h"
#include "tools/dma/fit/classifier_summary.h"

namespace dma::fuzz {

namespace {

Eigen::MatrixXd rows_of(Eigen::Index columns) {
  Eigen::MatrixXd x(12, columns);
  for (Eigen::Index i = 0; i < x.rows(); ++i)
    for (Eigen::Index j = 0; j < columns; ++j) x(i, j) = std::sin(static_cast<double>(3 * i + 5 * j + i * j));
  return x;
}

// Two classes and three, few columns and more than rows; the first with its checksum, the others without.
std::vector<std::string> classifier_seeds() {
  std::vector<std::string> texts;
  for (const auto& [columns, classes] : {std::pair{2, 2}, {3, 3}, {20, 2}}) {
    std::vector<std::string> labels;
    for (int n = 0; n < 12; ++n) labels.push_back(std::string(1, static_cast<char>('a' + n % classes)));
    Classifier net({.hidden = std::vector<std::size_t>{2}, .members = 1, .epochs = 3});
    SavedClassifier saved{.features = {}, .target = "kind", .options = net.options(), .memory = {}};
    for (int i = 0; i < columns; ++i) saved.features.push_back(fmt::format("x{}", i));
    saved.training.report = net.fit(rows_of(columns), labels);
    saved.memory = net.memory();
    if (classes == 3) {  // with neighbours, whose rows have weights, and a logarithmic scale
      Classifier::Memory& m = saved.memory;
      m.inputs.log_from = Eigen::RowVectorXd{{0, 0.2, 0}};
      m.neighbours = std::make_shared<const ClassNeighbours>(ClassNeighbours::Memory{
          Vector::Ones(columns), m.inputs.apply(rows_of(columns)), ClassLabels::of(labels).of_rows, m.frequencies, 1, 1,
          0.5, Vector::LinSpaced(12, 0.5, 2)});
      m.frequencies_fraction /= 2;
      for (Classifier::Part& part : m.parts) part.fraction /= 2;
    }
    saved.training.rows = 12;
    saved.training.counts = ClassLabels::of(labels).counts();
    std::string text = classifier_to_text(saved);
    if (!texts.empty()) {
      const std::size_t at = text.find("\"checksum\"");
      text.erase(at, text.find('\n', at) + 1 - at);
    }
    texts.push_back(std::move(text));
  }
  return texts;
}

}  // namespace

std::size_t fuzz_classifier(Choices& choices) {
  static const std::vector<std::string> texts = classifier_seeds();
  const std::string& seed = choices.any_of(texts);
  const std::string text = mutated(seed, choices);
  std::optional<SavedClassifier> saved;
  try {
    saved = classifier_from_text(text, "m.json");
    promise(seed.find("\"checksum\"") == seed.npos || text == seed || text.find("\"checksum\"") == text.npos,
            "a file whose bytes do not give its checksum was read");
  } catch (const Error& e) {
    promise_one_line(e.what());
    promise(std::string_view(e.what()).starts_with("'m.json'"), "an error that does not name the file: {}", e.what());
    return 1;
  }
  try {
    const Eigen::MatrixXd p =
        make_classifier(*saved).predict(rows_of(static_cast<Eigen::Index>(saved->features.size())));
    check_probabilities(p);
    promise(p.allFinite(), "a probability that is no number");
    summary_text(*saved);
    weights_text(*saved);
    honest_sentence(*saved);
  } catch (const Error& e) {
    promise_one_line(e.what());
  }
  return 1;
}

}  // namespace dma::fuzz
