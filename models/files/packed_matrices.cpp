#include "models/files/packed_matrices.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "engine/support/error.h"
#include "engine/support/json.h"
#include "models/files/packed_numbers.h"

namespace dma {

namespace {

Json readable_row(const Eigen::RowVectorXd& row) {
  Json array = Json::array();
  for (const double value : row) array.push_back(json_number(value));
  return array;
}

Eigen::RowVectorXd readable_row_from(const Json& json) {
  if (!json.is_array()) fail("{} stands where a list of numbers is expected", json_text(json).substr(0, 40));
  Eigen::RowVectorXd row(static_cast<Eigen::Index>(json.size()));
  for (std::size_t i = 0; i < json.size(); ++i) row(static_cast<Eigen::Index>(i)) = json_number(json[i]);
  return row;
}

}  // namespace

Json packed_vector(const Eigen::VectorXd& v) { return packed({v.data(), static_cast<std::size_t>(v.size())}); }

Eigen::VectorXd packed_vector_from(const Json& json) {
  const std::vector<double> values = unpacked(json.get_ref<const std::string&>());
  return Eigen::Map<const Eigen::VectorXd>(values.data(), static_cast<Eigen::Index>(values.size()));
}

Json packed_matrix(const Eigen::MatrixXd& m) {
  return {{"rows", m.rows()}, {"numbers", packed({m.data(), static_cast<std::size_t>(m.size())})}};
}

Eigen::MatrixXd packed_matrix_from(const Json& json) {
  const Eigen::VectorXd values = packed_vector_from(json.at("numbers"));
  const auto rows = whole<Eigen::Index>(json, "rows");
  if (rows == 0 ? values.size() != 0 : values.size() < rows || values.size() % rows != 0)
    fail("a matrix has an impossible number of rows");
  return rows == 0 ? Eigen::MatrixXd() : Eigen::MatrixXd(values.reshaped(rows, values.size() / rows));
}

Json packed_triangle(const Eigen::MatrixXd& m) {
  Eigen::VectorXd lower(m.rows() * (m.rows() + 1) / 2);
  for (Eigen::Index j = 0, at = 0; j < m.rows(); at += m.rows() - j, ++j)
    lower.segment(at, m.rows() - j) = m.col(j).tail(m.rows() - j);
  return packed_vector(lower);
}

Eigen::MatrixXd packed_triangle_from(const Json& json) {
  const Eigen::VectorXd lower = packed_vector_from(json);
  const auto size =
      static_cast<Eigen::Index>(std::llround(std::sqrt(2.0 * static_cast<double>(lower.size()) + 0.25) - 0.5));
  if (size * (size + 1) / 2 != lower.size()) fail("a triangle of numbers is cut short");
  Eigen::MatrixXd m = Eigen::MatrixXd::Zero(size, size);
  for (Eigen::Index j = 0, at = 0; j < size; at += size - j, ++j) m.col(j).tail(size - j) = lower.segment(at, size - j);
  return m;
}

Json to_json(const Standardiser& s) {
  Json json = {{"shift", readable_row(s.shift)}, {"scale", readable_row(s.scale)}};
  if (s.log_from.size() > 0) json["log_from"] = readable_row(s.log_from);
  return json;
}

Standardiser standardiser_from(const Json& json) {
  Standardiser s{readable_row_from(json.at("shift")), readable_row_from(json.at("scale"))};
  if (json.contains("log_from")) s.log_from = readable_row_from(json.at("log_from"));
  return s;
}

}  // namespace dma
