#include "tools/dma/fit/training_data.h"

#include <fmt/format.h>

#include "engine/learn/gaussian/program/row_model.h"
#include "engine/support/checksum.h"
#include "engine/support/shuffle.h"
#include "engine/support/whole_number.h"

namespace dma {

Eigen::Index count_held_out(double holdout, Eigen::Index rows) {
  const auto held_out = whole_number<Eigen::Index>(holdout * static_cast<double>(rows) + 0.5, 0, rows);
  return holdout > 0 ? std::clamp<Eigen::Index>(held_out, 1, rows - 1) : held_out;
}

std::vector<Eigen::Index> split_rows(Eigen::Index rows, Eigen::Index held_out, std::uint64_t seed) {
  constexpr std::uint64_t kHeldOutRows = 0x9e3779b97f4a7c15;  // its own stream, apart from the seed's other uses
  std::vector<Eigen::Index> order = random_order(rows, seed ^ kHeldOutRows);
  std::ranges::sort(order.begin(), order.end() - held_out);
  std::ranges::sort(order.end() - held_out, order.end());
  return order;
}

namespace {

ClassLabels labels_of(const std::vector<std::string>& names, const Eigen::MatrixXd& outputs) {
  ClassLabels labels{names, {}};
  for (const double place : outputs.col(0)) labels.of_rows.push_back(static_cast<Eigen::Index>(place));
  return labels;
}

}  // namespace

void TrainingData::hold_out(double fraction, std::uint64_t seed) {
  const Eigen::Index held_out = count_held_out(fraction, inputs.rows());
  if (held_out == 0) return;
  const std::vector<Eigen::Index> order = split_rows(inputs.rows(), held_out, seed),
                                  learned(order.begin(), order.end() - held_out),
                                  kept(order.end() - held_out, order.end());
  const auto split = [&](Eigen::MatrixXd& all, Eigen::MatrixXd& aside) {
    aside = all(kept, Eigen::all);
    all = all(learned, Eigen::all).eval();
  };
  split(inputs, held_out_inputs);
  split(outputs, held_out_outputs);
  held_out_weights = weights_of(weights, kept);
  weights = weights_of(weights, learned);
}

ClassLabels TrainingData::labels() const { return labels_of(classes, outputs); }
ClassLabels TrainingData::held_out_labels() const { return labels_of(classes, held_out_outputs); }

std::string TrainingData::compute_fingerprint() const {
  std::uint64_t sum = 0;
  const Eigen::Index values = inputs.cols() + outputs.cols();
  std::vector<double> row(static_cast<std::size_t>(values + (weights.size() > 0 ? 1 : 0)));
  const auto add = [&](const Eigen::MatrixXd& x, const Eigen::MatrixXd& y, const Eigen::VectorXd& w, bool is_held_out) {
    for (Eigen::Index n = 0; n < x.rows(); ++n) {
      Eigen::Map<Eigen::RowVectorXd>(row.data(), x.cols()) = x.row(n);
      Eigen::Map<Eigen::RowVectorXd>(row.data() + x.cols(), y.cols()) = y.row(n);
      if (w.size() > 0) row.back() = w(n);
      sum += fingerprint_of_row(static_cast<std::uint64_t>(n), is_held_out, row);
    }
  };
  add(inputs, outputs, weights, false);
  add(held_out_inputs, held_out_outputs, held_out_weights, true);
  return fingerprint_of(static_cast<std::size_t>(inputs.rows()), sum);
}

std::uint64_t TrainingData::fingerprint_of_row(std::uint64_t place, bool is_held_out, std::span<const double> values) {
  Checksum sum;
  const std::uint64_t where[] = {place, is_held_out ? std::uint64_t{1} : std::uint64_t{0}};
  sum.add({reinterpret_cast<const unsigned char*>(where), sizeof where});
  sum.add({reinterpret_cast<const unsigned char*>(values.data()), values.size_bytes()});
  return sum.value();
}

std::string TrainingData::fingerprint_of(std::size_t all_rows, std::uint64_t sum) const {
  Checksum names_too;
  for (const auto* names : {&features, &targets})
    for (const std::string& name : *names) names_too.add(std::string_view(name.c_str(), name.size() + 1));
  names_too.add({reinterpret_cast<const unsigned char*>(&sum), sizeof sum});
  return fmt::format("{}x{}+{}:{:016x}", all_rows, features.size(), targets.size(), names_too.value());
}

}  // namespace dma
