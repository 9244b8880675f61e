// Sets the observations of a graph that was read, and adds locations to error messages.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "engine/compile/plan_data.h"
#include "engine/joint/joint.h"
#include "engine/support/text.h"
#include "models/graphs/distinct_keys.h"
#include "models/graphs/graph_file.h"

namespace dma {

void GraphFile::add_hypers(JointOptions& options) const {
  options.hypers.insert(options.hypers.end(), hypers.begin(), hypers.end());
  for (const auto& [name, factor, sd, concentration] : covariances)
    learn_covariance(options, name, factor, sd, concentration);
}

void GraphFile::observe(State& state) const {
  for (const auto& [variable, values] : observations) {
    const bool is_missing = std::ranges::none_of(values, [](const auto& value) { return value.has_value(); });
    if (is_missing && values.size() == state.plan()->variable(variable).elements())
      state.observe(variable, std::nullopt);
    else
      state.observe(variable, values);
  }
  std::vector<double> start;
  for (const auto& [variable, values] : starts) {
    if (state.plan()->schedule.name != "joint") break;
    start.clear();
    for (const auto& value : values) start.push_back(value.value_or(std::nan("")));
    set_start(state, variable, start);
  }
}

std::unordered_set<std::string_view> variables_of(std::span<const GivenText> given) {
  std::unordered_set<std::string_view> names;
  for (const GivenText& one : given) names.insert(one.variable);
  return names;
}

void GraphFile::observe(std::span<const GivenText> given) {
  std::vector<std::size_t> place(graph.variables().size(), observations.size() + given.size());  // by variable
  for (std::size_t i = 0; i < observations.size(); ++i) place[observations[i].variable.value] = i;
  for (const auto& [name, text] : given) {
    const VariableId id = graph.find_variable(name);
    std::vector<std::optional<double>> values;
    for (std::size_t first = 0; first <= text.size();) {
      const std::size_t end = graph[id].size == 1 ? text.size() : std::min(text.find(',', first), text.size());
      const std::size_t begin = std::min(text.find_first_not_of(' ', first), end);
      values.emplace_back(graph.category(id, std::string_view(text).substr(begin, end - begin)));
      first = end + 1;
    }
    std::size_t& at = place[id.value];
    if (at < observations.size())
      observations[at].values = std::move(values);
    else {
      at = observations.size();
      observations.push_back({id, std::move(values)});
    }
  }
}

std::string located(const GraphFile& file, const std::string& complaint) {
  const std::size_t end = complaint.find("; did you mean");  // names behind it are suggestions
  for (std::size_t open = complaint.find('\''); open < end; open = complaint.find('\'', open + 1)) {
    const std::size_t close = complaint.find('\'', open + 1);
    if (close == std::string::npos) break;
    const std::string name = complaint.substr(open + 1, close - open - 1);
    std::size_t i = 0;
    for (const Graph::Factor& factor : file.graph.factors()) {
      if (factor.name() == name)
        return fmt::format("{}: {}", i < file.places.size() ? file.places[i] : fmt::format("/factors/{}", i),
                           complaint);
      ++i;
    }
    for (const Graph::Variable& variable : file.graph.variables())
      if (variable.name == name && file.places.empty())
        return fmt::format("/variables/{}: {}", escaped_key(name), complaint);
    // An unknown kind.
    const auto& factors = file.graph.factors();
    const auto of_kind =
        std::ranges::find(factors, name, [](const Graph::Factor& factor) { return std::string(factor.kind); });
    if (of_kind != factors.end() && complaint.starts_with("no factor kind"))
      return fmt::format("/factors/{}/kind: {}", of_kind - factors.begin(), complaint);
  }
  return complaint;
}

}  // namespace dma
