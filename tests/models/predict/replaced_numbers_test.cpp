// Any number of a model file may be another one: nobody crashes, and nothing that is said is no number.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>

#include "engine/support/error.h"
#include "engine/support/fields.h"
#include "models/predict/table_model.h"
#include "tests/models/predict/model_examples.h"
#include "tests/oracles/model_files.h"

namespace {

using namespace dma;
using namespace dma::oracle;

// Sets every number of a file in turn, those that are packed too, calls `changed`, and puts it back.
void for_each_number(Json& json, double value, const std::function<void()>& changed) {
  if (json.is_structured()) {
    for (Json& element : json) for_each_number(element, value, changed);
    return;
  }
  const Json before = json;
  if (json.is_number()) {
    json = json_number(value);
  } else if (json.is_binary() && !json.get_binary().empty()) {
    Eigen::VectorXd numbers = unpacked(json);
    numbers(numbers.size() - 1) = value;
    json = packed(numbers);
  } else {
    return;
  }
  changed();
  json = before;
}

}  // namespace

TEST_CASE(
    "model file: a checkpoint in which any number was replaced is refused in one line, or goes on to finite "
    "predictions") {
  const Eigen::MatrixXd x = Eigen::VectorXd::LinSpaced(12, -2, 2);
  const TableRows rows{x, x.array().sin()};
  for (const char* method : {"joint", "hybrid"}) {
    TableModel model = TableModel::network({.layers = {1, 2, 1}, .method = method, .members = 1}, {"x"}, {"y"});
    model.fit(rows, {.options = {.batches = 2, .epochs = 2, .tolerance = 0}});
    Json file = json_in_model(model.text("12x1"));
    std::size_t tried = 0, went_on = 0;
    for (const double value : {1e308, -1e308, std::nan(""), 0.0, -1.0, 1e-308})
      for_each_number(file, value, [&] {
        ++tried;
        try {
          TableModel resumed = read_again(model_file("checkpoint", file));
          TableFit more{.options = resumed.training().options};
          more.options.epochs = std::min(more.options.epochs, 3) + 1;
          resumed.fit(rows, more);
          const Prediction p = resumed.predict_any(x);
          went_on += p.mean.allFinite() && p.sd.allFinite() ? 1 : 0;
        } catch (const Error& error) {
          CHECK(std::string_view(error.what()).find('\n') == std::string_view::npos);
        }
      });
    CHECK(tried > 100);
    CHECK(went_on > 0);
    file["learned"]["noise_variance"] = {1e308};
    CHECK(refusal_of(model_file("checkpoint", file)).find("a variance of the noise is not between 1e-300 and 1e+300") !=
          std::string::npos);
  }
}

TEST_CASE("model file: a model in which any number was replaced is refused in one line, or predicts finite numbers") {
  std::vector<LearnedModel> all;
  all.push_back(learned_jointly(2));
  all.push_back(learned_classes({"a", "b", "c"}));
  all.push_back(learned_groups());
  all.push_back(learned_scores());
  all.push_back(learned_choices());
  for (LearnedModel& e : all) {
    CAPTURE(&e - all.data());
    Json file = json_in_model(e.model.text());
    const std::string kind(model_kind(e.model.text()));
    const Eigen::MatrixXd rows = e.rows.inputs.topRows(3);
    std::size_t tried = 0, predicted = 0;
    for (const double value : {1e308, -1e308, std::nan(""), 0.0, -1.0, 1e-308})
      for_each_number(file, value, [&] {
        ++tried;
        try {
          const TableModel read = read_again(model_file(kind, file));
          const bool is_finite =
              read.has_classes() ? read.probabilities(rows).allFinite() : read.predict(rows).quantile(0.9).allFinite();
          CHECK(is_finite);
          predicted += is_finite ? 1 : 0;
        } catch (const Error& error) {
          CHECK(std::string_view(error.what()).find('\n') == std::string_view::npos);
        }
      });
    CHECK(tried > 100);
    CHECK(predicted > 0);
  }
}
