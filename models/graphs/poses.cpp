#include "models/graphs/expressions.h"
#include "models/graphs/graph_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <optional>

#include "engine/run/run.h"
#include "engine/support/text.h"

namespace dma {

namespace {

struct FamilySize {
  std::string_view name;
  std::size_t numbers;
};
constexpr std::array<FamilySize, 4> kFamilies = {{{"angle", 1}, {"rotation", 3}, {"pose2", 3}, {"pose3", 6}}};

// Number of components of a point of that family; an Error for any other family.
std::size_t numbers_of(std::string_view who, const Graph& g, VariableId x, bool is_pose) {
  for (const auto& [name, numbers] : kFamilies)
    if (g[x].family == name && (!is_pose || name.starts_with("pose"))) return numbers;
  fail("{}: variable '{}' is {}; {} is expected", who, g[x].name, g[x].family.empty() ? "gaussian" : g[x].family,
       is_pose ? "a pose2 or pose3" : "an angle, rotation, pose2 or pose3");
}

VariableId measure(Graph& g, const std::string& what, std::vector<Connection> ends, std::size_t size,
                   const std::vector<double>& measured, const SpreadMatrix& matrix, const Loss& loss) {
  const Connection& first = ends[0];
  const std::size_t slots = first.reach == Reach::gather ? first.table.size() : g[first.variable].size;
  if (measured.size() != size && measured.size() != size * slots)
    fail("{} of '{}': {} numbers are measured; {} or, for each of {}, {} are expected", what, g[first.variable].name,
         measured.size(), size, slots, size * slots);
  const std::string kind = std::string(g[first.variable].family) + "_" + what;
  const VariableId r = g.variable("", size * slots);
  ends.emplace_back("r", r);
  g.factor(kind, std::move(ends), {{"measured", measured}});
  weigh_residuals(g, r, size, matrix, loss);
  return r;
}

// The first pose, if the file fixes none.
std::vector<bool> fixed_in(const PoseGraph& graph) {
  std::vector<bool> out;
  for (const PoseGraph::Vertex& v : graph.vertices) out.push_back(v.is_fixed);
  const auto first = std::ranges::find(graph.vertices, false, &PoseGraph::Vertex::is_point);
  if (std::ranges::find(out, true) == out.end() && first != graph.vertices.end())
    out[static_cast<std::size_t>(first - graph.vertices.begin())] = true;
  return out;
}

VariableId sight(Graph& g, const std::string& what, const Connection& x, const Connection& p, std::size_t size,
                 const std::vector<double>& measured, const SpreadMatrix& matrix, const Loss& loss) {
  return measure(g, what, {{"x", x}, {"p", p}}, size, measured, matrix, loss);
}

}  // namespace

VariableId between(Graph& g, const Connection& a, const Connection& b, const std::vector<double>& measured,
                   const SpreadMatrix& matrix, const Loss& loss) {
  const std::size_t size = numbers_of("between", g, a.variable, false);
  return measure(g, "between", {{"a", a}, {"b", b}}, size, measured, matrix, loss);
}

VariableId point_prior(Graph& g, const Connection& x, const std::vector<double>& at, const SpreadMatrix& matrix,
                       const Loss& loss) {
  const std::size_t size = numbers_of("point_prior", g, x.variable, false);
  return measure(g, "offset", {{"x", x}}, size, at, matrix, loss);
}

VariableId range(Graph& g, const Connection& x, const Connection& p, const std::vector<double>& measured,
                 const SpreadMatrix& matrix, const Loss& loss) {
  (void)numbers_of("range", g, x.variable, true);
  return sight(g, "range", x, p, 1, measured, matrix, loss);
}

VariableId bearing(Graph& g, const Connection& x, const Connection& p, const std::vector<double>& measured,
                   const SpreadMatrix& matrix, const Loss& loss) {
  const std::size_t angles = numbers_of("bearing", g, x.variable, true) == 3 ? 1 : 2;
  return sight(g, "bearing", x, p, angles, measured, matrix, loss);
}

VariableId landmark(Graph& g, const Connection& x, const Connection& p, const std::vector<double>& measured,
                    const SpreadMatrix& matrix, const Loss& loss) {
  return sight(g, "landmark", x, p, numbers_of("landmark", g, x.variable, true) == 3 ? 2 : 3, measured, matrix, loss);
}

Loss parse_loss(const std::string& text) {
  if (text.empty()) return {};
  const std::size_t colon = text.find(':');
  const std::string kind = text.substr(0, colon), width = colon == std::string::npos ? "1" : text.substr(colon + 1);
  char* end = nullptr;
  const double number = std::strtod(width.c_str(), &end);
  if ((kind != "huber" && kind != "cauchy") || width.empty() || *end != 0 || !(number > 0 && number < kInfinity))
    fail("the loss is '{}'; huber or cauchy is expected, or huber:1.5 with its width in standard deviations", text);
  return {kind, number};
}

GraphFile PoseGraph::graph(const Loss& loss) const {
  GraphFile file;
  file.schedule = "joint";
  const std::string family = is_3d ? "pose3" : "pose2";
  const std::vector<bool> is_fixed = fixed_in(*this);
  std::vector<std::uint32_t> place(vertices.size());  // index among vertices of the same type
  std::array<GraphFile::Observation, 3> points{};     // free, fixed, landmarks
  std::array<std::uint32_t, 3> counts = {};
  for (std::size_t v = 0; v < vertices.size(); ++v) {
    const std::size_t sort = vertices[v].is_point ? 2 : is_fixed[v];
    place[v] = counts[sort]++;
    points[sort].values.insert(points[sort].values.end(), vertices[v].at.begin(), vertices[v].at.end());
  }
  if (counts[0] > 0) {
    points[0].variable = file.graph.variable("pose", counts[0], family);
    file.starts.push_back(points[0]);
  }
  points[1].variable = file.graph.observed("fixed", counts[1], family);
  file.observations.push_back(points[1]);
  if (counts[2] > 0) {
    points[2].variable = file.graph.variable("point", points[2].values.size());
    file.starts.push_back(points[2]);
  }
  // Plates of edges with the same ends and loss.
  const bool has_loss = !loss.kind.empty();
  for (int sort = 0; sort < 16; ++sort) {
    const bool from_fixed = sort & 1, to_fixed = sort & 2, is_loop = sort & 4, to_point = sort & 8;
    std::vector<std::uint32_t> from, to;
    std::vector<double> measured, information;
    for (const Edge& e : edges) {
      const std::uint64_t a = vertices[e.from].id, b = vertices[e.to].id;
      if (is_fixed[e.from] != from_fixed || is_fixed[e.to] != to_fixed || vertices[e.to].is_point != to_point ||
          (has_loss && !to_point && a + 1 != b && b + 1 != a) != is_loop)
        continue;
      from.push_back(place[e.from]);
      const auto numbers = static_cast<std::uint32_t>(to_point ? e.measured.size() : 1);
      for (std::uint32_t k = 0; k < numbers; ++k) to.push_back(numbers * place[e.to] + k);
      measured.insert(measured.end(), e.measured.begin(), e.measured.end());
      information.insert(information.end(), e.information.begin(), e.information.end());
    }
    if (from.empty()) continue;
    (to_point ? landmark : between)(file.graph, gather(points[from_fixed].variable, from),
                                    gather(points[to_point ? 2 : to_fixed].variable, to), measured,
                                    SpreadMatrix::precision(information), is_loop ? loss : Loss{});
  }
  return file;
}

std::string PoseGraph::by_vertex(std::string text) const {
  const std::vector<bool> is_fixed = fixed_in(*this);
  constexpr std::size_t kCoordinates = 2;  // per point
  for (const bool are_points : {false, true}) {
    const std::string_view name = are_points ? "point[" : "pose[";
    for (std::size_t at = 0; (at = text.find(name, at)) != std::string::npos; ++at) {
      std::size_t i = 0, v = 0;
      const char* const digits = text.data() + at + name.size();
      const char* const after = std::from_chars(digits, text.data() + text.size(), i).ptr;
      const auto end = static_cast<std::size_t>(after - text.data());
      for (std::size_t left = are_points ? i / kCoordinates : i; v < vertices.size(); ++v)
        if (!is_fixed[v] && vertices[v].is_point == are_points && left-- == 0) break;
      if (v == vertices.size() || end == text.size()) break;
      const std::string_view coordinate = are_points ? std::string_view(" x y").substr(2 * (i % kCoordinates), 2) : "";
      text.replace(at, end + 1 - at, fmt::format("vertex {}{}", vertices[v].id, coordinate));
    }
  }
  return text;
}

void PoseGraph::move_to(const State& state) {
  const std::vector<bool> is_fixed = fixed_in(*this);
  // Undetermined vertices stay.
  const auto move = [&](VariableId from, bool are_points) {
    std::optional<Belief> belief;
    std::size_t next = 0;
    for (std::size_t v = 0; v < vertices.size(); ++v) {
      if (is_fixed[v] || vertices[v].is_point != are_points) continue;
      if (!belief) belief = state.belief(from);
      std::vector<double>& at = vertices[v].at;
      for (std::size_t k = 0; k < at.size(); ++k) {  // a pose is one value, a point several
        const std::size_t i = are_points ? next + k : next;
        if (std::ranges::none_of(belief->message(i), [](const Natural& m) { return m.rho == 0; }))
          at[k] = are_points ? belief->mean(i) : belief->mean(i, k);
      }
      next += are_points ? at.size() : 1;
    }
    return belief.has_value();
  };
  const bool has_free = move(VariableId{0}, false);
  (void)move(VariableId{has_free ? 2u : 1u}, true);
}

}  // namespace dma
