#include "factors/arithmetic/sum.h"

#include "tests/oracles/accuracy.h"

namespace dma {
namespace {

constexpr std::size_t kMostTerms = 6;

struct Draw {
  std::vector<Gaussian> terms;
  std::vector<double> coefficients;
  Gaussian total;
};

Draw draw(oracle::RandomMessages& random, const oracle::Range& range) {
  Draw d;
  const auto count = 1 + static_cast<std::size_t>(random.uniform() * kMostTerms);
  for (std::size_t k = 0; k < count; ++k) {
    d.terms.push_back(random.proper(range));
    d.coefficients.push_back(random.sign() * random.log_uniform({1e-3, 1e3}));
  }
  d.total = random.proper(range);
  return d;
}

}  // namespace

TEST_CASE("sum: message to the total is exact") {
  oracle::check_accuracy("sum to total", [](auto& random, const auto& range, auto& accuracy) {
    const Draw d = draw(random, range);
    accuracy.compare(Sum::to_total(d.terms, d.coefficients), oracle::sum_to_total(d.terms, d.coefficients));
  });
}

TEST_CASE("sum: messages to the terms are exact, whichever term dominates") {
  oracle::check_accuracy("sum to terms", [](auto& random, const auto& range, auto& accuracy) {
    const Draw d = draw(random, range);
    std::vector<Gaussian> out(d.terms.size());
    Sum::to_terms(d.terms, d.total, d.coefficients, out);
    const auto truth = oracle::sum_to_terms(d.terms, d.total, d.coefficients);
    for (std::size_t j = 0; j < out.size(); ++j) accuracy.compare(out[j], truth[j]);
  });
}

TEST_CASE("sum: a term 1e40 times wider than the others does not blur what the others say about it") {
  const std::array terms{Gaussian::from_moments(1e30, 1e40), Gaussian::from_moments(2, 1),
                         Gaussian::from_moments(3, 2)};
  std::array<Gaussian, 3> out;
  Sum::to_terms(terms, Gaussian::from_moments(10, 4), {}, out);
  CHECK(out[0].mean() == oracle::relative(5, 1e-15));
  CHECK(out[0].variance() == oracle::relative(7, 1e-15));
}

TEST_CASE("sum: empty coefficients stand for ones") {
  const std::array terms{Gaussian::from_moments(1, 2), Gaussian::from_moments(-4, 3)};
  const std::array ones{1.0, 1.0};
  CHECK(Sum::to_total(terms, {}) == Sum::to_total(terms, ones));
  std::array<Gaussian, 2> with, without;
  Sum::to_terms(terms, Gaussian::from_moments(1, 1), ones, with);
  Sum::to_terms(terms, Gaussian::from_moments(1, 1), {}, without);
  CHECK(with == without);
  CHECK(Sum::value(std::array{2.0, 5.0}, {}) == 7);
  CHECK(Sum::value(std::array{2.0, 5.0}, std::array{3.0, -1.0}) == 1);
}

TEST_CASE("sum: a coefficient of 0 takes its term out of the sum") {
  const std::array terms{Gaussian::uniform(), Gaussian::from_moments(3, 2)};
  const std::array coefficients{0.0, 2.0};
  CHECK(Sum::to_total(terms, coefficients) == Gaussian::from_moments(6, 8));
  std::array<Gaussian, 2> out;
  Sum::to_terms(terms, Gaussian::from_moments(4, 4), coefficients, out);
  CHECK(out[0] == Gaussian::uniform());
  CHECK(out[1] == Gaussian::from_moments(2, 1));
}

TEST_CASE("sum: only a uniform term receives an informative message") {
  const std::array terms{Gaussian::uniform(), Gaussian::from_moments(3, 2), Gaussian::point(1)};
  CHECK(Sum::to_total(terms, {}) == Gaussian::uniform());
  std::array<Gaussian, 3> out;
  Sum::to_terms(terms, Gaussian::from_moments(10, 1), {}, out);
  CHECK(out[0].mean() == oracle::relative(6, 1e-15));
  CHECK(out[0].variance() == oracle::relative(3, 1e-15));
  CHECK(out[1] == Gaussian::uniform());
  CHECK(out[2] == Gaussian::uniform());
  Sum::to_terms(terms, Gaussian::uniform(), {}, out);
  CHECK(out[0] == Gaussian::uniform());
}

TEST_CASE("sum: point masses give point masses") {
  const std::array terms{Gaussian::point(2), Gaussian::point(-1)};
  const std::array coefficients{3.0, 4.0};
  CHECK(Sum::to_total(terms, coefficients) == Gaussian::point(2));
  std::array<Gaussian, 2> out;
  Sum::to_terms(terms, Gaussian::point(14), coefficients, out);
  CHECK(out[0] == Gaussian::point(6));
  CHECK(out[1] == Gaussian::point(2));
}

}  // namespace dma
