#include "tools/dma/commands/infer_output.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>
#include <span>

#include "engine/compile/plan_data.h"
#include "engine/support/text.h"
#include "tools/dma/io/standard_streams.h"

namespace dma {

namespace {

constexpr std::size_t kShownElements = 12;

std::string element_name(const Belief& belief, const std::string& name, std::size_t i) {
  return belief.size() == 1 ? name : fmt::format("{}[{}]", name, i);
}

// Elements without information among the first `shown` variables.
std::vector<std::string> uninformed(const Graph& graph, const State& state, std::size_t shown) {
  std::vector<std::string> names;
  for (std::size_t v = 0; v < shown; ++v) {
    if (graph.variables()[v].observed) continue;
    const Belief belief = state.belief(VariableId{static_cast<std::uint32_t>(v)});
    for (std::size_t i = 0; i < belief.size(); ++i)
      if (belief.is_uninformed(i)) names.push_back(element_name(belief, graph.variables()[v].name, i));
  }
  return names;
}

// "= LOW", or "LOW 0.12, NORMAL 0.8, HIGH 0.08": the belief of a variable whose categories have names.
std::string text_by_name(std::span<const std::string> categories, const Belief& belief, std::size_t i) {
  const Components message = belief.message(i);
  std::vector<double> means = Belief("", belief.family(), {message.begin(), message.end()}).means();
  if (means.size() == 1) means.insert(means.begin(), 1 - means[0]);  // yes or no
  std::vector<std::string> parts;
  for (std::size_t k = 0; k < categories.size(); ++k) {
    const double p = means[k];
    if (belief.message(i)[0].is_point() && p == 1) return "= " + printable(categories[k]);
    parts.push_back(fmt::format("{} {:.4g}", printable(categories[k]), p));
  }
  return joined(parts);
}

using Rename = std::function<std::string(std::string)>;

void print_beliefs(const Graph& graph, const State& state, std::size_t shown, const Rename& renamed) {
  std::size_t width = 8;
  for (std::size_t v = 0; v < shown; ++v) {
    const Graph::Variable& variable = graph.variables()[v];
    width = std::max(width, variable.name.text().size() + (variable.size > 1 ? 5 : 0));
  }
  for (std::size_t v = 0; v < shown; ++v) {
    const Graph::Variable& variable = graph.variables()[v];
    const Belief belief = state.belief(VariableId{static_cast<std::uint32_t>(v)});
    const auto is_missing = [&](std::size_t i) {
      return state.is_missing(VariableId{static_cast<std::uint32_t>(v)}, i);
    };
    const std::span<const std::string> names = graph.categories(VariableId{static_cast<std::uint32_t>(v)});
    for (std::size_t i = 0; i < std::min(belief.size(), kShownElements); ++i)
      fmt::print("  {:<{}}  {}{}\n", renamed(element_name(belief, variable.name, i)), width,
                 names.empty() ? belief.family()->text(belief.message(i)) : text_by_name(names, belief, i),
                 is_missing(i) ? ", missing" : "");
    if (belief.size() > kShownElements)
      fmt::print("  {:<{}}  {} more; --json prints them all\n", "", width, belief.size() - kShownElements);
  }
}

Json beliefs_json(const Graph& graph, const State& state, std::size_t shown) {
  Json json = Json::object();
  for (std::size_t v = 0; v < shown; ++v) {
    const Belief belief = state.belief(VariableId{static_cast<std::uint32_t>(v)});
    Json& entry = json[graph.variables()[v].name.text()] = {{"family", belief.family().text()}};
    for (const std::string& category : graph.categories(VariableId{static_cast<std::uint32_t>(v)}))
      entry["categories"].push_back(category);
    for (const double mean : belief.means()) entry["mean"].push_back(json_number(mean));
    for (const double variance : belief.variances()) entry["sd"].push_back(json_number(std::sqrt(variance)));
  }
  return json;
}

// The belief of each hyper; nothing where their integral was not found.
std::vector<std::pair<std::string, HyperBelief>> hypers_of(const SolvedFile& solved) {
  std::vector<std::pair<std::string, HyperBelief>> out;
  for (const Hyper& hyper : solved.options.hypers)
    if (solved.answer.report.joint && solved.answer.report.joint->hypers)
      out.emplace_back(hyper.name, JointPosterior(solved.answer.state).hyper(hyper.name));
  return out;
}

// All variables; of poses those that are poses and points, not the residuals that are made of them.
std::size_t shown_variables(const SolvedFile& solved) {
  const auto& variables = solved.file.graph.variables();
  if (!solved.poses) return variables.size();
  std::size_t shown = 0;
  for (const std::string_view name : {"pose", "fixed", "point"}) shown += variables[shown].name == name ? 1 : 0;
  return shown;
}

}  // namespace

FoundEvidence evidence_of(const Answer& solved) {
  try {
    const Evidence found = evidence(solved.plan, solved.state);
    return {found.log_value, found.line(), found.factors.empty() ? "" : found.text(), found.why};
  } catch (const Error& error) {
    return {{}, fmt::format("log evidence: none; {}", error.what()), "", ""};
  }
}

void print_columns(const GraphFile& file, const std::string& name) {
  std::vector<std::string> columns, shared;
  std::vector<bool> is_given(file.graph.variables().size());
  for (const GraphFile::Observation& one : file.observations)
    if (std::ranges::any_of(one.values, [](const auto& x) { return x.has_value(); }))
      is_given[one.variable.value] = true;
  for (std::uint32_t v = 0; v < file.graph.variables().size(); ++v) {
    const Graph::Variable& variable = file.graph.variables()[v];
    if (variable.observed && !is_given[v]) columns.push_back(variable.name);
    if (variable.shared) shared.push_back(variable.name);
  }
  if (!columns.empty() && !shared.empty())
    fmt::print(
        "no value is given for {}: dma fit data.csv --graph {} --target {} learns {} from a table with such columns\n",
        joined(columns), shell_quoted(name), shell_quoted(columns.back()), joined(shared));
}

Json json_of(const SolvedFile& solved) {
  const auto& [file, poses, options, answer, found] = solved;
  const std::size_t shown = shown_variables(solved);
  Json json{{"schedule", answer.solver},
            {"report", answer.report.line()},
            {"converged", answer.report.converged()},
            {"beliefs", beliefs_json(file.graph, answer.state, shown)},
            {"uninformed", uninformed(file.graph, answer.state, shown)}};
  json["log_evidence"] = found.value ? json_number(*found.value) : Json();
  if (found.value) json["log_evidence_is_exact"] = found.why.empty();
  for (const auto& [name, belief] : hypers_of(solved))
    json["hypers"][name] = {{"mean", belief.mean()}, {"sd", belief.sd()}, {"median", belief.quantile(0.5)}};
  if (!found.why.empty()) json["log_evidence_why"] = found.why;
  return json;
}

void print_solved(const SolvedFile& solved, bool by_factor, bool verbose) {
  const auto& [file, poses, options, answer, found] = solved;
  const Rename renamed = [&](std::string name) {
    return solved.poses ? solved.poses->by_vertex(std::move(name)) : name;
  };
  const std::size_t shown_count = shown_variables(solved);
  print_beliefs(file.graph, answer.state, shown_count, renamed);
  for (const auto& [name, belief] : hypers_of(solved))
    fmt::print("  {:<8}  {:.4g} +- {:.4g}, 90 % from {:.4g} to {:.4g}\n", name, belief.mean(), belief.sd(),
               belief.quantile(0.05), belief.quantile(0.95));
  const std::string line = answer.report.line();
  fmt::print("{}{}\n", line.starts_with(answer.solver + ":") ? "" : answer.solver + ": ", renamed(line));
  if (verbose) fmt::print("solver: {}, {}\n{}", answer.solver, answer.why, renamed(answer.report.text()));
  const std::vector<std::string> open = uninformed(file.graph, answer.state, shown_count);
  if (const std::size_t shown = std::min(open.size(), kShownElements); shown > 0)
    fmt::print("nothing informs {}{}\n", renamed(joined(std::span(open).first(shown))),
               shown < open.size() ? fmt::format(" and {} more", open.size() - shown) : "");
  fmt::print("{}\n", by_factor && !found.parts.empty() ? found.parts.substr(0, found.parts.find_last_not_of('\n') + 1)
                                                       : found.line);
  if (!answer.why_not_exact.empty()) fmt::print("not {}\n", answer.why_not_exact);
  if (found.value == -kInfinity && found.why.empty() && !answer.plan->solver)
    fmt::print("the observations are impossible under this graph\n");
}

}  // namespace dma
