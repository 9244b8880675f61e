#include "models/files/bnn_file.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>

#include "engine/support/fields.h"
#include "tests/oracles/model_files.h"
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
  saved.training.held_out = {{.rmse = 0.1, .log_likelihood = -2.5}, {.rmse = 3}};
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

// What is said of the file with another value there.
std::string refusal(std::string_view text, const std::string& pointer, dma::Json value) {
  return refusal(dma::oracle::changed_model(text, pointer, std::move(value)));
}
bool says(const std::string& line, std::string_view what) {
  CAPTURE(line);
  return line.find(what) != line.npos;
}

}  // namespace

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

TEST_CASE("bnn_file: logarithmic scales are kept") {
  Example e = fitted_example();
  e.saved.memory.inputs.log_from = Eigen::RowVectorXd::Constant(1, 0.25);
  const std::string text = dma::bnn_to_text(e.saved);
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
  for (std::size_t length = 0; length < text.size(); length += 1 + length / 40)
    CHECK(says(refusal(text.substr(0, length)), "cut short"));
}

TEST_CASE("bnn_file: any changed bit is refused in one line") {
  const std::string text = dma::bnn_to_text(fitted_example().saved);
  CHECK(refusal(text) == "none");
  for (std::size_t i = 0; i < text.size(); i += i < 100 ? 1 : 13)
    for (const int bit : {1, 2, 16, 128}) {
      std::string changed = text;
      changed[i] = static_cast<char>(changed[i] ^ bit);
      CAPTURE(i);
      CHECK(refusal(changed) != "none");
    }
}

TEST_CASE("bnn_file: other files, and those of other versions, are each named") {
  const std::string text = dma::bnn_to_text(fitted_example().saved);
  CHECK(says(refusal("x,y\n1,2\n"), "it begins with \"x,y\""));
  CHECK(says(refusal("{\"variables\": {}}"), "is not a model of dma"));
  CHECK(says(refusal("{\n  \"format\": \"dma-bnn\",\n  \"version\": 2,"), "was written by an earlier dma"));
  CHECK(says(refusal("dma model 3" + text.substr(11)), "version 3"));
  CHECK(says(refusal(dma::model_file("classifier", {})), "is a classifier; a network or a checkpoint is expected"));
  CHECK(says(refusal(dma::model_file("network", {})), "damaged"));
  CHECK(says(refusal(dma::model_file("checkpoint", dma::oracle::json_in_model(text))), "fingerprint"));
}

TEST_CASE("bnn_file: numbers that no network has are refused, whole numbers are never made to fit") {
  const std::string text = dma::bnn_to_text(fitted_example().saved),
                    checkpoint = dma::bnn_to_text(fitted_example(true).saved);
  CHECK(says(refusal(text, "/options/members", 3), "number of members"));
  CHECK(says(refusal(text, "/options/members", 2.5), "\"members\" is 2.5"));
  CHECK(says(refusal(text, "/options/members", 18446744073709551615u), "damaged"));
  CHECK(says(refusal(text, "/options/layers/1", 99999999), "damaged"));
  CHECK(says(refusal(text, "/options/layers/1", -1), "damaged"));
  CHECK(says(refusal(text, "/options/layers/1", 4.5), "4.5"));
  CHECK(says(refusal(text, "/options/slopes/0", 0), "slope"));
  CHECK(says(refusal(text, "/options/slopes", 7), "damaged"));
  CHECK(says(refusal(text, "/options/seed", "x"), "damaged"));
  CHECK(says(refusal(text, "/options/feature_map", "hills"), "hills"));
  CHECK(says(refusal(text, "/noise_variance/0", -1), "noise"));
  CHECK(says(refusal(text, "/training/rows", -30), "\"rows\" is -30"));
  CHECK(says(refusal(text, "/training/options/evidence_weight", -1), "options of the fit"));
  CHECK(says(refusal(text, "/members/0/learned/epochs/0/epoch", 7), "epochs"));
  CHECK(says(refusal(text, "/targets/1", "gr\x1b[2J"), "control characters"));
  CHECK(says(refusal(checkpoint, "/training/options/batches", 2), "number of batches"));
  for (const std::string& file : {text, checkpoint}) {
    dma::Json json = dma::oracle::json_in_model(file);
    dma::Json& precision = json["members"][0]["learned"]["messages"][0]["precision"];
    precision = dma::packed(-1e9 * dma::unpacked(precision).cwiseAbs());
    CHECK(says(refusal(dma::model_file(dma::model_kind(file), json)), "a precision is negative"));
  }
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
  } else if (json.is_binary() && !json.get_binary().empty()) {
    Eigen::VectorXd numbers = dma::unpacked(json);
    numbers(numbers.size() - 1) = value;
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
    dma::Json file = dma::oracle::json_in_model(dma::bnn_to_text({.features = {"x"},
                                                                  .targets = {"y"},
                                                                  .options = net.options(),
                                                                  .memory = net.memory(false),
                                                                  .training = {.rows = 12, .options = fit},
                                                                  .data_fingerprint = "12x1"}));
    std::size_t tried = 0, went_on = 0;
    for (const double value : {1e308, -1e308, kNotANumber, 0.0, -1.0, 1e-308})
      for_each_number(file, value, [&] {
        ++tried;
        try {
          dma::SavedBnn saved = dma::bnn_from_text(dma::model_file("checkpoint", file), "c");
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
    CHECK(
        says(refusal(dma::model_file("checkpoint", file)), "a variance of the noise is not between 1e-300 and 1e+300"));
  }
}
