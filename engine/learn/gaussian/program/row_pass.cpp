#include <algorithm>

#include "engine/learn/gaussian/program/row_graph.h"
#include "engine/learn/gaussian/program/row_steps.h"
#include "engine/support/dense.h"

namespace dma {

namespace {

// Numbers that one call of a linear view is given at most: they stay in the cache.
constexpr Index kNumbersAtOnce = Index{1} << 16;

}  // namespace

RowPass::RowPass(const RowCode& code, const Vector& m, const Matrix& rows, bool with_slopes)
    : code_(code),
      m_(m),
      rows_(rows),
      with_slopes_(with_slopes),
      computed_(rows.rows(), code.computed),
      noise_(code.noise),
      slopes_(with_slopes ? code.steps.size() : 0) {
  for (std::size_t i = 0; i < code.steps.size(); ++i)
    std::visit([&](const auto& step) { run(step, static_cast<Index>(i)); }, code.steps[i]);
}

Eigen::Map<const Matrix> RowPass::columns(const RowPlace& first, Index count) const {
  const Matrix& from = first.in == RowPlace::In::input ? rows_ : computed_;
  return {from.data() + first.at * this->count(), this->count(), count};
}

Matrix RowPass::outputs() const {
  Matrix f(count(), static_cast<Index>(code_.outputs.size()));
  for (Index k = 0; k < f.cols(); ++k) {
    const RowPlace& place = code_.outputs[static_cast<std::size_t>(k)];
    if (place.is_scalar())
      f.col(k).setConstant(m_(place.at));
    else
      f.col(k) = columns(place, 1);
  }
  return f;
}

// A call takes several slots where they have the same parameters; the gains of those slots stand together, argument
// after argument.
Eigen::Map<const Vector> RowPass::gain(Index step, Index argument, Index slot, bool by_noise) const {
  const auto number = static_cast<std::size_t>(step);
  const auto& function = std::get<FunctionStep>(code_.steps[number]);
  const Slopes& slopes = slopes_[number];
  const Index first = slot / slopes.slots_at_once * slopes.slots_at_once;
  const Index together = std::min(slopes.slots_at_once, function.slots - first);
  const Index column = first * function.arguments + argument * together + (slot - first);
  return {(by_noise ? slopes.noise_gains : slopes.gains).col(column).data(), count()};
}

void RowPass::run(const AffineStep& step, Index) {
  const auto w = weights(step);
  auto z = computed_.middleCols(step.out, step.rows);
  z.setZero();
  add_product(z, columns(step.h, step.columns), weights_by_result(step));
  if (step.bias >= 0) z.rowwise() += m_.segment(step.bias, step.rows).transpose();
  if (step.noise >= 0)
    noise_.segment(step.noise, step.rows) = w.cwiseAbs2() * noise_.segment(step.h.noise, step.columns);
}

void RowPass::run(const ProductsStep& step, Index) {
  for (Index s = 0; s < step.slots; ++s) {
    auto z = computed_.col(step.out + s);
    z.setZero();
    double variance = 0;
    for (Index t = s * step.terms; t < (s + 1) * step.terms; ++t) {
      const RowPlace& other = step.others[static_cast<std::size_t>(t)];
      const double w = m_(step.weights[static_cast<std::size_t>(t)]);
      z += w * columns(other, 1);
      if (other.noise >= 0) variance += w * w * noise_(other.noise);
    }
    if (step.noise >= 0) noise_(step.noise + s) = variance;
  }
}

void RowPass::run(const LinearStep& step, Index) {
  for (Index s = 0; s < step.slots; ++s) {
    auto z = computed_.col(step.out + s);
    double constant = step.offsets[static_cast<std::size_t>(s)], variance = 0;
    z.setZero();
    for (Index t = s * step.terms; t < (s + 1) * step.terms; ++t) {
      const RowPlace& input = step.inputs[static_cast<std::size_t>(t)];
      const double c = step.coefficients[static_cast<std::size_t>(t)];
      if (input.is_scalar())
        constant += c * m_(input.at);
      else
        z += c * columns(input, 1);
      if (input.noise >= 0) variance += c * c * noise_(input.noise);
    }
    z.array() += constant;
    if (step.noise >= 0) noise_(step.noise + s) = variance;
  }
}

void RowPass::run(const FunctionStep& step, Index number) {
  const Index n = count(), arguments = step.arguments;
  const Index most = step.same_parameters ? std::max<Index>(1, kNumbersAtOnce / std::max<Index>(1, n * arguments)) : 1;
  Slopes ignored;
  Slopes& slopes = with_slopes_ ? slopes_[static_cast<std::size_t>(number)] : ignored;
  slopes.slots_at_once = std::min(most, step.slots);
  if (with_slopes_) slopes.gains.resize(n, arguments * step.slots);
  if (with_slopes_ && step.is_noisy) slopes.noise_gains.resize(n, arguments * step.slots);
  Matrix values, variances;
  for (Index first = 0; first < step.slots; first += slopes.slots_at_once) {
    const Index slots = std::min(slopes.slots_at_once, step.slots - first);
    const auto input = [&](Index argument, Index slot) -> const RowPlace& {
      return step.inputs[static_cast<std::size_t>(argument * step.slots + first + slot)];
    };
    // Inputs that stand side by side already are read in place.
    bool in_place = arguments == 1 && !input(0, 0).is_scalar();
    for (Index s = 1; s < slots && in_place; ++s)
      in_place = input(0, s).in == input(0, 0).in && input(0, s).at == input(0, 0).at + s;
    if (!in_place) values.resize(n, arguments * slots);
    if (step.is_noisy) variances.resize(n, arguments * slots);
    for (Index a = 0; a < arguments; ++a)
      for (Index s = 0; s < slots; ++s) {
        const RowPlace& place = input(a, s);
        if (step.is_noisy) variances.col(a * slots + s).setConstant(place.noise >= 0 ? noise_(place.noise) : 0);
        if (in_place) continue;
        if (place.is_scalar())
          values.col(a * slots + s).setConstant(m_(place.at));
        else
          values.col(a * slots + s) = columns(place, 1);
      }
    const std::vector<ParameterView> parameters = parameters_of(step.parameters, static_cast<std::size_t>(first));
    step.view(
        {.slots = static_cast<std::size_t>(n * slots),
         .inputs = static_cast<std::size_t>(arguments),
         .values = in_place ? columns(input(0, 0), slots).data() : values.data(),
         .variances = step.is_noisy ? variances.data() : nullptr,
         .parameters = parameters.data(),
         .parameter_count = parameters.size(),
         .value = computed_.col(step.out + first).data(),
         .gains = with_slopes_ ? slopes.gains.col(first * arguments).data() : nullptr,
         .variance_gains = with_slopes_ && step.is_noisy ? slopes.noise_gains.col(first * arguments).data() : nullptr});
  }
}

namespace {

// Rows of a damaged file may choose an element that is not there: it is then the first.
Index scalar_of(const GatherStep& step, double chosen) {
  return step.first + (chosen > 0 && chosen < static_cast<double>(step.choices) ? static_cast<Index>(chosen) : 0);
}

}  // namespace

void RowPass::run(const GatherStep& step, Index) {
  for (Index n = 0; n < count(); ++n) computed_(n, step.out) = m_(scalar_of(step, rows_(n, step.input)));
}

RowAdjoint RowPass::backward(Index output) const {
  RowAdjoint adjoint{Matrix::Zero(count(), code_.computed), Matrix::Zero(count(), noise_.size())};
  const RowPlace& place = code_.outputs[static_cast<std::size_t>(output)];
  if (place.in == RowPlace::In::computed) adjoint.computed.col(place.at).setOnes();
  for (std::size_t i = code_.steps.size(); i-- > 0;)
    std::visit([&](const auto& step) { pull(step, static_cast<Index>(i), output, adjoint); }, code_.steps[i]);
  return adjoint;
}

void RowPass::pull(const AffineStep& step, Index, Index output, RowAdjoint& adjoint) const {
  const auto w = weights(step);
  const ColumnRange live = step.live[static_cast<std::size_t>(output)];
  if (live.size() == 0) return;
  if (step.h.in == RowPlace::In::computed)
    add_product_by_transposed(adjoint.computed.middleCols(step.h.at, step.columns),
                              adjoint.computed.middleCols(step.out + live.begin, live.size()),
                              weights_by_result(step).middleCols(live.begin, live.size()));
  for (Index i = 0; step.noise >= 0 && i < step.columns; ++i)
    if (code_.derived[static_cast<std::size_t>(step.h.noise + i)] != 0)
      adjoint.noise.col(step.h.noise + i) += adjoint.noise.middleCols(step.noise, step.rows) * w.col(i).cwiseAbs2();
}

void RowPass::pull(const ProductsStep& step, Index, Index, RowAdjoint& adjoint) const {
  for (Index t = 0; t < step.slots * step.terms; ++t) {
    const RowPlace& other = step.others[static_cast<std::size_t>(t)];
    const double w = m_(step.weights[static_cast<std::size_t>(t)]);
    const Index slot = t / step.terms;
    if (other.in == RowPlace::In::computed) adjoint.computed.col(other.at) += w * adjoint.computed.col(step.out + slot);
    if (other.noise >= 0) adjoint.noise.col(other.noise) += w * w * adjoint.noise.col(step.noise + slot);
  }
}

void RowPass::pull(const LinearStep& step, Index, Index, RowAdjoint& adjoint) const {
  for (Index t = 0; t < step.slots * step.terms; ++t) {
    const RowPlace& input = step.inputs[static_cast<std::size_t>(t)];
    const double c = step.coefficients[static_cast<std::size_t>(t)];
    const Index slot = t / step.terms;
    if (input.in == RowPlace::In::computed) adjoint.computed.col(input.at) += c * adjoint.computed.col(step.out + slot);
    if (input.noise >= 0) adjoint.noise.col(input.noise) += c * c * adjoint.noise.col(step.noise + slot);
  }
}

void RowPass::pull(const FunctionStep& step, Index number, Index, RowAdjoint& adjoint) const {
  for (Index a = 0; a < step.arguments; ++a)
    for (Index s = 0; s < step.slots; ++s) {
      const RowPlace& input = step.inputs[static_cast<std::size_t>(a * step.slots + s)];
      const auto up = adjoint.computed.col(step.out + s);
      if (input.in == RowPlace::In::computed) adjoint.computed.col(input.at) += gain(number, a, s).cwiseProduct(up);
      if (input.noise >= 0) adjoint.noise.col(input.noise) += gain(number, a, s, true).cwiseProduct(up);
    }
}

// Destination of the gains of one output.
struct RowPass::Columns {
  const RowAdjoint& adjoint;
  Index output;
  std::span<const Index> column_of;
  Eigen::Ref<Matrix> gains;

