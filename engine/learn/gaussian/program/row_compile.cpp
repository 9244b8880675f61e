// A graph turned into the steps of a row program.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "engine/learn/gaussian/program/row_graph.h"
#include "engine/learn/gaussian/program/row_steps.h"
#include "engine/support/text.h"

namespace dma {

namespace {

bool vary(const Resolved::Parameters& parameters) {
  return std::ranges::any_of(parameters, &Resolved::Parameter::per_slot);
}

bool is_linear(const Kind& kind, std::size_t arguments) {
  return kind.linear_in() && kind.linear_in()(std::vector<std::uint8_t>(arguments, 1));
}

// True if a kind is x_1 y_1 + ... + x_T y_T. It is linear in either half of its arguments, so that gains equal to the
// other half at one point in general position leave no other function.
bool is_sum_of_products(const Kind& kind, std::size_t arguments) {
  const std::size_t terms = arguments / 2;
  if (!kind.linear_in() || !kind.parameters().empty() || arguments % 2 != 0) return false;
  std::vector<std::uint8_t> first(arguments, 0), second(arguments, 1);
  std::fill_n(first.begin(), terms, std::uint8_t{1});
  std::fill_n(second.begin(), terms, std::uint8_t{0});
  if (!kind.linear_in()(first) || !kind.linear_in()(second) || is_linear(kind, arguments)) return false;
  std::vector<double> at(arguments), gains(arguments);
  for (std::size_t i = 0; i < arguments; ++i) at[i] = std::sin(1 + 1.7 * static_cast<double>(i)) + 0.1;
  double value = 0, sum = 0, size = 0;
  kind.linear_view()({.slots = 1, .inputs = arguments, .values = at.data(), .value = &value, .gains = gains.data()});
  for (std::size_t t = 0; t < terms; ++t) {
    if (gains[t] != at[terms + t] || gains[terms + t] != at[t]) return false;
    sum += at[t] * at[terms + t], size += std::abs(at[t] * at[terms + t]);
  }
  return std::abs(value - sum) <= 1e-12 * size;
}

bool are_side_by_side(const RowPlace& first, const RowPlace& other, Index distance) {
  return other.in == first.in && other.at == first.at + distance &&
         other.noise == (first.noise < 0 ? -1 : first.noise + distance);
}

class RowCompiler {
 public:
  RowCompiler(const Graph& graph, const Registry& registry, const std::vector<VariableId>& targets)
      : rows_(graph, registry, targets), places_(rows_.graph().elements) {}

  RowCode compile() {
    code_.prior = rows_.prior();
    code_.output_noise = rows_.output_noise();
    code_.likelihoods = rows_.likelihoods();
    place_given();
    for (const std::uint32_t f : rows_.order()) emit(rows_.graph().factors[f]);
    place_outputs();
    return std::move(code_);
  }

 private:
  using Factor = Resolved::Factor;

  void place_given() {
    for (std::uint32_t v = 0; v < rows_.graph().variables.size(); ++v) {
      const auto& variable = rows_.graph().variables[v];
      if (!rows_.is_reached(v) || !(variable.shared || rows_.is_input(v))) continue;
      if (variable.shared) code_.first_scalars.push_back(code_.scalars);
      (variable.shared ? code_.shared : code_.input_variables).push_back(VariableId{v, rows_.graph().mark});
      for (std::uint32_t e = 0; e < variable.size; ++e)
        places_[variable.first_element + e] = variable.shared ? RowPlace{RowPlace::In::scalar, code_.scalars++}
                                                              : RowPlace{RowPlace::In::input, code_.inputs++};
    }
  }

  void emit(const Factor& factor) {
    if (adds_noise(factor)) return emit_noise(factor);
    std::vector<std::vector<RowPlace>> arguments;  // by argument and slot
    for (std::size_t p = 0; p < factor.ports.size(); ++p) {
      const Resolved::Port& port = factor.ports[p];
      if (factor.kind->ports()[p].output) continue;
      for (std::uint32_t t = 0; t < port.terms; ++t) arguments.emplace_back();
      if (port.elements.is_given) add_gather(factor, p);
      for (std::uint32_t q = 0; q < factor.slots * port.terms; ++q)
        arguments[arguments.size() - port.terms + q % port.terms].push_back(
            port.elements.is_given ? chosen_[q] : *places_[port.elements(q)]);
    }
    if (is_linear(*factor.kind, arguments.size())) return emit_linear(factor, arguments);
    if (is_sum_of_products(*factor.kind, arguments.size()) && emit_products(factor, arguments)) return;
    emit_function(factor, arguments);
  }

