// g2o files of poses.
#include <fmt/format.h>

#include <Eigen/Cholesky>
#include <charconv>
#include <map>
#include <queue>

#include "engine/support/dense.h"
#include "engine/support/text.h"
#include "factors/families/charts.h"
#include "models/graphs/discrete_tokens.h"
#include "models/graphs/expressions.h"
#include "models/graphs/graph_file.h"

namespace dma {

namespace {

struct Tag {
  std::string_view name;
  bool is_edge = false, is_3d = false, is_point = false;
  std::size_t numbers() const { return is_point ? 2 : is_3d ? 7 : 3; }      // per pose or point
  std::size_t coordinates() const { return is_point ? 2 : is_3d ? 6 : 3; }  // rows of the information
};
constexpr Tag kTags[] = {{"VERTEX_SE2"},
                         {"EDGE_SE2", true},
                         {"VERTEX_XY", false, false, true},
                         {"EDGE_SE2_XY", true, false, true},
                         {"VERTEX_SE3:QUAT", false, true},
                         {"EDGE_SE3:QUAT", true, true}};

class G2o {
 public:
  PoseGraph read(std::string_view text) {
    for (std::size_t first = 0; first < text.size();) {
      const std::size_t end = std::min(text.find('\n', first), text.size());
      ++line_;
      read_line(text.substr(first, end - first));
      first = end + 1;
    }
    if (graph_.edges.empty()) fail("the file has no edges; lines such as EDGE_SE2 are expected");
    place_vertices();
    return std::move(graph_);
  }

 private:
  void read_line(std::string_view line) {
    words_.clear();
    for (std::size_t at = 0; (at = line.find_first_not_of(" \t\r", at)) != std::string_view::npos;) {
      const std::size_t end = std::min(line.find_first_of(" \t\r", at), line.size());
      words_.push_back(line.substr(at, end - at));
      at = end;
    }
    // The offset of a sensor is used by edges to landmarks only, which are not known.
    if (words_.empty() || words_[0].starts_with('#') || words_[0] == "PARAMS_SE3OFFSET") return;
    if (words_[0] == "FIX") {
      for (std::size_t i = 1; i < words_.size(); ++i) graph_.vertices[vertex(i)].is_fixed = true;
      return;
    }
    const auto* const tag = std::ranges::find(kTags, words_[0], &Tag::name);
    if (tag == std::end(kTags)) {
      std::vector<std::string> known{"FIX"};
      for (const Tag& each : kTags) known.emplace_back(each.name);
      fail("line {}: there is no tag '{}'{}", line_, printable(words_[0].substr(0, 40)),
           suggestion(printable(words_[0].substr(0, 40)), known));
    }
    if (first_pose_line_ == 0) {
      graph_.is_3d = tag->is_3d;
      first_pose_line_ = line_;
    }
    if (tag->is_3d != graph_.is_3d)
      fail("line {}: '{}' is of {} dimensions, but line {} is of {}; all poses of a file have the same dimension",
           line_, tag->name, tag->is_3d ? 3 : 2, first_pose_line_, tag->is_3d ? 2 : 3);
    const std::size_t size = tag->coordinates(), weights = tag->is_edge ? size * (size + 1) / 2 : 0,
                      first = tag->is_edge ? 3 : 2, wanted = first - 1 + tag->numbers() + weights;
    if (words_.size() - 1 != wanted)
      fail("line {}: {} has {} numbers; {} are expected: {}, {} of the {}{}", line_, tag->name, words_.size() - 1,
           wanted, tag->is_edge ? "two vertices" : "the vertex", tag->numbers(), tag->is_point ? "point" : "pose",
           tag->is_edge ? fmt::format(", {} of the information", weights) : "");
    if (!tag->is_edge) {
      PoseGraph::Vertex& v = graph_.vertices[vertex(1)];
      if (!v.at.empty()) fail("line {}: vertex {} has a place already; leave one of them out", line_, v.id);
      v.at = pose(*tag, first);
      v.is_point |= tag->is_point;
      return;
    }
    const std::uint32_t from = vertex(1), to = vertex(2);
    graph_.vertices[to].is_point |= tag->is_point;
    if (from == to) fail("line {}: an edge from vertex {} to itself; two vertices are expected", line_, words_[1]);
    graph_.edges.push_back({from, to, pose(*tag, first), information(first + tag->numbers(), size)});
  }

