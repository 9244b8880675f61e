#include "tools/dma/page/parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <numeric>
#include <set>

#include "engine/support/json.h"
#include "engine/support/parallel.h"
#include "engine/support/text.h"
#include "tools/dma/help/version.h"

namespace dma::report {

namespace {

using Places = std::vector<Eigen::Index>;

Json column_facts(const std::vector<std::string>& names, const Eigen::MatrixXd& values) {
  Json all = Json::array();
  for (Eigen::Index i = 0; i < values.cols(); ++i) {
    const Eigen::ArrayXd column = values.col(i).array();
    const double mean =
        (column / static_cast<double>(column.size())).sum();  // the sum may be beyond the largest double
    all.push_back({{"name", names[static_cast<std::size_t>(i)]},
                   {"lowest", json_number(column.minCoeff())},
                   {"mean", json_number(mean)},
                   {"highest", json_number(column.maxCoeff())}});
  }
  return all;
}

// Places in `found.inputs`, most important for this output first.
Places ranked(const PermutationImportance& found, std::size_t output) {
  Places order(found.inputs.size());
  std::iota(order.begin(), order.end(), Eigen::Index{0});
  std::ranges::stable_sort(order, [&](Eigen::Index a, Eigen::Index b) {
    return found.inputs[static_cast<std::size_t>(a)][output].mean >
           found.inputs[static_cast<std::size_t>(b)][output].mean;
  });
  return order;
}

Json curve_of(const Dependence& curve, Eigen::Index output, const std::string& name, const Eigen::VectorXd& values) {
  Json json = {{"name", name}, {"x", short_numbers(curve.x)}, {"mean", short_numbers(curve.mean.col(output))}};
  if (curve.sd.cols() > 0) {
    constexpr double kNinetyFive = 1.959964;
    json["low"] = short_numbers(curve.mean.col(output) - kNinetyFive * curve.sd.col(output));
    json["high"] = short_numbers(curve.mean.col(output) + kNinetyFive * curve.sd.col(output));
  }
  const std::vector<double> all(values.begin(), values.end());
  json["deciles"] = Json::array();
  for (int tenth = 1; tenth < 10; ++tenth) json["deciles"].push_back(short_number(quantile_of(all, tenth / 10.0)));
  return json;
}

}  // namespace

Json short_number(double value) {
  return json_number(std::isfinite(value) ? std::strtod(fmt::format("{:.6g}", value).c_str(), nullptr) : value);
}

Json short_numbers(const Eigen::VectorXd& values) {
  Json all = Json::array();
  for (const double value : values) all.push_back(short_number(value));
  return all;
}

Json json_of(const std::vector<StatedFraction>& curve) {
  Json all = Json::array();
  for (const StatedFraction& fraction : curve)
    all.push_back({{"stated", short_number(fraction.stated)},
                   {"found", short_number(fraction.found)},
                   {"rows", fraction.rows},
                   {"chance_low", short_number(fraction.low)},
                   {"chance_high", short_number(fraction.high)}});
  return all;
}

Json training_json(const std::vector<std::vector<double>>& curves) {
  constexpr std::size_t kMostEpochs = 200;
  Json all = Json::array();
  for (const std::vector<double>& epochs : curves) {
    Json json = {{"epoch", Json::array()}, {"value", Json::array()}};
    const std::size_t shown = std::min(epochs.size(), kMostEpochs);
    for (std::size_t i = 0; i < shown; ++i) {
      const std::size_t e = shown < 2 ? i : i * (epochs.size() - 1) / (shown - 1);
      json["epoch"].push_back(e + 1);
      json["value"].push_back(short_number(epochs[e]));
    }
    all.push_back(std::move(json));
  }
  return all;
}

Json about(const Origin& origin, const std::string& warning, const TrainingData& data) {
  Json json = {{"made_by", fmt::format("dma {}", version())},
               {"command", printable(origin.command)},
               {"warning", printable(warning)}};
  json["data"] = {{"file", printable(origin.file)},
                  {"rows", data.rows()},
                  {"held_out_rows", data.held_out_rows()},
                  {"ignored", printable(data.ignored)},
                  {"inputs", column_facts(data.features, data.inputs)}};
  if (!data.has_classes()) json["data"]["targets"] = column_facts(data.targets, data.outputs);
  return json;
}

namespace {

// The columns of the table, each with the places of the features that it made and that are among these columns.
struct TableParts {
  std::vector<std::string> names;
  std::vector<Places> places;
};
TableParts parts_of(const TrainingData& data, const Places& columns) {
  std::map<std::string, std::string> sources;
  const std::vector<std::string> made = data.coding.columns();
  std::size_t next = 0;
  for (const ColumnRule& rule : data.coding.rules)
    for (std::size_t left = rule.columns().size(); left > 0; --left) sources[made[next++]] = rule.name;
  std::map<std::string, std::size_t> known;
  TableParts parts;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const std::string& feature = data.features[static_cast<std::size_t>(columns[i])];
    const auto source = sources.find(feature);
    const std::string& name = source == sources.end() ? feature : source->second;
    const auto [at, is_new] = known.emplace(name, parts.names.size());
    if (is_new) parts.names.push_back(name), parts.places.emplace_back();
    parts.places[at->second].push_back(static_cast<Eigen::Index>(i));
  }
  return parts;
}

}  // namespace

