// Apps. C.5 and C.6: marginals around one product and one leaky-ReLU factor, against importance sampling.
#include <fmt/format.h>

#include <cmath>

#include "tools/experiments/paper/figures/appendix_c.h"
#include "tools/experiments/paper/figures/reference.h"

namespace dma::validation {

namespace {

Natural normal(double mean, double variance) { return Gaussian::from_moments(mean, variance); }

// KL below this is called a good approximation here: at 0.05 nats no sample of 20 tells two distributions apart.
constexpr double kGood = 0.05;

struct Panels {
  plot::Figure figure;
  std::vector<Marginal> marginals = {};

  void add(const std::string& title, const std::string& label, const Marginal& m) {
    figure.panels.push_back(marginal_panel(title, label, m));
    marginals.push_back(m);
  }
};

std::string both(const Marginal& m) { return fmt::format("{:.4f} ({:.4f} by samples)", m.exact, m.sampled); }

}  // namespace

void product_marginals(Section& section, const AppendixOptions& options) {
  Panels panels{.figure = {.columns = 3, .panel_width = 400}};
  const Scenario nominal{{{normal(3, 1)}, {normal(4, 1)}, {normal(10, 5)}}, {}};
  const Scenario stress{{{normal(1, 4)}, {normal(-2.5, 1)}, {normal(-5, 1)}}, {}};
  for (const auto& [name, scenario] : {std::pair("nominal", &nominal), std::pair("stress", &stress)})
    for (const char* port : {"x", "y", "z"})
      panels.add(fmt::format("{} {}", name, port), port, marginal("product", *scenario, port, options));
  section.pictures.push_back(
      {"product_marginals", "C.5: product factor, nominal (top) and stress (bottom).", panels.figure});
  const auto& m = panels.marginals;
  const auto list = [&](std::size_t first) {
    return fmt::format("KL x {}, y {}, z {}", both(m[first]), both(m[first + 1]), both(m[first + 2]));
  };
  auto& claims = section.claims;
  claims.push_back({"C.5a", "nominal: z is well approximated, x and y are noticeably skewed", "no number given",
                    list(0), m[2].exact < kGood && m[2].exact < std::min(m[0].exact, m[1].exact)});
  claims.push_back({"C.5b", "stress: z remains well approximated", "no number given", list(3), m[5].exact < kGood});
  claims.push_back({"C.5b", "stress: x and y become severely non-Gaussian", "no number given", list(3),
                    std::min(m[3].exact, m[4].exact) > std::max(m[0].exact, m[1].exact)});
  section.text.push_back(
      "C.5, C.6: two KL values are printed. The one by samples is the paper's: a histogram of 500 bins between the "
      "0.1% and 99.9% quantiles, renormalised, which leaves out the tails; the one by quadrature has them, and is "
      "larger where they are heavy.");
}

void relu_marginals(Section& section, const AppendixOptions& options) {
  Panels panels;
  const std::vector<double> slope = {0.1};
  panels.add("backward x", "x", marginal("leaky_relu", {{{normal(1, 1)}, {normal(1, 1)}}, slope}, "x", options));
  // Nothing arrives from y: the marginal is the pushforward, with its narrow ridge below 0. A Gaussian of nearly no
  // precision stands for the uniform message, which a marginal's density cannot be formed with.
  panels.add("forward y", "y", marginal("leaky_relu", {{{normal(1, 1)}, {normal(0, 1e6)}}, slope}, "y", options));
  section.pictures.push_back({"relu_marginals", "C.6: leaky-ReLU factor, slope 0.1.", panels.figure});
  const auto& m = panels.marginals;
  section.claims.push_back({"C.6", "DMA captures the bulk of x and y but not their asymmetry", "no number given",
                            fmt::format("KL x {}, y {}", both(m[0]), both(m[1])),
                            m[0].exact > 1e-3 && m[1].exact > kGood});
  section.text.push_back(
      "C.6: the message from y is not given; N(1, 1) was chosen for the backward panel and none for the forward one. "
      "The text speaks of a point mass at y = 0; for slope 0.1 there is none, but a ridge of height 10 times the "
      "density just above 0.");
}

}  // namespace dma::validation
