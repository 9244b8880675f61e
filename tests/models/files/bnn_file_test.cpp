#include "models/files/bnn_file.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>

#include "engine/support/json.h"
#include "models/files/packed_numbers.h"
#include "tests/oracles/scores.h"

namespace {

constexpr double kNotANumber = std::numeric_limits<double>::quiet_NaN();

struct Example {
  dma::Bnn net;
  dma::SavedBnn saved;
  Eigen::MatrixXd inputs;
};

// sin x, and 100 x^2.
Eigen::MatrixXd two_curves(const Eigen::MatrixXd& x) {
  return dma::oracle::filled(
      x.rows(), 2, [&](Eigen::Index n, Eigen::Index j) { return j == 0 ? std::sin(x(n)) : 100 * (x(n) * x(n)); });
}

Example fitted_example(bool checkpoint = false) {
  const Eigen::MatrixXd x = Eigen::VectorXd::LinSpaced(30, -2, 2), y = two_curves(x);
  const dma::LearnOptions fit{.batches = 3, .epochs = 4, .tolerance = 0};
  dma::Bnn net({.layers = {1, 4, 2}, .bias = true, .standardise = true, .method = "dma", .members = 2, .seed = 7});
  const auto report = net.fit(x, y, fit);
  dma::SavedBnn saved{.features = {"x"},
                      .targets = {"a \"quoted\" name", "größe"},
                      .options = net.options(),
                      .memory = net.memory(!checkpoint),
                      .training = {.rows = 30, .held_out_rows = 3, .options = fit}};
  for (const auto& member : report.members) saved.training.stops.push_back(member.stop);
  saved.training.held_out = {{.rmse = 0.1, .log_likelihood = -dma::kInfinity}, {.rmse = kNotANumber}};
  if (checkpoint) saved.data_fingerprint = "30x1";
  return {std::move(net), std::move(saved), x};
}

std::string refusal(std::string_view text) {
  try {
    dma::bnn_from_text(text, "m.json");
  } catch (const dma::Error& e) {
    const std::string line = e.what();
    CHECK(line.find('\n') == line.npos);
    CHECK(line.starts_with("'m.json'"));
    return line;
  }
  return "none";
}

std::string replaced(std::string text, std::string_view what, std::string_view with) {
  const auto at = text.find(what);
  REQUIRE(at != text.npos);
  return text.replace(at, what.size(), with);
}

}  // namespace

TEST_CASE("bnn_file: numbers keep every bit, infinities and NaN included") {
  for (const double value : {0.0, -0.0, 1.0 / 3, 5e-324, 1.7976931348623157e308, -2.5, 1e22, 123456789012345678.0,
                             dma::kInfinity, -dma::kInfinity}) {
    const auto back = dma::json_number(dma::parse_json(dma::json_text(dma::json_number(value))));
    CHECK(std::bit_cast<std::uint64_t>(back) == std::bit_cast<std::uint64_t>(value));
  }
  CHECK(std::isnan(dma::json_number(dma::parse_json(dma::json_text(dma::json_number(kNotANumber))))));
}

TEST_CASE("bnn_file: a model predicts the same bits after text and back, and the text is the same again") {
  Example e = fitted_example();
  const std::string text = dma::bnn_to_text(e.saved);
  const dma::SavedBnn read = dma::bnn_from_text(text, "m.json");
  CHECK(dma::bnn_to_text(read) == text);
  CHECK(read.features == e.saved.features);
  CHECK(read.targets == e.saved.targets);
  dma::Bnn again = dma::make_bnn(read);
  const auto before = e.net.predict(e.inputs), after = again.predict(e.inputs);
  CHECK(before.mean == after.mean);
  CHECK(before.sd == after.sd);
  CHECK(e.net.noise() == again.noise());
  CHECK(text.find("seconds") == text.npos);
}

TEST_CASE("bnn_file: logarithmic scales are kept, and a file with them tells older programs that they cannot read it") {
  Example e = fitted_example();
  const auto version = [](const std::string& text) { return dma::parse_json(text).at("version"); };
  CHECK(version(dma::bnn_to_text(e.saved)) == 1);
  e.saved.memory.inputs.log_from = Eigen::RowVectorXd::Constant(1, 0.25);
  const std::string text = dma::bnn_to_text(e.saved);
  CHECK(version(text) == 2);
  const dma::SavedBnn read = dma::bnn_from_text(text, "m.json");
  CHECK(read.memory.inputs.log_from == e.saved.memory.inputs.log_from);
  CHECK(dma::bnn_to_text(read) == text);
}

