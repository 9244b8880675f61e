// Every field of a model file is checked: a damaged file must not become a crash or silent nonsense.
#include <doctest/doctest.h>

#include <fstream>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>

#include "engine/support/fields.h"
#include "engine/support/text.h"
#include "models/predict/table_model.h"
#include "tests/models/predict/model_examples.h"
#include "tests/oracles/model_files.h"

namespace {

using namespace dma;
using namespace dma::oracle;

double number_of(const Json& json) {
  if (json.is_number()) return json.get<double>();
  return json == "nan" ? std::numeric_limits<double>::quiet_NaN() : std::numeric_limits<double>::infinity();
}

// A value as a file has it: {"packed": numbers}, {"equal": [how many, each]} and {"ones": [rows, columns]} are written
// in its binary form.
Json value_of(const Json& json) {
  if (json.contains("packed")) {
    const auto numbers = json["packed"].get<std::vector<double>>();
    return packed(Eigen::Map<const Eigen::VectorXd>(numbers.data(), std::ssize(numbers)));
  }
  if (json.contains("equal"))
    return packed(Eigen::VectorXd::Constant(json["equal"][0], json["equal"][1].get<double>()));
  if (json.contains("ones")) return written(Eigen::MatrixXd(Eigen::MatrixXd::Ones(json["ones"][0], json["ones"][1])));
  return json;
}

// [what, place in the file, arguments ...]: a value is set, an element is set at a number, the last element is left
// out, a value or the first element is added, all numbers are made negative.
void damage(Json& file, const Json& how) {
  const std::string what = how[0];
  Json& json = file[Json::json_pointer(how[1].get<std::string>())];
  if (what == "set") json = value_of(how[2]);
  if (what == "longer") json.push_back(how[2]);
  if (what == "again") json.push_back(Json(json[0]));
  if (what == "shorter" && json.is_array()) return json.erase(json.size() - 1);
  if (what != "at" && what != "negative" && what != "shorter") return;
  Eigen::VectorXd numbers = unpacked(json);
  if (what == "at") numbers(how[2].get<Eigen::Index>()) = number_of(how[3]);
  if (what == "negative") numbers = -1e9 * numbers.cwiseAbs();
  json = packed(what == "shorter" ? numbers.head(numbers.size() - 1) : numbers);
}

// Each damage of damages.json alone is refused: the line says that the file is damaged, or what the damage says.
void check_all_refused(const std::string& text, const char* kind_of_damages) {
  std::ifstream stream(DMA_SOURCE_DIR "/tests/models/predict/damages.json");
  static const Json damages = parse_json(std::string(std::istreambuf_iterator(stream), {}));
  REQUIRE(refusal_of(text) == "none");
  for (const Json& how : damages.at(kind_of_damages)) {
    CAPTURE(json_text(how));
    Json json = json_in_model(text);
    damage(json, how);
    REQUIRE(json != json_in_model(text));
    const std::string line = refusal_of(model_file(model_kind(text), json));
    CAPTURE(line);
    CHECK(line.find(how.back().is_object() && how.back().contains("says") ? how.back()["says"].get<std::string>()
                                                                          : "is damaged") != line.npos);
  }
}

}  // namespace

TEST_CASE("model file: numbers that no network has are refused, whole numbers are never made to fit") {
  LearnedModel e = learned_by_messages();
  check_all_refused(e.model.text("30x1"), "checkpoint");
  e.model.judge(e.rows.some({0, 1, 2}));
  check_all_refused(e.model.text(), "messages");
}

TEST_CASE("model file: numbers that do not fit a joint fit are refused, in a checkpoint too") {
  LearnedModel e = learned_jointly(3);
  e.model.judge(e.rows.some({0, 1, 2}));
  check_all_refused(e.model.text(), "joint");
  check_all_refused(e.model.text("40x2"), "joint");
  check_all_refused(e.model.text(), "kept as a factor");
  check_all_refused(learned_jointly(30, Eigen::VectorXd::LinSpaced(40, 0.5, 4)).model.text(), "kept as rows");
  Json without = json_in_model(e.model.text());
  without["learned"]["graphs"].erase("simple");
  without["learned"]["graphs"]["fraction"] = 0.5;
  CHECK(refusal_of(model_file("network", without)).find("the simple graph is missing") != std::string::npos);
  TableModel begun = TableModel::network(e.model.network()->options(), {"a", "b"}, {"y"});
  std::string first;
  TableFit stopped = e.fit;
  stopped.on_epoch = [&](const TableEpoch&) {
    if (first.empty()) first = begun.text("40x2");
    return false;
  };
  begun.fit(e.rows, stopped);
  check_all_refused(first, "stopped in its first epoch");
}

TEST_CASE("model file: numbers that do not fit classes are refused") {
  LearnedModel e = learned_classes({"a", "b", "c"});
  e.model.judge(e.rows.some({0, 1, 2}));
  const std::string text = e.model.text();
  check_all_refused(text, "classes");
  Json by_rows = json_in_model(text);  // as if the posterior were kept as rows
  Json& posterior = by_rows["learned"]["graphs"]["members"][0]["plain_posterior"];
  posterior["factor"] = packed(Eigen::VectorXd());
  posterior["learned_rows"] = written(e.rows.inputs);
  CHECK(refusal_of(model_file(model_kind(text), by_rows)).find("is damaged") != std::string::npos);
  check_all_refused(learned_directions().model.text(), "directions");
}

TEST_CASE("model file: numbers that do not fit a graph are refused") {
  check_all_refused(learned_groups().model.text(), "graph");
  check_all_refused(learned_scores().model.text(), "graph of classes");
  check_all_refused(learned_choices().model.text(), "graph with choices");
}

TEST_CASE("model file: rows and classes of neighbours that cannot be are refused") {
  // A chessboard: nearest rows know it best.
  const Eigen::MatrixXd x = 3 * Eigen::MatrixXd::Random(300, 2);
  Eigen::MatrixXd numbers(300, 1);
  for (Eigen::Index n = 0; n < 300; ++n)
    numbers(n, 0) = (std::lround(std::floor(x(n, 0))) + std::lround(std::floor(x(n, 1)))) % 2 == 0 ? 0 : 1;
  TableModel model =
      TableModel::classifier({.hidden = std::vector<std::size_t>{2}, .members = 1}, {"u", "v"}, "kind", {"a", "b"});
  REQUIRE(!model.fit({x, numbers}, class_fit({})).neighbours.empty());
  CHECK(read_again(model.text()).probabilities(x) == model.probabilities(x));
  check_all_refused(model.text(), "nearest rows of classes");
}
