// What a JointLearner has learned, as text. Members are in the order of their names.
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "engine/learn/joint/joint_learner_impl.h"
#include "engine/support/error.h"
#include "engine/support/json.h"
#include "engine/support/usable.h"

namespace dma {

namespace {

constexpr std::string_view kFormat = "dma joint learner 1";

std::vector<double> listed(const Vector& vector) { return {vector.begin(), vector.end()}; }

Vector vector_of(const Json& json, Index size) {
  const auto numbers = json.get<std::vector<double>>();
  if (static_cast<Index>(numbers.size()) != size)
    fail("load: a list has {} numbers, {} are expected", numbers.size(), size);
  const Vector vector = Eigen::Map<const Vector>(numbers.data(), size);
  return vector;
}

// The lower triangle, column by column.
std::vector<double> triangle(const Matrix& lower) {
  std::vector<double> numbers;
  for (Index j = 0; j < lower.cols(); ++j)
    for (Index i = j; i < lower.rows(); ++i) numbers.push_back(lower(i, j));
  return numbers;
}

Matrix matrix_of(const Json& json, Index size) {
  const Vector numbers = vector_of(json, size * (size + 1) / 2);
  Matrix lower = Matrix::Zero(size, size);
  for (Index j = 0, at = 0; j < size; ++j)
    for (Index i = j; i < size; ++i) lower(i, j) = numbers(at++);
  expect(is_factor(lower, size), "load: the factor of a precision matrix is not usable");
  return lower;
}

// What must be the same in the learner that loads it.
Json shape_of(const Graph& graph, const RowProgram& program, const std::vector<VariableId>& targets) {
  const auto sizes = [&](const std::vector<VariableId>& variables) {
    Json list = Json::array();
    for (const VariableId v : variables) list.push_back({graph[v].name, graph[v].size});
    return list;
  };
  return {{"inputs", sizes(program.inputs())}, {"shared", sizes(program.shared())}, {"targets", sizes(targets)}};
}

// In whatever order a file has them.
bool has_members_of(const Json& json, const Json& object) {
  return json.is_object() && json.size() == object.size() &&
         std::ranges::is_permutation(json.get_ref<const Json::object_t&>(), object.get_ref<const Json::object_t&>());
}

[[noreturn]] void refuse(std::string_view why) {
  fail("load: the text is not what save() of such a learner wrote{}{}", why.empty() ? "" : ": ", why);
}

}  // namespace

std::string JointLearner::save() const {
  const Impl& l = *impl_;
  l.check_fitted("save");
  Json json{{"examples", l.known},
            {"format", kFormat},
            {"frozen", l.is_frozen},
            {"graph", shape_of(l.graph, l.program, l.targets)},
            {"starts", Json::array()}};
  for (const Impl::Start& start : l.starts) {
    Json noise = Json::array(), tails = Json::array();
    for (const LogLinearNoise& own : start.posterior.state.noise)
      noise.push_back(
          {{"beta", listed(own.beta)}, {"highest", own.highest}, {"lowest", own.lowest}, {"precision", own.precision}});
    for (const StudentTails& own : start.posterior.tails) tails.push_back({own.degrees, own.scale});
    json["starts"].push_back({{"effective_scalars", start.effective_scalars},
                              {"epoch", start.posterior.state.epoch},
                              {"factor", triangle(start.posterior.factor)},
                              {"log_evidence", start.posterior.log_evidence},
                              {"mean", listed(start.mean)},
                              {"noise", noise},
                              {"scale", listed(start.posterior.state.scale)},
                              {"stretch", start.posterior.stretch},
                              {"tails", tails}});
  }
  return json_text(json);
}

void JointLearner::load(std::string_view text) try {
  Impl& l = *impl_;
  const Json json = parse_json(text), shape = shape_of(l.graph, l.program, l.targets);
  if (json.at("format") != kFormat) refuse({});
  if (!has_members_of(json.at("graph"), shape))
    fail("load: it was saved from another graph: {} instead of {}", json_text(json.at("graph")), json_text(shape));
  if (json.at("starts").empty()) fail("load: nothing was learned");
  auto frozen = json.at("frozen").get<std::vector<std::uint8_t>>();
  if (frozen.size() != l.is_frozen.size()) fail("load: the list of frozen scalars has the wrong length");
  std::swap(l.is_frozen, frozen);
  const std::vector<Index> free = l.free();
  std::swap(l.is_frozen, frozen);
  const std::size_t outputs = l.program.noise().size();
  std::vector<Impl::Start> starts;
  for (const Json& saved : json.at("starts")) {
    Impl::Start& start = starts.emplace_back();
    start.mean = vector_of(saved.at("mean"), l.program.scalars());
    SharedState state{.mean = start.mean(free),
                      .scale = vector_of(saved.at("scale"), l.prior(start).group_count()),
                      .noise = {},
                      .epoch = whole<int>(saved, "epoch")};
    for (const Json& own : saved.at("noise")) {
      const auto size = static_cast<Index>(own.at("beta").size());
      if (size != 1 && size != 1 + l.program.input_size())
        fail("load: noise with {} coefficients does not fit the graph", size);
      state.noise.push_back({vector_of(own.at("beta"), size), own.at("precision").get<double>(),
                             own.at("lowest").get<double>(), own.at("highest").get<double>()});
    }
    start.posterior.stretch = saved.value("stretch", std::vector<double>());  // younger than the format
    for (const Json& own : saved.at("tails"))
      start.posterior.tails.push_back({own.at(0).get<double>(), own.at(1).get<double>()});
    start.posterior.state = start.state = state;
    start.posterior.log_evidence = saved.at("log_evidence").get<double>();
    start.posterior.factor = matrix_of(saved.at("factor"), static_cast<Index>(free.size()));
    start.effective_scalars = saved.at("effective_scalars").get<double>();
    check_posterior(start.posterior, static_cast<Index>(free.size()), outputs, l.program.input_size());
    expect(is_moderate(start.mean) && std::isfinite(start.effective_scalars),
           "a number of the learned state is not usable");
  }
  Impl::weigh(starts);
  l.known = whole<std::size_t>(json, "examples");
  l.is_frozen = std::move(frozen);
  l.starts = std::move(starts);
  l.data = {{}, {}, {}, l.data.likelihoods};
  l.rows_are_there = false;
} catch (const Json::exception& error) {
  refuse(error.what());
}

}  // namespace dma