  double number(std::size_t word) const {
    if (const auto value = network_file::finite_number(words_[word])) return *value;
    fail("line {}: '{}' is found; a number is expected", line_, printable(words_[word].substr(0, 40)));
  }

  // Index of the vertex with that number.
  std::uint32_t vertex(std::size_t word) {
    std::uint64_t id = 0;
    const std::string_view text = words_[word];
    const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), id);
    if (stop != text.data() + text.size() || error != std::errc())
      fail("line {}: '{}' is found; the number of a vertex is expected", line_, printable(text.substr(0, 40)));
    const auto [found, is_new] = place_of_.try_emplace(id, static_cast<std::uint32_t>(graph_.vertices.size()));
    if (is_new) graph_.vertices.push_back({id, {}});
    return found->second;
  }

  // x, y and an angle; x, y, z and the axis of the rotation times its angle; or a point.
  std::vector<double> pose(const Tag& tag, std::size_t first) const {
    std::vector<double> out;
    for (std::size_t i = 0; i < tag.coordinates(); ++i) out.push_back(number(first + i));
    if (!tag.is_3d) return out;
    Eigen::Quaterniond turn(number(first + 6), out[3], out[4], out[5]);
    if (!(turn.norm() > 1e-3 && turn.norm() < 1e3))
      fail("line {}: the quaternion has length {}; one of length 1 is expected", line_, turn.norm());
    turn.normalize();
    Eigen::Map<Eigen::Vector3d>(out.data() + 3) = Turn<3>::log(turn.toRotationMatrix());
    return out;
  }

  std::vector<double> information(std::size_t first, std::size_t size) const {
    std::vector<double> out(size * size);
    for (std::size_t i = 0, k = first; i < size; ++i)
      for (std::size_t j = i; j < size; ++j, ++k) out[i * size + j] = out[j * size + i] = number(k);
    const auto n = static_cast<Eigen::Index>(size);
    const Eigen::MatrixXd matrix = Eigen::Map<const Eigen::MatrixXd>(out.data(), n, n);
    if (matrix.llt().info() == Eigen::Success) return out;
    fail("line {}: the information of edge {} to {} is not positive definite; look at its diagonal", line_, words_[1],
         words_[2]);
  }

  // Places vertices breadth-first along edges, from those that have a place, or else from the first.
  void place_vertices() {
    std::vector<std::vector<std::uint32_t>> edges_at(graph_.vertices.size());
    for (const PoseGraph::Edge& e : graph_.edges)
      if (const auto& a = graph_.vertices[e.from], &b = graph_.vertices[e.to];
          a.is_point || b.is_point != (e.measured.size() == 2))
        fail("vertices {} and {}: {} is a point, where a pose is expected; EDGE_SE2_XY leads from a pose to a point",
             a.id, b.id, a.is_point ? a.id : b.id);
    for (const PoseGraph::Vertex& v : graph_.vertices)
      if (v.is_point && (v.is_fixed || v.at.size() > 2))
        fail("vertex {} is a point, and {}; give it a VERTEX_XY line, or none", v.id, v.is_fixed ? "fixed" : "a pose");
    for (std::uint32_t e = 0; e < graph_.edges.size(); ++e)
      for (const std::uint32_t v : {graph_.edges[e].from, graph_.edges[e].to}) edges_at[v].push_back(e);
    std::queue<std::uint32_t> next;
    for (std::uint32_t v = 0; v < graph_.vertices.size(); ++v)
      if (!graph_.vertices[v].at.empty()) next.push(v);
    if (next.empty()) {
      graph_.vertices[0].at.assign(graph_.is_3d ? 6 : 3, 0.0);
      next.push(0);
    }
    for (; !next.empty(); next.pop())
      for (const std::uint32_t e : edges_at[next.front()]) {
        const PoseGraph::Edge& edge = graph_.edges[e];
        const bool is_forward = edge.from == next.front();
        PoseGraph::Vertex& other = graph_.vertices[is_forward ? edge.to : edge.from];
        if (!other.at.empty()) continue;
        if (graph_.vertices[next.front()].is_point) continue;
        const std::vector<double>& at = graph_.vertices[next.front()].at;
        std::vector<double> by = edge.measured;
        by.resize(at.size());
        other.at = graph_.is_3d ? moved<3>(at, by, is_forward) : moved<2>(at, by, is_forward);
        other.at.resize(edge.measured.size());
        next.push(is_forward ? edge.to : edge.from);
      }
    for (const PoseGraph::Vertex& v : graph_.vertices)
      if (v.at.empty())
        fail("vertex {} has no place, and no edges lead to it from one that has; add a VERTEX line for it", v.id);
  }

