// g2o and TORO files of poses.
#include <fmt/format.h>

#include <Eigen/Cholesky>
#include <charconv>
#include <map>
#include <queue>
#include <utility>

#include "engine/support/dense.h"
#include "engine/support/error.h"
#include "engine/support/text.h"
#include "factors/families/charts.h"
#include "models/graphs/poses.h"

namespace dma {

namespace {

enum class Write : std::uint8_t { angle, quaternion, euler };
struct Tag {
  std::string_view name;
  bool is_edge;
  Write rotation;
  std::size_t numbers;  // numbers per pose or point
  bool is_3d() const { return rotation != Write::angle; }
  bool is_point() const { return numbers == (is_3d() ? 3 : 2); }
  bool has_offset() const { return is_edge && is_3d() && is_point(); }
};
constexpr std::string_view kOffset = "PARAMS_SE3OFFSET";
constexpr Tag kTags[] = {{"VERTEX_SE2", false, Write::angle, 3},
                         {"EDGE_SE2", true, Write::angle, 3},
                         {"VERTEX_XY", false, Write::angle, 2},
                         {"EDGE_SE2_XY", true, Write::angle, 2},
                         {"VERTEX_SE3:QUAT", false, Write::quaternion, 7},
                         {"EDGE_SE3:QUAT", true, Write::quaternion, 7},
                         {"VERTEX_TRACKXYZ", false, Write::quaternion, 3},
                         {"EDGE_SE3_TRACKXYZ", true, Write::quaternion, 3},
                         {kOffset, false, Write::quaternion, 7},
                         {"VERTEX2", false, Write::angle, 3},
                         {"EDGE2", true, Write::angle, 3},
                         {"VERTEX3", false, Write::euler, 6},
                         {"EDGE3", true, Write::euler, 6}};

constexpr std::string_view point_vertex(bool is_3d) { return is_3d ? "TRACKXYZ" : "XY"; }
constexpr std::string_view point_edge(bool is_3d) { return is_3d ? "SE3_TRACKXYZ" : "SE2_XY"; }

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
    if (words_.empty() || words_[0].starts_with('#') || words_[0] == "EQUIV") return;
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
    const bool is_3d = tag->is_3d();
    if (first_pose_line_ == 0) {
      graph_.is_3d = is_3d;
      first_pose_line_ = line_;
    }
    if (is_3d != graph_.is_3d)
      fail("line {}: '{}' is of {} dimensions, but line {} is of {}; all poses of a file have the same dimension",
           line_, tag->name, is_3d ? 3 : 2, first_pose_line_, is_3d ? 2 : 3);
    const std::size_t size = tag->is_point() ? tag->numbers : is_3d ? 6 : 3,
                      ids = tag->has_offset() ? 3 : tag->is_edge ? 2 : 1,
                      wanted = ids + tag->numbers + (tag->is_edge ? size * (size + 1) / 2 : 0);
    if (words_.size() - 1 != wanted)
      fail("line {}: {} has {} numbers; {} are expected: {}, {} of the {}{}", line_, tag->name, words_.size() - 1,
           wanted,
           ids == 3               ? "two vertices and an offset"
           : ids == 2             ? "two vertices"
           : tag->name == kOffset ? "its own"
                                  : "the vertex",
           tag->numbers, tag->is_point() ? "point" : "pose",
           tag->is_edge ? fmt::format(", {} of the information", size * (size + 1) / 2) : "");
    if (tag->name == kOffset) {
      offsets_[std::string(words_[1])] = pose(*tag, 2);
      return;
    }
    if (!tag->is_edge) {
      PoseGraph::Vertex& v = graph_.vertices[vertex(1)];
      if (!v.at.empty()) fail("line {}: vertex {} has a place already; leave one of them out", line_, v.id);
      v.at = pose(*tag, 2);
      v.is_point |= tag->is_point();
      return;
    }
    const std::uint32_t from = vertex(1), to = vertex(2);
    graph_.vertices[to].is_point |= tag->is_point();
    if (from == to) fail("line {}: an edge from vertex {} to itself; two vertices are expected", line_, words_[1]);
    graph_.edges.push_back({from, to, pose(*tag, 1 + ids), information(*tag, 1 + ids + tag->numbers, size)});
    if (tag->has_offset()) take_from_sensor(graph_.edges.back());
  }

  // Transforms z, a point in the frame of a sensor (R, t), with information W, to the frame of the pose: R z + t with R
  // W R'.
  void take_from_sensor(PoseGraph::Edge& edge) const {
    const auto found = offsets_.find(words_[3]);
    if (found == offsets_.end())
      fail("line {}: there is no offset '{}'; a line {} {} 0 0 0 0 0 0 1 is expected before it", line_,
           printable(words_[3].substr(0, 40)), kOffset, printable(words_[3].substr(0, 40)));
    const Eigen::Matrix3d turn = Turn<3>::exp(Eigen::Map<const Eigen::Vector3d>(found->second.data() + 3));
    Eigen::Map<Eigen::Vector3d> seen(edge.measured.data());
    Eigen::Map<Eigen::Matrix3d> weight(edge.information.data());
    seen = (turn * seen + Eigen::Map<const Eigen::Vector3d>(found->second.data())).eval();
    weight = (turn * weight * turn.transpose()).eval();
  }

