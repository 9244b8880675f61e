#include "engine/learn/gaussian/program/row_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "engine/learn/gaussian/program/row_steps.h"
#include "engine/support/text.h"

namespace dma {

namespace {

template <class Use>
void for_scalars(const AffineStep& step, const Use& use) {
  for (Index i = 0; i < step.rows * step.columns; ++i) use(step.weights + i);
  for (Index j = 0; step.bias >= 0 && j < step.rows; ++j) use(step.bias + j);
}
template <class Use>
void for_scalars(const ProductsStep& step, const Use& use) {
  for (const Index weight : step.weights) use(weight);
}
template <class Use>
void for_scalars(const LinearStep& step, const Use& use) {
  for (const RowPlace& input : step.inputs)
    if (input.is_scalar()) use(input.at);
}
template <class Use>
void for_scalars(const FunctionStep& step, const Use& use) {
  for (const RowPlace& input : step.inputs)
    if (input.is_scalar()) use(input.at);
}
template <class Use>
void for_scalars(const GatherStep& step, const Use& use) {
  for (Index i = 0; i < step.choices; ++i) use(step.first + i);
}

// Calls use(column) for the computed values that a slot of a step reads.
template <class Use>
void for_columns(const AffineStep& step, Index, const Use& use) {
  for (Index i = 0; step.h.in == RowPlace::In::computed && i < step.columns; ++i) use(step.h.at + i);
}
template <class Use>
void for_columns(std::span<const RowPlace> places, const Use& use) {
  for (const RowPlace& place : places)
    if (place.in == RowPlace::In::computed) use(place.at);
}
template <class Use>
void for_columns(const ProductsStep& step, Index slot, const Use& use) {
  for_columns(
      std::span(step.others).subspan(static_cast<std::size_t>(slot * step.terms), static_cast<std::size_t>(step.terms)),
      use);
}
template <class Use>
void for_columns(const LinearStep& step, Index slot, const Use& use) {
  for_columns(
      std::span(step.inputs).subspan(static_cast<std::size_t>(slot * step.terms), static_cast<std::size_t>(step.terms)),
      use);
}
template <class Use>
void for_columns(const FunctionStep& step, Index slot, const Use& use) {
  for (Index a = 0; a < step.arguments; ++a)
    for_columns(std::span(&step.inputs[static_cast<std::size_t>(a * step.slots + slot)], 1), use);
}
template <class Use>
void for_columns(const GatherStep&, Index, const Use&) {}

Index slots_of(const AffineStep& step) { return step.rows; }
Index slots_of(const GatherStep&) { return 1; }
Index slots_of(const auto& step) { return step.slots; }

// Finds the affine steps that own their scalars, and the results that one function alone reads.
void find_owners(RowCode& code) {
  std::vector<int> uses(static_cast<std::size_t>(code.scalars)), reads(static_cast<std::size_t>(code.computed));
  for (const RowPlace& output : code.outputs)
    if (output.in != RowPlace::In::input) ++(output.is_scalar() ? uses : reads)[static_cast<std::size_t>(output.at)];
  for (const RowStep& step : code.steps)
    std::visit(
        [&](const auto& own) {
          for_scalars(own, [&](Index scalar) { ++uses[static_cast<std::size_t>(scalar)]; });
          for (Index s = 0; s < slots_of(own); ++s)
            for_columns(own, s, [&](Index column) { ++reads[static_cast<std::size_t>(column)]; });
        },
        step);
  std::vector<bool> owned(uses.size(), false);
  for (RowStep& step : code.steps)
    if (auto* affine = std::get_if<AffineStep>(&step)) {
      affine->owns_scalars = true;
      for_scalars(*affine, [&](Index i) { affine->owns_scalars &= uses[static_cast<std::size_t>(i)] == 1; });
      if (affine->owns_scalars) for_scalars(*affine, [&](Index i) { owned[static_cast<std::size_t>(i)] = true; });
      for (std::size_t f = 0; f < code.steps.size(); ++f) {
        const auto* function = std::get_if<FunctionStep>(&code.steps[f]);
        if (function == nullptr || function->arguments != 1 || function->slots != affine->rows) continue;
        bool fits = true;
        for (Index s = 0; s < affine->rows; ++s) {
          const RowPlace& input = function->inputs[static_cast<std::size_t>(s)];
          fits = fits && input.in == RowPlace::In::computed && input.at == affine->out + s &&
                 reads[static_cast<std::size_t>(input.at)] == 1;
        }
        if (fits) affine->function = static_cast<Index>(f);
      }
    }
  for (std::size_t i = 0; i < owned.size(); ++i)
    if (!owned[i]) code.added_to.push_back(static_cast<Index>(i));
}

// Finds the rows of affine steps that every output depends on.
void find_live_rows(RowCode& code) {
  std::vector<bool> needed;
  for (const RowPlace& output : code.outputs) {
    needed.assign(static_cast<std::size_t>(code.computed), false);
    if (output.in == RowPlace::In::computed) needed[static_cast<std::size_t>(output.at)] = true;
    for (auto step = code.steps.rbegin(); step != code.steps.rend(); ++step)
      std::visit(
          [&](auto& own) {
            ColumnRange live{slots_of(own), 0};
            for (Index s = 0; s < slots_of(own); ++s) {
              if (!needed[static_cast<std::size_t>(own.out + s)]) continue;
              live = {std::min(live.begin, s), s + 1};
              for_columns(own, s, [&](Index column) { needed[static_cast<std::size_t>(column)] = true; });
            }
            if constexpr (requires { own.live; }) own.live.push_back(live.size() > 0 ? live : ColumnRange{});
          },
          *step);
  }
}

std::vector<Index> all_columns(Index count) {
  std::vector<Index> columns(static_cast<std::size_t>(count));
  std::iota(columns.begin(), columns.end(), Index{0});
  return columns;
}

}  // namespace

RowProgram::RowProgram(const Graph& graph, const Registry& registry, const std::vector<VariableId>& targets) {
  RowCode code = compile_rows(graph, registry, targets);
  find_owners(code);
  find_live_rows(code);
  code_ = std::make_shared<const RowCode>(std::move(code));
}

Index RowProgram::scalars() const { return code_->scalars; }
Index RowProgram::outputs() const { return static_cast<Index>(code_->outputs.size()); }
Index RowProgram::input_size() const { return code_->inputs; }
const std::vector<VariableId>& RowProgram::inputs() const { return code_->input_variables; }
const std::vector<RowProgram::Table>& RowProgram::tables() const { return code_->tables; }
const std::vector<VariableId>& RowProgram::shared() const { return code_->shared; }
const SharedPrior& RowProgram::prior() const { return code_->prior; }
const std::vector<double>& RowProgram::noise() const { return code_->output_noise; }
const OutputLikelihoods& RowProgram::likelihoods() const { return code_->likelihoods; }

Index RowProgram::first_scalar(VariableId shared) const {
  const auto found = std::ranges::find(code_->shared, shared);
  if (found == code_->shared.end())
    fail("Gaussian learning: variable {} is not one that the targets depend on", shared.value);
  return code_->first_scalars[static_cast<std::size_t>(found - code_->shared.begin())];
}

void RowProgram::evaluate(const Vector& m, const Matrix& rows, Matrix& f) const {
  f = RowPass(*code_, m, rows, false).outputs();
}

void RowProgram::linearise(const Vector& m, const Matrix& rows, Matrix& f, Matrix& gains) const {
  const RowPass pass(*code_, m, rows, true);
  f = pass.outputs();
  const Index n = rows.rows();
  const std::vector<Index> columns = all_columns(scalars());
  gains.resize(n * outputs(), scalars());
  for (Index k = 0; k < outputs(); ++k) pass.write_gains(pass.backward(k), k, columns, gains.middleRows(k * n, n));
}

std::string RowProgram::first_fault(const Vector& m, const Matrix& rows) const {
  const RowPass pass(*code_, m, rows, true);
  const auto faulty_row = [](const auto& column) {
    Index row = 0;
    while (row < column.size() && std::isfinite(column(row))) ++row;
    return row;
  };
  for (std::size_t i = 0; i < code_->steps.size(); ++i) {
    const auto* function = std::get_if<FunctionStep>(&code_->steps[i]);
    const auto [out, slots] =
        std::visit([](const auto& own) { return std::pair(own.out, slots_of(own)); }, code_->steps[i]);
    for (Index s = 0; s < slots; ++s) {
      Index row = faulty_row(pass.columns({RowPlace::In::computed, out + s}, 1).col(0));
      const bool is_value = row < rows.rows();
      for (Index a = 0; function != nullptr && !is_value && row == rows.rows() && a < function->arguments; ++a)
        row = faulty_row(pass.gain(static_cast<Index>(i), a, s));
      if (row < rows.rows())
        return fmt::format("the {} of '{}' is not a finite number in row {}", is_value ? "value" : "derivative",
                           code_->lines[i].substr(11), row + 1);
    }
  }
  return {};
}

std::string describe(const RowProgram& program) {
  const RowCode& code = *program.code_;
  std::string text = fmt::format("row program: inputs {}, shared scalars {}, outputs {}, steps {}\n", code.inputs,
                                 code.scalars, code.outputs.size(), code.steps.size());
  for (const std::string& line : code.lines) text += fmt::format("  {}\n", line);
  return text;
}

}  // namespace dma
