// Every field of a model file is checked: a damaged file must not become a crash or silent nonsense.
#include <doctest/doctest.h>

#include <functional>
#include <limits>
#include <nlohmann/json.hpp>

#include "engine/support/error.h"
#include "engine/support/fields.h"
#include "models/predict/table_model.h"
#include "tests/models/predict/model_examples.h"
#include "tests/oracles/model_files.h"

namespace {

using namespace dma;
using namespace dma::oracle;

constexpr double kNotANumber = std::numeric_limits<double>::quiet_NaN(),
                 kInfinite = std::numeric_limits<double>::infinity();

bool refused_with(const std::string& line, std::string_view what) {
  CAPTURE(line);
  return line.find(what) != line.npos;
}

struct Damage {
  std::string pointer;
  std::function<void(Json&)> change;
};

// A value in place of another; one at a place of a vector; the vector or the list without its last element, or with one
// more.
Damage set(const std::string& pointer, Json value) {
  return {pointer, [value](Json& json) { json = value; }};
}
Damage at(const std::string& pointer, Eigen::Index place, double value) {
  return {pointer, [=](Json& json) {
            Eigen::VectorXd numbers = unpacked(json);
            numbers(place) = value;
            json = packed(numbers);
          }};
}
Damage shorter(const std::string& pointer) {
  return {pointer, [](Json& json) {
            if (json.is_array()) return json.erase(json.size() - 1);
            const Eigen::VectorXd numbers = unpacked(json);
            json = packed(numbers.head(numbers.size() - 1));
          }};
}
Damage longer(const std::string& pointer, Json value) {
  return {pointer, [value](Json& json) { json.push_back(value); }};
}

// Each damage alone is refused, and the line says that the file is damaged.
void check_all_refused(const std::string& text, const std::vector<Damage>& damages) {
  REQUIRE(refusal_of(text) == "none");
  for (const Damage& damage : damages) {
    CAPTURE(damage.pointer);
    CAPTURE(&damage - damages.data());
    Json json = json_in_model(text);
    damage.change(json.at(Json::json_pointer(damage.pointer)));
    REQUIRE(json != json_in_model(text));
    CHECK(refused_with(refusal_of(model_file(model_kind(text), json)), "is damaged"));
  }
}

}  // namespace

