// App. B, Table 2: which theorem covers which factor and direction, from the certificates.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "engine/certify/certify.h"
#include "factors/standard_registry.h"
#include "tools/experiments/paper/figures.h"

namespace dma::reproduce {

namespace {

struct CoveredFactor {
  const char *paper_name, *direction, *kind;
  std::vector<std::string> ports;  // none: all
  bool proper;
  const char* theorem;
  Band band;  // the band that the paper's theorem promises
};

const std::vector<CoveredFactor>& covered_factors() {
  static const std::vector<CoveredFactor> all = {
      {"Gaussian prior", "both", "gaussian_prior", {}, true, "Dirac-exact corollary", Band::exact},
      {"Gaussian likelihood", "both", "gaussian_noise", {}, true, "exact (conjugate)", Band::exact},
      {"linear", "both", "sum", {}, true, "Dirac-exact corollary", Band::exact},
      {"copy", "both", "copy", {}, true, "Dirac-exact corollary", Band::exact},
      {"product z = xy", "forward (z)", "product", {"z"}, true, "master theorem", Band::bounded},
      {"product z = xy",
       "backward (x, y)",
       "product",
       {"x", "y"},
       false,
       "product-backward theorem",
       Band::concentrated},
      {"leaky ReLU, slope > 0", "forward", "leaky_relu", {"y"}, true, "master theorem", Band::bounded},
      {"leaky ReLU, slope > 0", "backward", "leaky_relu", {"x"}, true, "master theorem", Band::bounded},
  };
  return all;
}

std::string unit_name(const std::string& kind) { return fmt::format("certificate.{}", kind); }

Json certified(const std::string& kind, bool quick) {
  const Registry registry = standard_registry();
  const Kind& own = registry.kind(kind);
  const std::vector<std::string> methods = own.methods();
  const std::string method = std::ranges::find(methods, "dma") != methods.end() ? "dma" : methods.at(0);
  Json edges;
  for (const EdgeCertificate& edge : certify(own, method, quick ? quick_certification() : CertifyOptions{}).edges)
    edges[edge.port] = {{"proper", edge.proper},
                        {"band", name(edge.band)},
                        {"delta", json_number(edge.master.largest_delta)},
                        {"ratio", json_number(edge.master.largest_ratio)},
                        {"rate", json_number(edge.concentration.exact.exponent)},
                        {"faults", edge.properness.faults},
                        {"failures", edge.failures}};
  return edges;
}

}  // namespace

std::vector<Unit> certificates(const Options& options) {
  std::vector<Unit> units;
  for (const CoveredFactor& row : covered_factors())
    if (units.empty() || units.back().name != unit_name(row.kind))
      units.push_back({unit_name(row.kind), options.quick ? "quick" : "full",
                       [kind = std::string(row.kind), quick = options.quick] { return certified(kind, quick); }});
  return units;
}

void write_coverage(Writer& w) {
  w.text(
      "Every row is what `dma certify` measures: whether the exact message is proper, and the band the approximation "
      "has earned. *exact*: no difference to the exact message; *bounded*: proper, and the master theorem's bound "
      "holds in every scenario; *concentrated*: improper, error falls like 1/r^2. The standard ReLU (slope 0) is "
      "outside the domain of `leaky_relu`: its backward message is improper and the paper derives no bound.");
  Table table{"Table 2, generated from the certificates.",
              {"factor", "direction", "exact message proper", "paper", "theorem (paper)", "band earned",
               "largest message KL", "rate in r", "holds"}};
  bool all_hold = true;
  for (const CoveredFactor& row : covered_factors()) {
    bool proper = true;
    std::string band;
    double delta = 0, rate = 0;
    for (const auto& [port, edge] : w.results.at(unit_name(row.kind)).items()) {
      if (!row.ports.empty() && std::ranges::find(row.ports, port) == row.ports.end()) continue;
      proper = proper && edge.at("proper").get<bool>();
      const std::string earned = edge.at("band");
      if (band.empty() || earned != name(row.band)) band = earned;
      delta = std::max(delta, json_number(edge.at("delta")));
      rate = json_number(edge.at("rate"));
    }
    const bool holds = proper == row.proper && band == name(row.band);
    all_hold = all_hold && holds;
    table.rows.push_back({row.paper_name, row.direction, proper ? "yes" : "no", row.proper ? "yes" : "no", row.theorem,
                          band, proper ? fmt::format("{:.2g}", delta) : "–",
                          row.band == Band::concentrated ? fmt::format("r^{:.2f}", rate) : "–", holds ? "yes" : "no"});
  }
  w.claim("Table 2", "every direction is covered by the theorem stated", "8 rows",
          all_hold ? "8 rows" : "see the table", all_hold, "A certificate earned another band: the table says which.");
  w.section.tables.push_back(std::move(table));
}

}  // namespace dma::reproduce