  Index column(Index scalar) const { return column_of[static_cast<std::size_t>(scalar)]; }
  template <class Values>
  void add(Index scalar, const Values& values) {
    if (column(scalar) >= 0) gains.col(column(scalar)) += values;
  }
};

void RowPass::write_gains(const RowAdjoint& adjoint, Index output, std::span<const Index> column_of,
                          Eigen::Ref<Matrix> gains) const {
  Columns to{adjoint, output, column_of, gains};
  for (const Index scalar : code_.added_to)
    if (to.column(scalar) >= 0) gains.col(to.column(scalar)).setZero();
  if (const RowPlace& place = code_.outputs[static_cast<std::size_t>(output)]; place.is_scalar())
    to.add(place.at, Vector::Ones(count()));
  for (std::size_t i = 0; i < code_.steps.size(); ++i)
    std::visit([&](const auto& step) { write(step, static_cast<Index>(i), to); }, code_.steps[i]);
}

// The gain of an output that depends on w by z and by the variance w^2 v of its noise is dz h + 2 w v dv.
void RowPass::write(const AffineStep& step, Index, Columns& to) const {
  if (step.owns_scalars && to.column(step.weights) < 0) return;
  const auto h = columns(step.h, step.columns);
  const auto w = weights(step);
  const ColumnRange live = step.live[static_cast<std::size_t>(to.output)];
  if (step.owns_scalars)
    for (Index j = 0; j < step.rows; ++j) {
      if (j >= live.begin && j < live.end) continue;
      to.gains.middleCols(to.column(step.weights + j * step.columns), step.columns).setZero();
      if (step.bias >= 0) to.gains.col(to.column(step.bias + j)).setZero();
    }
  const Matrix by_variance =
      step.noise >= 0 ? Matrix(2 * to.adjoint.noise.middleCols(step.noise, step.rows)) : Matrix(count(), step.rows);
  for (Index j = live.begin; j < live.end; ++j) {
    const auto g = to.adjoint.computed.col(step.out + j);
    for (Index i = 0; i < step.columns; ++i) {
      const Index scalar = step.weights + j * step.columns + i;
      const double wv = step.noise >= 0 ? w(j, i) * noise_(step.h.noise + i) : 0;
      if (!step.owns_scalars) {
        to.add(scalar, g.cwiseProduct(h.col(i)));
        if (step.noise >= 0) to.add(scalar, wv * by_variance.col(j));
      } else if (step.noise >= 0) {
        to.gains.col(to.column(scalar)) = g.cwiseProduct(h.col(i)) + wv * by_variance.col(j);
      } else {
        to.gains.col(to.column(scalar)) = g.cwiseProduct(h.col(i));
      }
    }
    if (step.bias >= 0 && step.owns_scalars) to.gains.col(to.column(step.bias + j)) = g;
    if (step.bias >= 0 && !step.owns_scalars) to.add(step.bias + j, g);
  }
}

void RowPass::write(const ProductsStep& step, Index, Columns& to) const {
  for (Index t = 0; t < step.slots * step.terms; ++t) {
    const Index weight = step.weights[static_cast<std::size_t>(t)], slot = t / step.terms;
    const RowPlace& other = step.others[static_cast<std::size_t>(t)];
    to.add(weight, to.adjoint.computed.col(step.out + slot).cwiseProduct(columns(other, 1)));
    if (other.noise >= 0)
      to.add(weight, 2 * m_(weight) * noise_(other.noise) * to.adjoint.noise.col(step.noise + slot));
  }
}

void RowPass::write(const LinearStep& step, Index, Columns& to) const {
  for (Index t = 0; t < step.slots * step.terms; ++t)
    if (const RowPlace& input = step.inputs[static_cast<std::size_t>(t)]; input.is_scalar())
      to.add(input.at,
             step.coefficients[static_cast<std::size_t>(t)] * to.adjoint.computed.col(step.out + t / step.terms));
}

void RowPass::write(const FunctionStep& step, Index number, Columns& to) const {
  for (Index a = 0; a < step.arguments; ++a)
    for (Index s = 0; s < step.slots; ++s)
      if (const RowPlace& input = step.inputs[static_cast<std::size_t>(a * step.slots + s)]; input.is_scalar())
        to.add(input.at, gain(number, a, s).cwiseProduct(to.adjoint.computed.col(step.out + s)));
}

void RowPass::write(const GatherStep& step, Index, Columns& to) const {
  for (Index n = 0; n < count(); ++n) {
    const Index column = to.column(scalar_of(step, rows_(n, step.input)));
    if (column >= 0) to.gains(n, column) += to.adjoint.computed(n, step.out);
  }
}

}  // namespace dma
