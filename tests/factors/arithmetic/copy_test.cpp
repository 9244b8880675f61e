#include "factors/arithmetic/copy.h"

#include "tests/oracles/accuracy.h"

namespace dma {

TEST_CASE("copy: every message is the product of the others, whichever dominates") {
  oracle::check_accuracy("copy", [](auto& random, const auto& range, auto& accuracy) {
    std::vector<Gaussian> in(2 + static_cast<std::size_t>(5 * random.uniform())), out(in.size());
    for (Gaussian& g : in) g = random.proper(range);
    Copy::to_all(in, out);
    for (std::size_t j = 0; j < in.size(); ++j) accuracy.compare(out[j], oracle::copy_to(in, j));
  });
}

TEST_CASE("copy: a message 1e40 times sharper than the others does not blur what they say") {
  const std::array in{Gaussian(1e60, 1e40), Gaussian(2, 1), Gaussian(3, 2)};
  std::array<Gaussian, 3> out;
  Copy::to_all(in, out);
  CHECK(out[0] == Gaussian(5, 3));
}

TEST_CASE("copy: uniform messages are neutral, and a lone variable hears nothing") {
  const std::array in{Gaussian::uniform(), Gaussian(2, 1)};
  std::array<Gaussian, 2> out;
  Copy::to_all(in, out);
  CHECK(out[0] == in[1]);
  CHECK(out[1] == in[0]);
  std::array<Gaussian, 1> alone;
  Copy::to_all(std::array{Gaussian(2, 1)}, alone);
  CHECK(alone[0] == Gaussian::uniform());
}

TEST_CASE("copy: a point mass decides every message but its own") {
  const Gaussian point = Gaussian::point(7);
  std::array<Gaussian, 3> out;
  Copy::to_all(std::array{Gaussian(2, 1), point, Gaussian(3, 2)}, out);
  CHECK(out == std::array{point, Gaussian(5, 3), point});
  Copy::to_all(std::array{Gaussian(2, 1), point, Gaussian::point(8)}, out);
  CHECK(out == std::array{point, Gaussian::point(8), point});
}

}  // namespace dma