TEST_CASE("model file: numbers that no network has are refused, whole numbers are never made to fit") {
  const LearnedModel e = learned_by_messages();
  LearnedModel judged = learned_by_messages();
  judged.model.judge(e.rows.some({0, 1, 2}));
  const std::string text = judged.model.text(), checkpoint = e.model.text("30x1");
  CHECK(refused_with(refusal_with(text, "/options/members", 3), "number of members"));
  CHECK(refused_with(refusal_with(text, "/options/members", 2.5), "\"members\" is 2.5"));
  CHECK(refused_with(refusal_with(text, "/options/members", 18446744073709551615u), "damaged"));
  CHECK(refused_with(refusal_with(text, "/options/layers/1", 99999999), "damaged"));
  CHECK(refused_with(refusal_with(text, "/options/layers/1", -1), "damaged"));
  CHECK(refused_with(refusal_with(text, "/options/layers/1", 4.5), "4.5"));
  CHECK(refused_with(refusal_with(text, "/options/slopes/0", 0), "slope"));
  CHECK(refused_with(refusal_with(text, "/options/slopes", 7), "damaged"));
  CHECK(refused_with(refusal_with(text, "/options/seed", "x"), "damaged"));
  CHECK(refused_with(refusal_with(text, "/options/feature_map", "hills"), "hills"));
  CHECK(refused_with(refusal_with(text, "/learned/noise_variance/0", -1), "noise"));
  CHECK(refused_with(refusal_with(text, "/training/rows", -30), "\"rows\" is -30"));
  CHECK(refused_with(refusal_with(text, "/training/options/evidence_weight", -1), "options of the fit"));
  CHECK(refused_with(refusal_with(text, "/learned/members/0/learned/epochs/0/epoch", 7), "epochs"));
  CHECK(refused_with(refusal_with(text, "/targets/1", "gr\x1b[2J"), "control characters"));
  CHECK(refused_with(refusal_with(checkpoint, "/training/options/batches", 2), "number of batches"));
  CHECK(refused_with(refusal_with(checkpoint, "/training/options/batches", 31), "rows or batches"));
  CHECK(refused_with(refusal_with(checkpoint, "/training/options/workers", 31), "number of workers"));
  CHECK(refused_with(refusal_with(checkpoint, "/data_fingerprint", ""), "fingerprint"));
  CHECK(refused_with(refusal_with(text, "/data_fingerprint", "30x1"), "fingerprint"));
  for (const std::string& file : {text, checkpoint}) {
    Json json = json_in_model(file);
    Json& precision = json["learned"]["members"][0]["learned"]["messages"][0]["precision"];
    precision = packed(-1e9 * unpacked(precision).cwiseAbs());
    CHECK(refused_with(refusal_of(model_file(model_kind(file), json)), "a precision is negative"));
  }
  check_all_refused(text, {shorter("/features"),
                           longer("/targets", "z"),
                           set("/features/0", "a\nb"),
                           longer("/classes", "a"),
                           set("/options/slopes", {0.1, 0.2}),
                           set("/options/noise", {1, 2, 3}),
                           set("/options/noise", {-1}),
                           {"/options", [](Json& json) { json["smoothing"] = -1; }},
                           set("/options/prior_variance_scale", "inf"),
                           set("/options/method", "magic"),
                           set("/options/noise_model", "quiet"),
                           longer("/options/layers", 2),
                           set("/options/kind_methods", 7),
                           shorter("/learned/noise_variance"),
                           set("/learned/fraction", 0.5),
                           set("/learned/fraction", -1),
                           at("/learned/inputs/scale", 0, 0),
                           shorter("/learned/inputs/shift"),
                           at("/learned/outputs/scale", 1, -1),
                           shorter("/learned/outputs/shift"),
                           set("/learned/outputs/log_from", packed(Eigen::Vector2d(1, 1))),
                           set("/learned/members", Json::array()),
                           shorter("/learned/members"),
                           shorter("/learned/members/0/priors"),
                           shorter("/learned/members/0/priors/0/mean"),
                           at("/learned/members/0/priors/0/variance", 0, -1),
                           at("/learned/members/0/priors/0/mean", 0, kNotANumber),
                           shorter("/learned/members/1/noise_variance"),
                           shorter("/learned/members/0/learned/messages/0/precision"),
                           at("/learned/members/0/learned/messages/0/precision_times_mean", 0, kInfinite),
                           set("/training/held_out/0/rmse", -1),
                           shorter("/training/held_out"),
                           set("/training/line", "\n"),
                           set("/training/report/stopped_by/0", "tired"),
                           set("/training/weight", -1),
                           set("/training/report/far", {40}),
                           set("/training/report/form", "\x1b"),
                           longer("/training/rows_of_classes", 3)});
}