  // Results in columns of their own; returns the first.
  Index place_results(const Factor& factor, Index noise) {
    const Index first = code_.computed;
    for (std::uint32_t s = 0; s < factor.slots; ++s)
      places_[RowGraph::output_of(factor).elements(s)] =
          RowPlace{RowPlace::In::computed, code_.computed++, noise < 0 ? -1 : noise + s};
    return first;
  }

  Index add_noise(double variance, ColumnRange sources, bool derived) {
    code_.noise.conservativeResize(code_.noise.size() + 1);
    code_.noise(code_.noise.size() - 1) = variance;
    code_.derived.push_back(derived ? 1 : 0);
    sources_.push_back(sources);
    return code_.noise.size() - 1;
  }

  // The sources of noise of some places, which must not meet twice.
  ColumnRange joined(const Factor& factor, std::vector<RowPlace> places) const {
    std::erase_if(places, [](const RowPlace& place) { return place.noise < 0; });
    if (places.empty()) return {};
    const auto range = [&](const RowPlace& place) { return sources_[static_cast<std::size_t>(place.noise)]; };
    std::ranges::sort(places, {}, [&](const RowPlace& place) { return range(place).begin; });
    for (std::size_t i = 1; i < places.size(); ++i)
      if (range(places[i]).begin < range(places[i - 1]).end)
        fail(
            "Gaussian learning: one noise reaches factor '{}' by two ways; put a function between, or leave "
            "one noise out",
            factor.name());
    return {range(places[0]).begin, range(places.back()).end};
  }
  bool any_noise(const std::vector<std::vector<RowPlace>>& arguments) const {
    return std::ranges::any_of(arguments, [](const auto& places) {
      return std::ranges::any_of(places, [](const RowPlace& place) { return place.noise >= 0; });
    });
  }

  void emit_noise(const Factor& factor) {
    for (std::uint32_t s = 0; s < factor.slots; ++s) {
      RowPlace place = *places_[factor.ports[0].elements(s)];
      const GaussianRow row = gaussian_row(factor, s, 2);
      double variance = row.variance / (row.coefficients[1] * row.coefficients[1]);
      ColumnRange sources{source_count_, source_count_ + 1};
      ++source_count_;
      if (place.noise >= 0) {
        if (code_.derived[static_cast<std::size_t>(place.noise)] != 0)
          fail("Gaussian learning: factor '{}' adds noise to noise that passed weights; put a function between",
               factor.name());
        variance += code_.noise(place.noise);
        sources.begin = sources_[static_cast<std::size_t>(place.noise)].begin;
      }
      place.noise = add_noise(variance, sources, false);
      places_[factor.ports[1].elements(s)] = place;
    }
  }

  void emit_linear(const Factor& factor, const std::vector<std::vector<RowPlace>>& arguments) {
    LinearStep step{.slots = factor.slots, .terms = static_cast<Index>(arguments.size())};
    std::vector<double> zeros(arguments.size()), gains(arguments.size());
    for (std::uint32_t s = 0; s < factor.slots; ++s) {
      if (s == 0 || vary(*factor.parameters)) {
        const auto parameters = parameters_of(*factor.parameters, s);
        double value = 0;
        factor.kind->linear_view()({.slots = 1,
                                    .inputs = arguments.size(),
                                    .values = zeros.data(),
                                    .parameters = parameters.data(),
                                    .parameter_count = parameters.size(),
                                    .value = &value,
                                    .gains = gains.data()});
        step.offsets.push_back(value);
      } else {
        step.offsets.push_back(step.offsets.back());
      }
      step.coefficients.insert(step.coefficients.end(), gains.begin(), gains.end());
      for (const auto& places : arguments) step.inputs.push_back(places[s]);
    }
    if (becomes_bias(factor, step)) return;
    if (any_noise(arguments)) step.noise = code_.noise.size();
    for (Index s = 0; step.noise >= 0 && s < step.slots; ++s) {
      const auto first = step.inputs.begin() + s * step.terms;
      double variance = 0;
      bool derived = false;
      for (Index t = 0; t < step.terms; ++t)
        if (const Index noise = first[t].noise; noise >= 0) {
          const double c = step.coefficients[static_cast<std::size_t>(s * step.terms + t)];
          variance += c * c * code_.noise(noise);
          derived = derived || code_.derived[static_cast<std::size_t>(noise)] != 0;
        }
      add_noise(derived ? 0 : variance, joined(factor, {first, first + step.terms}), derived);
    }
    step.out = place_results(factor, step.noise);
    add(std::move(step), "linear", factor, read_by(factor, " + "));
  }

