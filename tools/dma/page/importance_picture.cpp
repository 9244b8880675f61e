#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "tools/dma/page/html.h"
#include "tools/dma/page/pictures.h"

namespace dma::report {

std::string importance_picture(const Shown& shown, const std::string& pointer) {
  constexpr double kWidth = 420, kNames = 136, kValues = 112, kRow = 24;
  const Json& inputs = shown.at(pointer + "/inputs");
  const std::size_t rows = std::min<std::size_t>(20, inputs.size());
  double low = 0, high = 0;
  for (std::size_t i = 0; i < rows; ++i) {
    const double rise = json_number(inputs[i].at("rise")), sd = json_number(inputs[i].at("sd"));
    if (!std::isfinite(rise) || !std::isfinite(sd)) continue;
    low = std::min(low, rise - sd), high = std::max(high, rise + sd);
  }
  const double range = high > low && std::isfinite(high - low) ? high - low : 1;
  const auto x = [&](double value) {
    return kNames + std::clamp((value - low) / range, 0.0, 1.0) * (kWidth - kNames - kValues);
  };
  std::string out =
      fmt::format("<svg class=\"chart\" viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"importance of the inputs\">",
                  kWidth, kRow * static_cast<double>(rows) + 6);
  for (std::size_t i = 0; i < rows; ++i) {
    const Json& one = inputs[i];
    const auto name = one.at("name").get<std::string>();
    const double rise = json_number(one.at("rise")), sd = json_number(one.at("sd")),
                 middle = kRow * (static_cast<double>(i) + 0.5) + 3;
    const std::string place = fmt::format("{}/inputs/{}", pointer, i);
    out += fmt::format("<g><title>{}\nrise {} ± {}</title>", page::escaped(name), four_digits(rise), four_digits(sd));
    out += fmt::format("<rect class=\"hit\" x=\"0\" y=\"{:.1f}\" width=\"{}\" height=\"{}\"/>", middle - kRow / 2,
                       kWidth, kRow);
    out += fmt::format("<text class=\"name\" x=\"{}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>", kNames - 8,
                       middle + 4, page::escaped(plot::shortened(name, 20)));
    if (std::isfinite(rise) && std::isfinite(sd)) {
      out += fmt::format("<rect class=\"f-blue\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"12\" rx=\"2\"/>",
                         std::min(x(0), x(rise)), middle - 6, std::abs(x(rise) - x(0)));
      out += fmt::format("<path class=\"line s-black\" d=\"M{:.1f} {:.1f}H{:.1f}M{:.1f} {:.1f}v6M{:.1f} {:.1f}v6\"/>",
                         x(rise - sd), middle, x(rise + sd), x(rise - sd), middle - 3, x(rise + sd), middle - 3);
    }
    out += fmt::format("<text x=\"{}\" y=\"{:.1f}\" text-anchor=\"end\">{} ± {}</text></g>\n", kWidth - 2, middle + 4,
                       shown.number_in_picture(place + "/rise"), shown.number_in_picture(place + "/sd"));
  }
  out += fmt::format("<path class=\"axis\" d=\"M{:.1f} 0V{:.1f}\"/>", x(0), kRow * static_cast<double>(rows) + 6);
  return out + "</svg>\n";
}

}  // namespace dma::report