Matters what_matters(const TrainingData& data, const Effort& effort, std::uint64_t seed,
                     const std::function<Loss(const Places& rows)>& loss_of, const Model& model) {
  const Places rows = sample_rows(data.inputs.rows(), effort.rows, seed);
  const Eigen::MatrixXd inputs = data.inputs(rows, Eigen::all);
  Places columns(data.features.size());
  std::iota(columns.begin(), columns.end(), Eigen::Index{0});
  if (effort.columns < data.inputs.cols()) columns = columns_to_shuffle(inputs, model(inputs).mean, effort.columns);
  const Loss all_columns = loss_of(rows);
  const Loss loss = [&](const Eigen::MatrixXd& some) {
    Eigen::MatrixXd whole = inputs;
    whole(Eigen::all, columns) = some;
    return all_columns(whole);
  };
  const TableParts parts = parts_of(data, columns);
  const PermutationImportance found =
      permutation_importance(inputs(Eigen::all, columns), parts.places, loss, effort.shuffles, seed);

  Matters matters;
  matters.how = {{"rows", rows.size()},
                 {"shuffles", effort.shuffles},
                 {"columns", columns.size()},
                 {"averaged_rows", effort.dependence_rows}};
  const auto name = [&](Eigen::Index place) -> const std::string& {
    return data.features[static_cast<std::size_t>(columns[static_cast<std::size_t>(place)])];
  };
  std::vector<Places> with_curve;
  std::set<Eigen::Index> any_curve;
  for (std::size_t j = 0; j < static_cast<std::size_t>(found.before.size()); ++j) {
    const Places order = ranked(found, j);
    Json json = {{"before", json_number(found.before(static_cast<Eigen::Index>(j)))}, {"inputs", Json::array()}};
    for (const Eigen::Index place : order) {
      const Importance& one = found.inputs[static_cast<std::size_t>(place)][j];
      json["inputs"].push_back({{"name", parts.names[static_cast<std::size_t>(place)]},
                                {"rise", json_number(one.mean)},
                                {"sd", json_number(one.sd)}});
    }
    matters.importance.push_back(std::move(json));
    Places& curves = with_curve.emplace_back();
    for (const Eigen::Index part : order)
      for (const Eigen::Index place : parts.places[static_cast<std::size_t>(part)])
        if (std::ssize(curves) < effort.dependences) curves.push_back(place);
    any_curve.insert(with_curve.back().begin(), with_curve.back().end());
  }

  if (any_curve.empty()) return matters;
  const Eigen::MatrixXd averaged =
      data.inputs(sample_rows(data.inputs.rows(), effort.dependence_rows, seed + 1), Eigen::all);
  std::vector<Dependence> curves(columns.size());
  const Places places(any_curve.begin(), any_curve.end());
  parallel_for(places.size(), all_processors(), [&](std::size_t task) {
    const auto place = static_cast<std::size_t>(places[task]);
    curves[place] = partial_dependence(averaged, columns[place],
                                       dependence_grid(data.inputs.col(columns[place]), effort.grid), model);
  });
  const Eigen::Index outputs = curves[static_cast<std::size_t>(*any_curve.begin())].mean.cols();
  for (Eigen::Index j = 0; j < outputs; ++j) {
    Json json = Json::array();
    for (const Eigen::Index place : with_curve[std::min(static_cast<std::size_t>(j), with_curve.size() - 1)])
      json.push_back(curve_of(curves[static_cast<std::size_t>(place)], j, name(place),
                              data.inputs.col(columns[static_cast<std::size_t>(place)])));
    matters.dependence.push_back(std::move(json));
  }
  return matters;
}

}  // namespace dma::report
