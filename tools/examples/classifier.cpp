// Classes: is a point inside the ring or outside? A network learns it from 150 labelled points; it estimates how often
// it will be right on new points, and gives each answer a probability. Random labels get their frequencies.
//
// Prints:
//   left out: 93 % right, log-loss 0.09
//   (0, 0): inside with probability 1.00
//   (1.3, 0): inside with probability 0.39
//   (2, 2): inside with probability 0.00
//   chance: 0.01 for the network, log-loss 0.65, of the frequencies 0.65
#include <dma_models.h>
#include <fmt/core.h>

#include <cmath>

int main() {
  using namespace dma;
  Eigen::MatrixXd points(150, 2);
  std::vector<std::string> labels, chance;
  for (Eigen::Index n = 0; n < points.rows(); ++n) {
    const auto i = static_cast<double>(n);
    points.row(n) << 4 * std::fmod(0.7549 * i, 1.0) - 2, 4 * std::fmod(0.5698 * i, 1.0) - 2;  // spread evenly
    labels.push_back(points.row(n).norm() < 1.3 ? "inside" : "outside");
    chance.push_back(std::fmod(0.3247 * i * i, 1.0) < 0.3 ? "inside" : "outside");
  }
  Classifier net({.hidden = std::vector<std::size_t>{20}, .members = 1});
  const TableReport report = net.fit(points, labels);
  fmt::print("left out: {:.0f} % right, log-loss {:.2f}\n", 100 * report.left_out_classes->accuracy,
             report.left_out_classes->log_loss);
  Eigen::MatrixXd asked(3, 2);
  asked << 0, 0, 1.3, 0, 2, 2;
  const Eigen::MatrixXd p = net.predict(asked);
  for (Eigen::Index n = 0; n < 3; ++n)
    fmt::print("({}, {}): {} with probability {:.2f}\n", asked(n, 0), asked(n, 1), net.classes()[0], p(n, 0));
  const TableReport none = net.fit(points, chance);
  fmt::print("chance: {:.2f} for the network, log-loss {:.2f}, of the frequencies {:.2f}\n",
             (1 - none.frequencies) * none.graphs, none.left_out_classes->log_loss, none.of_frequencies.log_loss);
}