  // Shared scalars added to the result of an affine step that nobody else reads.
  bool becomes_bias(const Factor& factor, const LinearStep& linear) {
    if (linear.terms != 2) return false;
    const bool scalar_first = linear.inputs[0].is_scalar();
    const auto part = [&](Index slot, bool scalar) {
      return linear.inputs[static_cast<std::size_t>(2 * slot + (scalar == scalar_first ? 0 : 1))];
    };
    const RowPlace scalar = part(0, true), result = part(0, false);
    if (!scalar.is_scalar() || result.in != RowPlace::In::computed) return false;
    const auto maker = maker_.find(result.at);
    if (maker == maker_.end()) return false;
    auto& affine = std::get<AffineStep>(code_.steps[maker->second]);
    if (affine.bias >= 0 || affine.rows != linear.slots || affine.out != result.at) return false;
    for (Index s = 0; s < linear.slots; ++s) {
      if (!are_side_by_side(scalar, part(s, true), s) || !are_side_by_side(result, part(s, false), s)) return false;
      const auto i = static_cast<std::size_t>(s);
      if (linear.offsets[i] != 0 || linear.coefficients[2 * i] != 1 || linear.coefficients[2 * i + 1] != 1)
        return false;
    }
    const Resolved::Port& read = factor.ports[scalar_first ? 1 : 0];
    for (std::uint32_t s = 0; s < factor.slots; ++s)
      if (rows_.reads(read.elements(s)) != 1) return false;
    affine.bias = scalar.at;
    for (std::uint32_t s = 0; s < factor.slots; ++s) places_[RowGraph::output_of(factor).elements(s)] = part(s, false);
    std::string& line = code_.lines[maker->second];
    line = text_of(
        "affine", factor,
        fmt::format("{} + {}", line.substr(line.find(" = ") + 3), rows_.names_of(factor.ports[scalar_first ? 0 : 1])));
    return true;
  }

  // False: a term has no shared scalar in it, or nothing else.
  bool emit_products(const Factor& factor, const std::vector<std::vector<RowPlace>>& arguments) {
    const auto terms = static_cast<Index>(arguments.size() / 2);
    ProductsStep step{.slots = factor.slots, .terms = terms};
    for (std::uint32_t s = 0; s < factor.slots; ++s)
      for (Index t = 0; t < terms; ++t) {
        RowPlace weight = arguments[static_cast<std::size_t>(t)][s],
                 other = arguments[static_cast<std::size_t>(terms + t)][s];
        if (!weight.is_scalar()) std::swap(weight, other);
        if (!weight.is_scalar() || other.is_scalar()) return false;
        if (weight.noise >= 0)
          fail(
              "Gaussian learning: factor '{}' multiplies a shared variable that has noise on it; put the noise on the "
              "other factor, or learn the graph by message sweeps (Learner)",
              factor.name());
        step.weights.push_back(weight.at);
        step.others.push_back(other);
      }
    if (any_noise(arguments)) step.noise = code_.noise.size();
    for (Index s = 0; step.noise >= 0 && s < step.slots; ++s) {
      const auto first = step.others.begin() + s * terms;
      add_noise(0, joined(factor, {first, first + terms}), true);
    }
    step.out = place_results(factor, step.noise);
    const bool first_is_shared = arguments[0][0].is_scalar();
    const std::string what = fmt::format("{} {}", rows_.names_of(factor.ports[first_is_shared ? 0 : 1]),
                                         rows_.names_of(factor.ports[first_is_shared ? 1 : 0]));
    if (is_dense(step)) {
      maker_.emplace(step.out, code_.steps.size());
      add(AffineStep{.h = step.others[0],
                     .rows = step.slots,
                     .columns = terms,
                     .weights = step.weights[0],
                     .out = step.out,
                     .noise = step.noise},
          "affine", factor, what);
    } else {
      add(std::move(step), "products", factor, what);
    }
    return true;
  }

  // Weights row by row, each row with the same inputs side by side.
  static bool is_dense(const ProductsStep& step) {
    for (Index q = 0; q < step.slots * step.terms; ++q) {
      const auto i = static_cast<std::size_t>(q);
      if (step.weights[i] != step.weights[0] + q) return false;
      if (!are_side_by_side(step.others[0], step.others[i], q % step.terms)) return false;
    }
    return true;
  }

