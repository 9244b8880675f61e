#include "engine/learn/gaussian/solver_form.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/learn/gaussian/growing.h"

namespace dma {

namespace {

constexpr double kMostProducts =
    2e12;  // an epoch: by 24 ms measured for 6e8, 80 s of one core for the information matrix

}  // namespace

std::unique_ptr<Curvature> SolverForm::curvature() const { return form == Form::dual ? make_dual() : make_primal(); }

double products_of_epoch(Index count, Index scalars) {
  const auto n = static_cast<double>(count), smaller = static_cast<double>(std::min(count, scalars));
  return n * smaller * smaller;
}

std::size_t affordable_members(Index rows, Index outputs, Index scalars, Index times) {
  constexpr double kProducts = 2e8;  // products per epoch
  const double products = static_cast<double>(times) * products_of_epoch(rows * outputs, scalars);
  return static_cast<std::size_t>(std::clamp(kProducts / products, 1.0, 4.0));
}

SolverForm choose_form(Index rows, Index outputs, Index scalars, bool may_grow, double memory_limit_bytes,
                       bool may_be_dual) {
  const auto n = static_cast<double>(rows * outputs), p = static_cast<double>(scalars);
  const bool dual = may_be_dual && n <= p;
  const double small = dual ? n : p;
  // Three matrices of that size live at once: the information, its damped copy, and a factor.
  const double bytes = 3 * 8 * small * small, products = std::max(n, small) * small * small;
  const std::string sizes = fmt::format("{} rows x {} outputs, {} weights", rows, outputs, scalars);
  if (bytes > memory_limit_bytes)
    return {SolverForm::Form::none,
            fmt::format("{}: one Gaussian would take {:.1f} GB, more than {:.1f} GB; message sweeps instead", sizes,
                        bytes / 1e9, memory_limit_bytes / 1e9)};
  if (products > kMostProducts)
    return {
        SolverForm::Form::none,
        fmt::format("{}: an epoch of one Gaussian would take {:.0g} products, more than {:.0g}; message sweeps instead",
                    sizes, products, kMostProducts)};
  const auto at_once = static_cast<std::size_t>(std::clamp(memory_limit_bytes / std::max(bytes, 1.0), 1.0, 1000.0));
  if (dual)
    return {SolverForm::Form::dual,
            fmt::format("{}: one Gaussian over all weights, by a matrix over rows (dual)", sizes), at_once};
  if (may_grow && worth_growing(rows, outputs, scalars))
    return {SolverForm::Form::growing,
            fmt::format("{}: one Gaussian over all weights (primal), first on growing subsets of the rows", sizes),
            at_once};
  return {SolverForm::Form::primal, fmt::format("{}: one Gaussian over all weights (primal)", sizes), at_once};
}

}  // namespace dma