TEST_CASE("model file: what does not fit a joint fit is refused") {
  LearnedModel e = learned_jointly(3);
  e.model.judge(e.rows.some({0, 1, 2}));
  const std::string graphs = "/learned/graphs", member = graphs + "/members/0", plain = member + "/plain_posterior";
  const std::vector<Damage> of_all = {set(graphs + "/fraction", 1.5),
                                      set("/learned/sizes", "3 hidden units\x1b[2J"),
                                      shorter(graphs + "/members"),
                                      shorter(graphs + "/lowest_inputs"),
                                      at(graphs + "/highest_inputs", 0, kNotANumber),
                                      set(graphs + "/choice/smoothing", -1),
                                      set(graphs + "/choice/sizes", {4}),
                                      set(graphs + "/choice/sizes", {3, 3}),
                                      set(graphs + "/choice/sizes", {0}),
                                      set(graphs + "/choice/sizes", {1'000'000}),
                                      set(graphs + "/choice/sizes", Json::array()),
                                      set(graphs + "/choice/relevance", packed(Eigen::Vector2d(1, 0))),
                                      set(graphs + "/choice/relevance", packed(Eigen::Vector2d(1, 2))),
                                      set(graphs + "/choice/relevance", packed(Eigen::Vector2d(1e-9, 1e-9))),
                                      set(graphs + "/choice/relevance", packed(Eigen::Vector3d(1, 1, 1))),
                                      shorter(plain + "/state/mean"),
                                      at(plain + "/state/mean", 0, kNotANumber),
                                      at(plain + "/state/scale", 0, 0),
                                      set(plain + "/state/scale", packed(Eigen::Vector2d(1, 1))),
                                      shorter(plain + "/state/noise"),
                                      set(plain + "/state/noise/0/log_variance", packed(Eigen::Vector2d(0, 0))),
                                      set(plain + "/state/noise/0/lowest", 1),
                                      set(plain + "/state/noise/0/precision", 0),
                                      set(plain + "/tails/0/scale", 0),
                                      set(plain + "/tails/0/degrees", 1),
                                      shorter(plain + "/tails"),
                                      set(plain + "/log_evidence", "nan"),
                                      set(plain + "/stretch", {0}),
                                      set(plain + "/stretch", {1, 1}),
                                      set(member + "/plain/noise", Json::array()),
                                      set(member + "/fraction", 0.6),
                                      set(member + "/effective_scalars", "nan"),
                                      set(member + "/since", -1),
                                      shorter("/learned/epochs"),
                                      set("/learned/epochs/0/0/epoch", 2),
                                      set("/learned/noise_variance/0", 1e308),
                                      set("/learned/noise_variance", {1, 1}),
                                      at("/learned/inputs/scale", 0, 0),
                                      set("/learned/directions", written(Eigen::MatrixXd(Eigen::MatrixXd::Ones(2, 1)))),
                                      set("/learned/frequencies_fraction", 2),
                                      set("/learned/frequencies_fraction", 0.5),
                                      set("/learned/frequencies", packed(Eigen::Vector2d(0.5, 0.5))),
                                      set("/learned/reason", "\n"),
                                      {"/training/report/left_out", [](Json& json) { json.push_back(json[0]); }},
                                      set("/training/report/left_out/0/explained", 1.5),
                                      set("/training/report/left_out/0/scores/coverage_50", 2),
                                      set("/training/report/graphs", 2),
                                      set("/training/report/frequencies", -1),
                                      set("/training/report/neighbours", {7}),
                                      set("/training/held_out_rows", -1)};
  check_all_refused(e.model.text(), of_all);
  check_all_refused(e.model.text("40x2"), of_all);
  check_all_refused(e.model.text(), {set("/learned/noise_variance", Json::array()), at(plain + "/factor", 0, -1),
                                     shorter(plain + "/factor"), set(plain + "/factor", packed(Eigen::VectorXd()))});
  const std::string by_rows = learned_jointly(30, Eigen::VectorXd::LinSpaced(40, 0.5, 4)).model.text();
  check_all_refused(
      by_rows, {at(plain + "/row_weights", 0, 0), shorter(plain + "/row_weights"),
                at(plain + "/learned_rows/numbers", 3, kInfinite), set(plain + "/learned_rows/rows", 41),
                shorter(plain + "/learned_rows/numbers"), set(plain + "/learned_rows", written(Eigen::MatrixXd()))});
  Json without = json_in_model(e.model.text());
  without["learned"]["graphs"].erase("simple");
  without["learned"]["graphs"]["fraction"] = 0.5;
  CHECK(refused_with(refusal_of(model_file("network", without)), "the simple graph is missing"));
  // A fit that was stopped in its first epoch is checked, too.
  TableModel begun = TableModel::network(e.model.network()->options(), {"a", "b"}, {"y"});
  std::string first;
  TableFit stopped = e.fit;
  stopped.on_epoch = [&](const TableEpoch&) {
    if (first.empty()) first = begun.text("40x2");
    return false;
  };
  begun.fit(e.rows, stopped);
  check_all_refused(first, {set("/learned/noise_variance", {1, 1, 1, 1}), set("/learned/noise_variance/0", -1),
                            set("/learned/epochs/0/0/epoch", 3), at(member + "/plain/mean", 0, kNotANumber),
                            shorter(member + "/plain/mean"), set(member + "/plain/epoch", -1)});
}