  double number(std::size_t word) const {
    const std::string_view text = words_[word];
    double value = 0;
    const auto [stop, error] =
        std::from_chars(text.data() + (text.starts_with('+') ? 1 : 0), text.data() + text.size(), value);
    if (stop != text.data() + text.size() || error != std::errc() || !std::isfinite(value))
      fail("line {}: '{}' is found; a number is expected", line_, printable(text.substr(0, 40)));
    return value;
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

  std::vector<double> pose(const Tag& tag, std::size_t first) const {
    std::vector<double> out;
    const bool is_written_so = !tag.is_3d() || tag.is_point();
    for (std::size_t i = 0; i < (is_written_so ? tag.numbers : 6); ++i) out.push_back(number(first + i));
    if (is_written_so) return out;
    Eigen::Quaterniond turn;
    if (tag.rotation == Write::quaternion) {
      turn = Eigen::Quaterniond(number(first + 6), out[3], out[4], out[5]);
      if (!(turn.norm() > 1e-3 && turn.norm() < 1e3))
        fail("line {}: the quaternion has length {}; one of length 1 is expected", line_, turn.norm());
      turn.normalize();
    } else {
      using Eigen::AngleAxisd, Eigen::Vector3d;
      turn = AngleAxisd(out[5], Vector3d::UnitZ()) * AngleAxisd(out[4], Vector3d::UnitY()) *
             AngleAxisd(out[3], Vector3d::UnitX());
    }
    Eigen::Map<Eigen::Vector3d>(out.data() + 3) = Turn<3>::log(turn.toRotationMatrix());
    return out;
  }

  std::vector<double> information(const Tag& tag, std::size_t first, std::size_t size) const {
    std::vector<double> upper;
    for (std::size_t i = 0; i < size * (size + 1) / 2; ++i) upper.push_back(number(first + i));
    const auto full = [&] {
      std::vector<double> out(size * size);
      for (std::size_t i = 0, k = 0; i < size; ++i)
        for (std::size_t j = i; j < size; ++j, ++k) out[i * size + j] = out[j * size + i] = upper[k];
      return out;
    };
    const auto is_definite = [&](const std::vector<double>& matrix) {
      const auto n = static_cast<Eigen::Index>(size);
      return Eigen::MatrixXd(Eigen::Map<const Eigen::MatrixXd>(matrix.data(), n, n)).llt().info() == Eigen::Success;
    };
    if (tag.name == "EDGE2") {  // TORO's order: xx, xy, yy, aa, xa, ya; some files use the others' order
      const std::vector<double> by_rows =
          std::exchange(upper, {upper[0], upper[1], upper[4], upper[2], upper[5], upper[3]});
      if (std::vector<double> matrix = full(); is_definite(matrix)) return matrix;
      upper = by_rows;
    }
    if (std::vector<double> matrix = full(); is_definite(matrix)) return matrix;
    fail("line {}: the information of edge {} to {} is not positive definite; look at its diagonal", line_, words_[1],
         words_[2]);
  }

  // Places vertices breadth-first along edges, from those that have a place, or else from the first.
  void place_vertices() {
    std::vector<std::vector<std::uint32_t>> edges_at(graph_.vertices.size());
    const std::size_t of_point = graph_.is_3d ? 3 : 2;
    for (const PoseGraph::Edge& e : graph_.edges)
      if (const auto &a = graph_.vertices[e.from], &b = graph_.vertices[e.to];
          a.is_point || b.is_point != (e.measured.size() == of_point))
        fail("vertices {} and {}: {} is a point, where a pose is expected; EDGE_{} leads from a pose to a point", a.id,
             b.id, a.is_point ? a.id : b.id, point_edge(graph_.is_3d));
    for (const PoseGraph::Vertex& v : graph_.vertices)
      if (v.is_point && (v.is_fixed || v.at.size() > of_point))
        fail("vertex {} is a point, and {}; give it a VERTEX_{} line, or none", v.id, v.is_fixed ? "fixed" : "a pose",
             point_vertex(graph_.is_3d));
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
  std::map<std::string, std::vector<double>, std::less<>> offsets_;  // poses of sensors
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
  constexpr std::string_view kBegin[] = {"VERTEX", "EDGE", "FIX", "EQUIV", "PARAMS", "#"};
  return std::ranges::any_of(kBegin, [&](std::string_view word) { return text.starts_with(word); });
}

PoseGraph parse_g2o(std::string_view text) { return G2o().read(text); }

std::string g2o_text(const PoseGraph& graph) {
  const std::string_view space = graph.is_3d ? "SE3:QUAT" : "SE2";
  const bool has_offset =
      graph.is_3d && std::ranges::find(graph.vertices, true, &PoseGraph::Vertex::is_point) != graph.vertices.end();
  std::string text = has_offset ? fmt::format("{} 0 0 0 0 0 0 0 1\n", kOffset) : "";
  for (const PoseGraph::Vertex& v : graph.vertices)
    text += fmt::format("VERTEX_{} {} {}\n", v.is_point ? point_vertex(graph.is_3d) : space, v.id, pose_text(v.at));
  for (const PoseGraph::Vertex& v : graph.vertices)
    if (v.is_fixed) text += fmt::format("FIX {}\n", v.id);
  for (const PoseGraph::Edge& e : graph.edges) {
    const bool to_point = graph.vertices[e.to].is_point;
    text += fmt::format("EDGE_{} {} {} {}{}", to_point ? point_edge(graph.is_3d) : space, graph.vertices[e.from].id,
                        graph.vertices[e.to].id, to_point && has_offset ? "0 " : "", pose_text(e.measured));
    const std::size_t n = e.measured.size();
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = i; j < n; ++j) text += fmt::format(" {}", e.information[i * n + j]);
    text += "\n";
  }
  return text;
}

}  // namespace dma