  // The pose at the other end of a measurement, forwards or backwards.
  template <int n>
  static std::vector<double> moved(const std::vector<double>& at, const std::vector<double>& by, bool is_forward) {
    using T = Turn<n>;
    using Place = Eigen::Map<const typename T::Vector>;
    using Angles = Eigen::Map<const typename T::Angles>;
    const typename T::Matrix turn = T::exp(Angles(at.data() + n)), step = T::exp(Angles(by.data() + n));
    const typename T::Matrix to = turn * (is_forward ? step : typename T::Matrix(step.transpose()));
    std::vector<double> out(at.size());
    Eigen::Map<typename T::Vector>(out.data()) =
        Place(at.data()) +
        (is_forward ? typename T::Vector(turn * Place(by.data())) : typename T::Vector(-(to * Place(by.data()))));
    Eigen::Map<typename T::Angles>(out.data() + n) = T::log(to);
    return out;
  }

  PoseGraph graph_;
  std::map<std::uint64_t, std::uint32_t> place_of_;
  std::vector<std::string_view> words_;
  std::size_t line_ = 0, first_pose_line_ = 0;
};

std::string pose_text(const std::vector<double>& pose) {
  if (pose.size() <= 3) return joined(pose, " ");
  const Eigen::Quaterniond q(Turn<3>::exp(Eigen::Map<const Eigen::Vector3d>(pose.data() + 3)));
  return fmt::format("{} {} {} {} {} {} {}", pose[0], pose[1], pose[2], q.x(), q.y(), q.z(), q.w());
}

}  // namespace

bool is_g2o(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
  constexpr std::string_view kBegin[] = {"VERTEX", "EDGE", "FIX", "PARAMS", "#"};
  return std::ranges::any_of(kBegin, [&](std::string_view word) { return text.starts_with(word); });
}

PoseGraph parse_g2o(std::string_view text) { return G2o().read(text); }

std::string g2o_text(const PoseGraph& graph) {
  const std::string_view pose = graph.is_3d ? "SE3:QUAT" : "SE2";
  std::string text;
  for (const PoseGraph::Vertex& v : graph.vertices)
    text += fmt::format("VERTEX_{} {} {}\n", v.is_point ? "XY" : pose, v.id, pose_text(v.at));
  for (const PoseGraph::Vertex& v : graph.vertices)
    if (v.is_fixed) text += fmt::format("FIX {}\n", v.id);
  for (const PoseGraph::Edge& e : graph.edges) {
    text += fmt::format("EDGE_{} {} {} {}", graph.vertices[e.to].is_point ? "SE2_XY" : pose, graph.vertices[e.from].id,
                        graph.vertices[e.to].id, pose_text(e.measured));
    const std::size_t n = e.measured.size();
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = i; j < n; ++j) text += fmt::format(" {}", e.information[i * n + j]);
    text += "\n";
  }
  return text;
}

}  // namespace dma