TEST_CASE("model file: what does not fit classes is refused") {
  LearnedModel e = learned_classes({"a", "b", "c"});
  e.model.judge(e.rows.some({0, 1, 2}));
  const std::string graphs = "/learned/graphs", member = graphs + "/members/0", plain = member + "/plain_posterior";
  check_all_refused(e.model.text(), {shorter("/features"),
                                     set("/features/0", "a\nb"),
                                     set("/targets/0", "\x1b"),
                                     longer("/targets", "b"),
                                     set("/options/slope", 2),
                                     set("/options/epochs", 0),
                                     set("/options/smoothing", -1),
                                     set("/options/prior_variance_scale", 0),
                                     set("/options/hidden", {0}),
                                     set("/classes/1", "a"),
                                     set("/classes/1", "a\nb"),
                                     shorter("/classes"),
                                     longer("/classes", "d"),
                                     set("/classes", {"a"}),
                                     at("/learned/inputs/scale", 0, 0),
                                     set("/learned/inputs/log_from", packed(Eigen::VectorXd::Ones(1))),
                                     set("/learned/inputs/log_from", packed(-Eigen::VectorXd::Ones(2))),
                                     at("/learned/frequencies", 0, 0.9),
                                     at("/learned/frequencies", 0, 0),
                                     shorter("/learned/frequencies"),
                                     set("/learned/frequencies_fraction", -0.1),
                                     set(member + "/fraction", 0.6),
                                     set(graphs + "/fraction", -0.1),
                                     at(plain + "/state/scale", 0, 0),
                                     set(plain + "/stretch/0", json_number(kInfinite)),
                                     at(plain + "/state/mean", 0, kNotANumber),
                                     longer(graphs + "/choice/sizes", 3),
                                     set(graphs + "/choice/sizes", {1'000'000}),
                                     at(plain + "/factor", 0, -1),
                                     shorter(plain + "/factor"),
                                     set(plain + "/factor", packed(Eigen::VectorXd::Ones(6))),
                                     {plain,
                                      [&](Json& json) {  // as of a posterior that is kept as rows
                                        json["factor"] = packed(Eigen::VectorXd());
                                        json["learned_rows"] = written(e.rows.inputs);
                                      }},
                                     set(plain + "/stretch", {1, 1}),
                                     shorter("/training/rows_of_classes"),
                                     set("/training/report/left_out_classes/accuracy", 1.5),
                                     set("/training/report/of_frequencies/log_loss", -1),
                                     set("/training/held_out_classes/calibration_error", 2),
                                     set("/training/report/stopped_by/0", "tired"),
                                     set("/learned/reason", "\n"),
                                     set("/training/report/form", "\n"),
                                     set("/training/report/graphs", 2)});
  check_all_refused(learned_directions().model.text(),
                    {set("/learned/directions", written(Eigen::MatrixXd(Eigen::MatrixXd::Ones(29, 11)))),
                     set("/learned/directions", written(Eigen::MatrixXd(Eigen::MatrixXd::Ones(30, 10)))),
                     at("/learned/directions/numbers", 7, kNotANumber)});
}