  void emit_function(const Factor& factor, const std::vector<std::vector<RowPlace>>& arguments) {
    FunctionStep step{.view = factor.kind->linear_view(),
                      .slots = factor.slots,
                      .arguments = static_cast<Index>(arguments.size()),
                      .inputs = {},
                      .parameters = *factor.parameters,
                      .same_parameters = !vary(*factor.parameters),
                      .is_noisy = any_noise(arguments)};
    for (const auto& places : arguments) step.inputs.insert(step.inputs.end(), places.begin(), places.end());
    for (std::uint32_t s = 0; step.is_noisy && s < factor.slots; ++s) {
      std::vector<RowPlace> of_slot;
      std::vector<std::uint8_t> noisy;
      for (const auto& places : arguments) of_slot.push_back(places[s]), noisy.push_back(places[s].noise >= 0 ? 1 : 0);
      (void)joined(factor, of_slot);
      if (factor.kind->linear_in() && std::ranges::find(noisy, 1) != noisy.end() && factor.kind->linear_in()(noisy))
        fail(
            "Gaussian learning: noise on an input of factor '{}' would be lost: it is linear in that, and only weights "
            "and sums carry noise; put the noise behind it",
            factor.name());
    }
    step.out = place_results(factor, -1);
    const bool is_noisy = step.is_noisy;
    add(std::move(step), "function", factor,
        fmt::format("{}({}){}", factor.kind->name(), read_by(factor, ", "), is_noisy ? ", averaged over noise" : ""));
  }

  // One column for every entry of the table: chosen_.
  void add_gather(const Factor& factor, std::size_t p) {
    const Resolved::Port& port = factor.ports[p];
    const auto& variable = rows_.variable(port.elements(0));
    if (!variable.shared)
      fail(
          "Gaussian learning: the table of factor '{}' chooses from '{}', which is not shared; only shared variables "
          "can be chosen from",
          factor.name(), variable.name);
    const std::uint32_t entries = factor.slots * port.terms;
    code_.tables.push_back(
        {FactorId{factor.number, rows_.graph().mark}, factor.kind->ports()[p].name, entries, variable.size});
    chosen_.clear();
    for (std::uint32_t q = 0; q < entries; ++q) {
      chosen_.push_back({RowPlace::In::computed, code_.computed++});
      code_.steps.emplace_back(GatherStep{.input = code_.inputs++,
                                          .first = places_[variable.first_element]->at,
                                          .choices = variable.size,
                                          .out = chosen_[q].at});
      code_.lines.push_back(fmt::format("gather     {}[entry {} of the table of {}]", variable.name, q, factor.name()));
    }
  }

  // Names of the variables that it reads.
  std::string read_by(const Factor& factor, std::string_view between) const {
    std::vector<std::string> names;
    for (std::size_t p = 0; p < factor.ports.size(); ++p)
      if (!factor.kind->ports()[p].output) names.push_back(rows_.names_of(factor.ports[p]));
    return dma::joined(names, between);
  }
  std::string text_of(std::string_view form, const Factor& factor, std::string_view what) const {
    return fmt::format("{:<10} {} ({}) = {}", form, rows_.names_of(RowGraph::output_of(factor)), factor.slots, what);
  }
  void add(RowStep step, std::string_view form, const Factor& factor, std::string_view what) {
    code_.steps.emplace_back(std::move(step));
    code_.lines.push_back(text_of(form, factor, what));
  }

  void place_outputs() {
    for (std::size_t k = 0; k < rows_.outputs().size(); ++k) {
      const RowPlace place = *places_[rows_.outputs()[k]];
      if (place.noise >= 0 && code_.derived[static_cast<std::size_t>(place.noise)] != 0)
        fail(
            "Gaussian learning: noise on an input reaches '{}' through weights alone, and its width would depend on "
            "them; put a function between, or the noise behind the weights",
            rows_.name_of(rows_.outputs()[k]));
      if (place.noise >= 0 && code_.likelihoods[k])
        fail(
            "Gaussian learning: noise reaches '{}', and the likelihood of its target is not Gaussian: the two would "
            "have to be folded; leave the noise out, or learn the graph by message sweeps (Learner)",
            rows_.name_of(rows_.outputs()[k]));
      if (place.noise >= 0) code_.output_noise[k] += code_.noise(place.noise);
      code_.outputs.push_back(place);
    }
  }

  const RowGraph rows_;
  std::vector<std::optional<RowPlace>> places_;  // by element
  RowCode code_;
  Index source_count_ = 0;
  std::vector<ColumnRange> sources_;    // range of sources, by number of the noise
  std::map<Index, std::size_t> maker_;  // first column -> affine step
  std::vector<RowPlace> chosen_;        // by the last table
};

}  // namespace

RowCode compile_rows(const Graph& graph, const Registry& registry, const std::vector<VariableId>& targets) {
  return RowCompiler(graph, registry, targets).compile();
}

}  // namespace dma
