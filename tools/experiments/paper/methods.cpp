#include "tools/experiments/paper/methods.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "engine/support/error.h"
#include "tools/experiments/paper/fit_baseline.h"
#include "tools/experiments/paper/fit_network.h"
#include "tools/experiments/paper/scores.h"

namespace dma::reproduce {

namespace {

using Kinds = std::map<std::string, std::string>;

std::vector<Method> make_methods() {
  std::vector<Method> all;
  const auto network = [&](std::string name, std::string title, NetworkChange change) {
    all.push_back({name, title,
                   [change](const Task& t, std::uint64_t s, const Effort& e) { return fit_network(t, s, e, change); }});
  };
  network("dma", "DMA", {});
  network("default", "default", {.by_default = true});
  for (const double tolerance : {0.03, 0.01})
    network(fmt::format("dma-tolerance-{}", tolerance), fmt::format("DMA, tolerance {}", tolerance),
            {.tolerance = tolerance});
  network("dma-prior", "DMA, the data's prior", {.data_prior = true});
  // As many starts as the default mixes on a table of this size.
  network("joint", "joint, the data's prior", {.method = "joint", .data_prior = true, .starts = 4});
  network("joint-one", "joint, the data's prior, one start", {.method = "joint", .data_prior = true});
  network("joint-linear", "joint with slopes 1, the data's prior",
          {.method = "joint", .data_prior = true, .linear = true});
  network("ep", "EP everywhere", {.method = "ep"});
  network("ep-relu", "EP on leaky ReLU, DMA elsewhere", {.kind_methods = Kinds{{"leaky_relu", "ep"}}});
  network("ep-product", "EP on product, DMA elsewhere", {.kind_methods = Kinds{{"product", "ep"}}});
  for (const double rate : {1e-3, 1e-2, 1e-1, 1.0}) all.push_back(adam_method({.rate = rate}));
  all.push_back(adam_method({.rate = 0.01}, 20));
  for (const double decay : {0.01, 0.1, 1.0, 10.0}) all.push_back(adam_method({.rate = 0.1, .weight_decay = decay}));
  for (const double rate : {0.01, 1.0}) all.push_back(adam_method({.rate = rate, .weight_decay = 1}));
  all.push_back(ivon_method("ivon", "IVON", {.rate = 0.6, .second_decay = 0.9999, .damping = 0.1}));
  all.push_back(ivon_method("ivon-tuned", "IVON, tuned on other seeds", kTunedIvon));
  all.push_back({"laplace", "diagonal Laplace",
                 [](const Task& t, std::uint64_t s, const Effort& e) { return fit_laplace(t, s, e, 2); }});
  all.push_back(
      {"laplace-prior", "diagonal Laplace, the data's prior", [](const Task& t, std::uint64_t s, const Effort& e) {
         return fit_laplace(t, s, e, 1 + 1 / static_cast<double>(t.data.layers.size() - 1));
       }});
  all.push_back({"linear", "linear in the features", &fit_linear});
  all.push_back({"exact", "exact (HMC)",
                 [](const Task& t, std::uint64_t s, const Effort& e) { return fit_hmc(t, s, e, false); }});
  all.push_back({"exact-own", "exact (HMC), DMA's prior means",
                 [](const Task& t, std::uint64_t s, const Effort& e) { return fit_hmc(t, s, e, true); }});
  return all;
}

}  // namespace

std::string Effort::text() const {
  return fmt::format("hmc {}x({}+{})x{}, {} draws, ivon {}, default {}", hmc_chains, hmc_warm_up, hmc_samples,
                     hmc_longest, posterior_samples, ivon_epochs, epochs);
}

const std::vector<Method>& methods() {
  static const std::vector<Method> all = make_methods();
  return all;
}

const Method& method(const std::string& name) {
  const auto found = std::ranges::find(methods(), name, &Method::name);
  if (found != methods().end()) return *found;
  std::vector<std::string> known;
  for (const Method& m : methods()) known.push_back(m.name);
  fail("there is no method '{}'{}", name, suggestion(name, known));
}

std::string curve_title(const std::string& name) {
  const bool evidence = name == "default" || name.starts_with("joint");
  return method(name).title + (evidence ? " (-log evidence per row)" : "");
}

const std::vector<std::string>& own_methods() {
  static const std::vector<std::string> names = {"dma", "default"};
  return names;
}

std::string fit_name(const std::string& task, const std::string& method, std::uint64_t seed) {
  return fmt::format("{}.{}.{}", task, method, seed);
}

Unit fit_unit(const std::string& task, const std::string& name, std::uint64_t seed, const Effort& effort, bool curves) {
  return {fit_name(task, name, seed), fmt::format("{} {}", effort.text(), curves ? "with curves" : "scores"), [=] {
            const Task own = make_task(task, seed);
            const Fitted fitted = method(name).fit(own, seed, effort);
            Json json = {{"finite", fitted.finite}, {"epochs", fitted.curve.size()}};
            if (fitted.finite) json.update(score(own, fitted.predict, curves));
            json.update(fitted.more);
            if (curves) {
              json["curve"] = Json::array();
              for (const double nll : fitted.curve) json["curve"].push_back(json_number(nll));
            }
            return json;
          }};
}

}  // namespace dma::reproduce