TEST_CASE("model file: what does not fit a graph is refused") {
  const std::string text = learned_groups().model.text(), classes = learned_scores().model.text(),
                    choices = learned_choices().model.text();
  check_all_refused(
      text, {set("/graph", "{}"), set("/graph", 7), set("/graph", "{\"variables\""), set("/graph_targets", {"x"}),
             set("/graph_targets", {"nobody"}), set("/graph_targets", Json::array()), set("/features", {"x"}),
             set("/features/0", "z"), set("/targets", {"x"}), set("/classes", {"a", "b"}), set("/options/starts", 0),
             set("/options/epochs", -1), set("/options/learn_noise", false), set("/options/seed", "x"),
             set("/learned/graphs/choice/relevance", packed(Eigen::Vector3d(1, 1, 1))),
             set("/learned/graphs/fraction", 0.5), shorter("/learned/graphs/lowest_inputs")});
  CHECK(refused_with(refusal_with(text, "/features/0", "z"), "its columns are not those of its graph"));
  CHECK(refused_with(refusal_with(text, "/classes", {"a", "b"}), "its classes are not those of its graph"));
  check_all_refused(classes, {shorter("/classes"), set("/classes", Json::array()), set("/classes/0", "blue"),
                              set("/classes/0", "\n"), shorter("/training/rows_of_classes")});
  const std::string neighbours = "/learned/neighbours", output = neighbours + "/outputs/0";
  check_all_refused(
      choices,
      {set("/learned/graphs/choice/sizes", Json::array()), set("/learned/graphs/choice/sizes", {4, 4}),
       set("/learned/graphs/choice/sizes", {2}), set("/learned/graphs/choice/smoothing", -1),
       set(neighbours + "/rows/rows", 60), at(neighbours + "/rows/numbers", 0, kNotANumber),
       shorter(neighbours + "/targets/numbers"), shorter(neighbours + "/outputs"), set(output + "/fraction", 2),
       shorter(output + "/trend"), shorter(output + "/lengthscales"), at(output + "/lengthscales", 0, 0),
       set(output + "/signal", -1), set(output + "/noise", 0), set(output + "/tails/scale", 0),
       set(output + "/trend_covariance", written(Eigen::MatrixXd(Eigen::MatrixXd::Ones(1, 2)))),
       set(neighbours + "/row_weights", packed(Eigen::VectorXd::Ones(3)))});
}

TEST_CASE("model file: rows and classes of neighbours that cannot be are refused") {
  std::vector<std::string> names = {"a", "b"};
  // A chessboard: nearest rows know it best.
  const Eigen::MatrixXd x = 3 * Eigen::MatrixXd::Random(300, 2);
  Eigen::MatrixXd numbers(300, 1);
  for (Eigen::Index n = 0; n < 300; ++n)
    numbers(n, 0) = (std::lround(std::floor(x(n, 0))) + std::lround(std::floor(x(n, 1)))) % 2 == 0 ? 0 : 1;
  TableModel model =
      TableModel::classifier({.hidden = std::vector<std::size_t>{2}, .members = 1}, {"u", "v"}, "kind", names);
  const TableReport report = model.fit({x, numbers}, class_fit({}));
  REQUIRE(!report.neighbours.empty());
  CHECK(read_again(model.text()).probabilities(x) == model.probabilities(x));
  const std::string nearest = "/learned/class_neighbours";
  check_all_refused(model.text(),
                    {set(nearest + "/fraction", 2), set(nearest + "/width", 0), set(nearest + "/doubt", 0),
                     shorter(nearest + "/scales"), at(nearest + "/rows/numbers", 0, kNotANumber),
                     set(nearest + "/rows/rows", 150), set(nearest + "/classes/0", 2), set(nearest + "/classes/0", -1),
                     shorter(nearest + "/classes"), set(nearest + "/row_weights", packed(Eigen::VectorXd::Ones(3))),
                     set(nearest + "/row_weights", packed(-Eigen::VectorXd::Ones(300)))});
}
