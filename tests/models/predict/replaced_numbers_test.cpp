// Any number of a model file may be another one: nobody crashes, and nothing that is said is no number.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>

#include "engine/support/fields.h"
#include "engine/support/text.h"
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

// With every number of the file replaced by each of these, `use` throws an Error of one line, or returns true: all its
// results are finite. A checkpoint may learn numbers that are not.
void check_replaced(const std::string& text, bool may_fail, const std::function<bool(TableModel)>& use) {
  Json file = json_in_model(text);
  std::size_t tried = 0, finite = 0;
  for (const double value : {1e308, -1e308, std::nan(""), 0.0, -1.0, 1e-308})
    for_each_number(file, value, [&] {
      ++tried;
      try {
        const bool is_finite = use(read_again(model_file(model_kind(text), file)));
        if (!may_fail) CHECK(is_finite);
        finite += is_finite ? 1 : 0;
      } catch (const Error& error) {
        CHECK(std::string_view(error.what()).find('\n') == std::string_view::npos);
      }
    });
  CHECK(tried > 100);
  CHECK(finite > 0);
}

}  // namespace

TEST_CASE("model file: a checkpoint with any number replaced is refused in one line, or goes on") {
  const Eigen::MatrixXd x = Eigen::VectorXd::LinSpaced(12, -2, 2);
  const TableRows rows{x, x.array().sin()};
  for (const char* method : {"joint", "hybrid"}) {
    TableModel model = TableModel::network({.layers = {1, 2, 1}, .method = method, .members = 1}, {"x"}, {"y"});
    model.fit(rows, {.options = {.batches = 2, .epochs = 2, .tolerance = 0}});
    const std::string text = model.text("12x1");
    check_replaced(text, true, [&](TableModel resumed) {
      TableFit more{.options = resumed.training().options};
      more.options.epochs = std::min(more.options.epochs, 3) + 1;
      resumed.fit(rows, more);
      const Prediction p = resumed.predict_any(x);
      return p.mean.allFinite() && p.sd.allFinite();
    });
    CHECK(refusal_with(text, "/learned/noise_variance", Json::array({1e308}))
              .find("a variance of the noise is not between 1e-300 and 1e+300") != std::string::npos);
  }
}

TEST_CASE("model file: a model with any number replaced is refused in one line, or predicts finite numbers") {
  for (const auto& learned :
       {learned_groups, learned_scores, learned_choices, learned_tally, +[] { return learned_jointly(2); },
        +[] {
          return learned_classes({"a", "b", "c"});
        }}) {
    const LearnedModel e = learned();
    const Eigen::MatrixXd rows = e.rows.inputs.topRows(2);
    check_replaced(e.model.text(), false, [&](const TableModel& read) {
      return read.has_classes() ? read.probabilities(rows).allFinite() : read.predict(rows).quantile(0.9).allFinite();
    });
  }
}