TEST_CASE("bnn_file: a checkpoint goes on to the same bits as a fit that never stopped") {
  Example e = fitted_example(true);
  dma::Bnn resumed = dma::make_bnn(dma::bnn_from_text(dma::bnn_to_text(e.saved), "m.json"));
  const Eigen::MatrixXd y = two_curves(e.inputs);
  dma::Bnn undisturbed(e.net.options());
  undisturbed.fit(e.inputs, y, {.batches = 3, .epochs = 9, .tolerance = 0});
  dma::SavedBnn longer = dma::bnn_from_text(dma::bnn_to_text(e.saved), "m.json");
  longer.training.options.epochs = 9;
  resumed = dma::make_bnn(longer);
  resumed.fit(e.inputs, y, {.batches = 3, .epochs = 9, .tolerance = 0});
  CHECK(resumed.predict(e.inputs).mean == undisturbed.predict(e.inputs).mean);
  CHECK(resumed.predict(e.inputs).sd == undisturbed.predict(e.inputs).sd);
}

TEST_CASE("bnn_file: cut short anywhere, it is refused in one line") {
  const std::string text = dma::bnn_to_text(fitted_example().saved);
  const std::size_t end = text.rfind('}');
  for (std::size_t length = 0; length <= end; length += 1 + length / 40)
    CHECK(refusal(text.substr(0, length)).find("cut short") != std::string::npos);
}

TEST_CASE("bnn_file: another file, a later version, and damage are each named") {
  const std::string text = dma::bnn_to_text(fitted_example().saved);
  CHECK(refusal("{}").find("its \"format\" is missing") != std::string::npos);
  CHECK(refusal("[1, 2]").find("its \"format\" is missing") != std::string::npos);
  CHECK(refusal("{\"format\": \"other\"}").find("is 'other'") != std::string::npos);
  CHECK(refusal("{\"format\": 7}").find("damaged") != std::string::npos);
  CHECK(refusal(replaced(text, "\"version\": 1", "\"version\": 3")).find("version 3") != std::string::npos);
  CHECK(refusal(replaced(text, "\"members\": 2", "\"members\": 3")).find("number of members") != std::string::npos);
  CHECK(refusal(replaced(text, "\"layers\": [1,4,2]", "\"layers\": [1,99999999,2]")).find("damaged") !=
        std::string::npos);
  CHECK(refusal(replaced(text, "\"layers\": [1,4,2]", "\"layers\": [-1]")).find("damaged") != std::string::npos);
  CHECK(refusal(replaced(text, "\"noise_variance\": [", "\"noise_variance\": [-")).find("noise") != std::string::npos);
  CHECK(refusal(replaced(text, "\"slopes\"", "\"slops\"")).find("slopes") != std::string::npos);
  CHECK(refusal(replaced(text, "\"seed\": 7", "\"seed\": \"x\"")).find("damaged") != std::string::npos);
  CHECK(refusal(replaced(text, "\"feature_map\": \"none\"", "\"feature_map\": \"hills\"")).find("hills") !=
        std::string::npos);
}

TEST_CASE("bnn_file: whole numbers are whole, in range, and never made to fit") {
  const std::string text = dma::bnn_to_text(fitted_example().saved);
  for (const char* version : {"4294967297", "1.9", "-1", "0", "\"1\"", "1e0", "18446744073709551617", "null"}) {
    INFO(version);
    CHECK(refusal(replaced(text, "\"version\": 1", std::string("\"version\": ") + version)) != "none");
  }
  CHECK(refusal(replaced(text, "\"members\": 2", "\"members\": 2.5")).find("\"members\" is 2.5") != std::string::npos);
  CHECK(refusal(replaced(text, "\"rows\": 30", "\"rows\": -30")).find("\"rows\" is -30") != std::string::npos);
  CHECK(refusal(replaced(text, "\"layers\": [1,4,2]", "\"layers\": [1,4.5,2]")).find("4.5") != std::string::npos);
  CHECK(refusal(replaced(text, "\"epoch\": 1", "\"epoch\": 7")).find("epochs") != std::string::npos);
}

