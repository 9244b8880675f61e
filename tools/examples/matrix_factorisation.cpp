// Marks that eight readers gave five books, with gaps: what would the missing marks be? Each mark is a product of a
// taste and a quality, around the mean.
//
// Prints:
//   converged, noise 0.68
//   reader 1 and book 3: 7.4 +- 0.5
//   reader 4 and book 3: 2.5 +- 0.5
//   reader 6 and book 4: 7.6 +- 0.6
//   reader 8 and book 3: 4.8 +- 0.3
#include <dma_models.h>
#include <fmt/core.h>

#include <cmath>

int main() {
  using namespace dma;
  const double no = std::nan("");
  Eigen::MatrixXd marks(8, 5);
  marks << 9, 8, no, 2, 3,  //
      8, no, 7, 3, 2,       //
      no, 7, 8, 1, no,      //
      2, 3, no, 8, 9,       //
      1, no, 2, 9, no,      //
      3, 2, 3, no, 8,       //
      no, 8, 7, 3, 3,       //
      5, 5, no, 5, 6;
  double sum = 0, count = 0;
  for (const double mark : marks.reshaped())
    if (!std::isnan(mark)) sum += mark;
  for (const double mark : marks.reshaped()) count += std::isnan(mark) ? 0 : 1;
  const double mean = sum / count;

  const Factorisation found = factorise(marks.array() - mean, {.rank = 1});
  fmt::print("{}, noise {:.2f}\n", found.report.converged() ? "converged" : found.report.line(),
             std::sqrt(found.noise_variance));
  for (const auto& [reader, book] : {std::pair{0, 2}, {3, 2}, {5, 3}, {7, 2}})
    fmt::print("reader {} and book {}: {:.1f} +- {:.1f}\n", reader + 1, book + 1, mean + found.mean(reader, book),
               found.sd(reader, book));
}
