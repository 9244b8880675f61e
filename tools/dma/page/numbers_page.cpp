// Parts of the page that show targets of numbers.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "tools/dma/page/chart.h"
#include "tools/dma/page/page_parts.h"
#include "tools/dma/page/pictures.h"

namespace dma::report {

namespace {

using page::escaped;

std::string noise_card(const Shown& shown, const std::string& target) {
  return shown.at(target + "/noise").is_null()
             ? ""
             : page::card(shown.number(target + "/noise"),
                          "standard deviation of the noise" + noise_of_what(shown, target));
}

std::string quality_charts(const Shown& shown, const std::string& target) {
  const auto name = shown.at(target + "/name").get<std::string>();
  const Json& points = shown.at(target + "/points");
  const bool all = points.at("shown") == points.at("rows");
  const std::string which =
      fmt::format("{}{} rows{}", all ? "All " : "", shown.whole_number(target + "/points/shown"),
                  all ? "" : fmt::format(" of {}, drawn by the seed", shown.whole_number(target + "/points/rows")));
  return large_charts(
      {page::figure(agreement_panel(points, name), which + ". On the dashed line the prediction is right."),
       page::figure(residual_panel(points, name), which + ". A pattern here is structure that was not learned."),
       page::figure(coverage_panel(shown.at(target + "/coverage")),
                    "Central intervals of every width. Below the dashed line they are too narrow, above too wide."),
       page::figure(
           calibration_panel(shown.at(target + "/calibration")),
           "Quantiles of the predictive. A curve beside the dashed line is a bias, a bent one a wrong width.")});
}

std::string matters_charts(const Shown& shown, const std::string& target) {
  std::vector<std::string> figures;
  for (const auto& panel :
       dependence_panels(shown.at(target + "/dependence"), shown.at(target + "/name").get<std::string>()))
    figures.push_back(page::figure(panel, ""));
  return fmt::format(
             "<p><em>Partial dependence</em>: the mean prediction, {}. The band is two standard deviations of what is "
             "not known of the function (without the noise), averaged over those rows: an upper bound for that of the "
             "mean.</p>\n",
             averaged_sentence(shown)) +
         charts(figures);
}

}  // namespace

PageParts parts_of_numbers() {
  return {.scores = {{"rmse", "RMSE"},
                     {"explained", "of the variance explained", 2},
                     {"log_likelihood", "mean log-likelihood"},
                     {"coverage_50", "inside 50 %", 1},
                     {"coverage_90", "inside 90 %", 1},
                     {"coverage_95", "inside 95 % intervals", 1}},
          .cards = {"rmse", "explained", "coverage_95"},
          .more_cards = noise_card,
          .quality = quality_charts,
          .dependence = matters_charts};
}

}  // namespace dma::report
