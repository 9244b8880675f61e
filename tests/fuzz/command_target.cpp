#include <algorithm>
#include <array>
#include <set>
#include <vector>

#include "engine/support/text.h"
#include "tests/fuzz/commands.h"
#include "tests/fuzz/targets.h"

namespace dma::fuzz {

namespace {

std::string table(Choices& choices) {
  static constexpr std::string_view kNames[] = {"x", "z", "größe", "\"a, b\"", "`id`", "w"};
  const std::size_t columns = choices.between(1, 3), rows = choices.between(1, 8);
  const bool wild = choices.one_in(3);
  std::string text = "y";
  for (std::size_t j = 0; j < columns; ++j)
    text += "," + std::string(kNames[(j + choices.below(2)) % std::size(kNames)]);
  for (std::size_t i = 0; i < rows; ++i) {
    text += "\n";
    for (std::size_t j = 0; j <= columns; ++j)
      text += (j > 0 ? "," : "") + fmt::format("{}", wild ? choices.number() : choices.ordinary());
  }
  return choices.one_in(4) ? mutated(text, choices) : text + "\n";
}

std::string value(Choices& choices) {
  static const std::vector<std::string> kValues = words(
      "0 1 2 3 -1 1e400 nan none 5,,5 2,3 0.1 0.5 x y dma ep vmp linearised data.csv ' bumps3 paper -0 1e-320 y,x "
      "\x1b[2J 18446744073709551616 99999999999999999999");
  if (choices.one_in(30)) return "";
  return choices.one_in(8) ? fmt::format("{}", choices.number()) : choices.any_of(kValues);
}

std::vector<std::string> fit_arguments(Choices& choices) {
  static const std::vector<std::string> kOptions = words(
      "--hidden --slopes --noise --features-map --prior-scale --members --method --batches "
      "--batch-size --tolerance --patience --least-gain --seed --holdout --preset --features --checkpoint-every "
      "--nonsense --weights");
  static const std::vector<std::string> kFlags = words(
      "--bias --no-bias --standardise --no-standardise --learn-prior --quiet --json --strict --columns --classes");
  std::vector<std::string> all = {"fit",      "data.csv",
                                  "--target", choices.one_in(16) ? value(choices) : "y",
                                  "--hidden", choices.one_in(2) ? "2" : "none",
                                  "--epochs", choices.one_in(16) ? value(choices) : "2"};
  for (std::size_t i = choices.below(4); i > 0; --i) {
    all.emplace_back(choices.any_of(kOptions));
    all.push_back(value(choices));
  }
  for (std::size_t i = choices.below(3); i > 0; --i) all.emplace_back(choices.any_of(kFlags));
  if (!choices.one_in(4)) all.insert(all.end(), {"--model", choices.one_in(16) ? "data.csv" : "model.json"});
  if (choices.one_in(4)) all.insert(all.end(), {"--checkpoint", "fit.checkpoint", "--checkpoint-every", "1"});
  if (choices.one_in(16)) all.insert(all.end(), {"--plot", "fit.svg"});
  return all;
}

std::vector<std::string> other_arguments(Choices& choices) {
  static const std::vector<std::string> kWords = words(
      "predict inspect generate regression factors --json --out out.csv model.json data.csv --help --version "
      "--seed -1 predct --grid --plot-training");
  std::vector<std::string> all;
  for (std::size_t i = choices.below(6); i > 0; --i) all.emplace_back(choices.any_of(kWords));
  return all;
}

}  // namespace

std::size_t fuzz_command(Choices& choices) {
  const Scene scene;
  write("data.csv", table(choices));
  const std::string data = read("data.csv");
  const std::vector<std::string> arguments = choices.one_in(8) ? other_arguments(choices) : fit_arguments(choices);
  const Ended fitted = run(arguments);
  check(fitted, arguments);
  std::set<std::string> allowed = {"data.csv", "out.csv", "model.json", "fit.checkpoint", "fit.svg"};
  for (const std::string& file : scene.files()) promise(allowed.contains(file), "dma left '{}' behind", file);
  promise(read("data.csv") == data, "the data were overwritten");
  const bool has_model = scene.files().contains("model.json");
  promise(fitted.code != 0 || arguments.empty() || arguments[0] != "fit" ||
              has_model == (std::ranges::count(arguments, "model.json") > 0),
          "the model asked for is missing");
  if (!has_model) return 1;
  promise(fitted.code == 0, "a model is left although the fit failed: {}", fitted.errors);
  const std::vector<std::string> predict = {"predict", "model.json", "data.csv"};
  const Ended predicted = run(predict);
  check(predicted, predict);
  promise(predicted.code == 0, "a model was fitted on rows that it cannot predict: {} from {} by {}", predicted.errors,
          printable(data), joined(arguments, " "));
  promise(predicted.output.find("nan") == std::string::npos && predicted.output.find("inf") == std::string::npos,
          "predictions that are not finite");
  return 2;
}

}  // namespace dma::fuzz