TEST_CASE("bnn_file: numbers that no network has are refused") {
  const std::string text = dma::bnn_to_text(fitted_example().saved),
                    checkpoint = dma::bnn_to_text(fitted_example(true).saved);
  CHECK(refusal(replaced(text, "\"precision\": [", "\"precision\": [-")).find("a precision is negative") !=
        std::string::npos);
  CHECK(refusal(replaced(checkpoint, "\"precision\": [", "\"precision\": [-")).find("a precision is negative") !=
        std::string::npos);
  CHECK(refusal(replaced(text, "\"precision_times_mean\": [", "\"precision_times_mean\": [\"inf\",")) != "none");
  CHECK(refusal(replaced(text, "\"shift\": [", "\"shift\": [1e400, ")).find("damaged") != std::string::npos);
  CHECK(refusal(replaced(text, "\"slopes\": [0.1]", "\"slopes\": [0]")).find("slope") != std::string::npos);
  CHECK(refusal(replaced(text, "\"evidence_weight\": 1", "\"evidence_weight\": -1")).find("options of the fit") !=
        std::string::npos);
  CHECK(refusal(replaced(text, "größe", "gr\\u001b[2J")).find("control characters") != std::string::npos);
  CHECK(refusal(replaced(checkpoint, "\"batches\": 3", "\"batches\": 2")).find("number of batches") !=
        std::string::npos);
  CHECK(refusal(std::string(1'000'000, '[')).find("nested") != std::string::npos);
  CHECK(refusal("{\"format\":" + std::string(1'000'000, '[')).find("nested") != std::string::npos);
}

TEST_CASE("bnn_file: a changed digit is named by the checksum, a file without one is read") {
  const std::string text = dma::bnn_to_text(fitted_example().saved);
  CHECK(refusal(text) == "none");
  const auto at = text.find("\"precision_times_mean\": [") + 30;
  for (std::size_t i = at; i < at + 200; i += 7) {
    std::string changed = text;
    if (changed[i] < '1' || changed[i] > '8') continue;
    ++changed[i];
    CHECK(refusal(changed).find("no longer give its checksum") != std::string::npos);
  }
  std::string none = text;
  none.erase(none.find("  \"checksum\""), none.find('\n', none.find("\"checksum\"")) + 1 - none.find("  \"checksum\""));
  CHECK(none.find("checksum") == none.npos);
  CHECK(refusal(none) == "none");
}

namespace {

// Sets every number of a file in turn, those that are packed too, calls `changed`, and puts it back.
void for_each_number(dma::Json& json, double value, const std::function<void()>& changed) {
  if (json.is_structured()) {
    for (dma::Json& element : json) for_each_number(element, value, changed);
    return;
  }
  const dma::Json before = json;
  if (json.is_number()) {
    json = dma::json_number(value);
  } else if (json.is_string()) {
    std::vector<double> numbers;
    try {
      numbers = dma::unpacked(json.get<std::string>());
    } catch (const dma::Error&) {
    }
    if (numbers.empty()) return;
    numbers.back() = value;
    json = dma::packed(numbers);
  } else {
    return;
  }
  changed();
  json = before;
}

}  // namespace

TEST_CASE(
    "bnn_file: a checkpoint in which any number was replaced is refused in one line, or goes on to finite "
    "predictions") {
  const Eigen::MatrixXd x = Eigen::VectorXd::LinSpaced(12, -2, 2),
                        y = dma::oracle::filled(12, [&](Eigen::Index n) { return std::sin(x(n)); });
  for (const char* method : {"joint", "hybrid"}) {
    const dma::LearnOptions fit{.batches = 2, .epochs = 2, .tolerance = 0};
    dma::Bnn net({.layers = {1, 2, 1}, .method = method, .members = 1});
    net.fit(x, y, fit);
    dma::Json file = dma::parse_json(dma::bnn_to_text({.features = {"x"},
                                                       .targets = {"y"},
                                                       .options = net.options(),
                                                       .memory = net.memory(false),
                                                       .training = {.rows = 12, .options = fit},
                                                       .data_fingerprint = "12x1"}));
    file.erase("checksum");
    std::size_t tried = 0, went_on = 0;
    for (const double value : {1e308, -1e308, kNotANumber, 0.0, -1.0, 1e-308})
      for_each_number(file, value, [&] {
        ++tried;
        try {
          dma::SavedBnn saved = dma::bnn_from_text(dma::json_text(file), "c");
          dma::LearnOptions more = saved.training.options;
          more.epochs = std::min(more.epochs, 3) + 1;
          dma::Bnn resumed = dma::make_bnn(std::move(saved));
          resumed.fit(x, y, more);
          const dma::Prediction p = resumed.predict(x);
          went_on += p.mean.allFinite() && p.sd.allFinite() ? 1 : 0;
        } catch (const dma::Error& error) {
          CHECK(std::string_view(error.what()).find('\n') == std::string_view::npos);
        }
      });
    CHECK(tried > 100);
    CHECK(went_on > 0);
    file["noise_variance"] = {1e308};
    CHECK(refusal(dma::json_text(file))
              .find("a variance of the noise is not between 1e-300 and 1e+300") != std::string::npos);
  }
}
