#include "models/table/scores.h"

#include <doctest/doctest.h>

#include <cmath>

#include "engine/support/text.h"
#include "models/table/column_coding.h"

using namespace dma;

TEST_CASE("class scores: accuracy, log-loss and calibration error of a table worked by hand") {
  Eigen::MatrixXd p(4, 2);
  p << 0.95, 0.05, 0.92, 0.08, 0.3, 0.7, 0.45, 0.55;
  const std::vector<Eigen::Index> classes{0, 1, 1, 1};
  const ClassScores s = class_scores_of(p, classes);
  CHECK(s.accuracy == doctest::Approx(0.75));
  CHECK(s.log_loss == doctest::Approx(-(std::log(0.95) + std::log(0.08) + std::log(0.7) + std::log(0.55)) / 4));
  // Bins: [0.9, 1]: two rows, confidence 1.87, one hit; [0.7, 0.8): 0.7 and a hit; [0.5, 0.6): 0.55 and a hit.
  CHECK(s.calibration_error == doctest::Approx((0.87 + 0.3 + 0.45) / 4));
  CHECK(most_probable(p) == std::vector<Eigen::Index>{0, 0, 1, 1});
  Eigen::MatrixXd sure(1, 2);
  sure << 1, 0;
  CHECK(class_scores_of(sure, std::vector<Eigen::Index>{0}).calibration_error == 0);
  CHECK(std::isfinite(class_scores_of(sure, std::vector<Eigen::Index>{1}).log_loss));
  CHECK(std::isnan(
      class_scores_of(Eigen::MatrixXd::Constant(1, 2, std::nan("")), std::vector<Eigen::Index>{1}).calibration_error));
  // Sixty times a sixtieth is more than one by rounding.
  CHECK(class_scores_of(sure.replicate(60, 1), std::vector<Eigen::Index>(60, 0)).accuracy == 1);
}

TEST_CASE("class labels: names are sorted, numbers by their value, and rows know theirs") {
  const ClassLabels text = ClassLabels::of({"b", "a", "c", "a"});
  CHECK(text.names == std::vector<std::string>{"a", "b", "c"});
  CHECK(text.of_rows == std::vector<Eigen::Index>{1, 0, 2, 0});
  CHECK(text.counts() == std::vector<std::size_t>{2, 1, 1});
  const ClassLabels numbers = ClassLabels::of({"10", "9", "-1", "9.0"});
  CHECK(numbers.names == std::vector<std::string>{"-1", "9", "9.0", "10"});
  CHECK(numbers.of_rows == std::vector<Eigen::Index>{3, 1, 0, 2});
}

TEST_CASE("class labels: a single class and a class of one row are refused by name") {
  CHECK_THROWS_WITH_AS(check_classes(ClassLabels::of({"a", "a"}), "here"),
                       doctest::Contains("here: all rows have the class 'a'"), Error);
  CHECK_THROWS_WITH_AS(check_classes(ClassLabels::of({"a", "a", "b"}), "here"),
                       doctest::Contains("the class 'b' has one row"), Error);
  CHECK_THROWS_WITH_AS(check_classes(ClassLabels::of({"a", "a", "b", "c"}), "here"),
                       doctest::Contains("2 of the 3 classes"), Error);
  CHECK_NOTHROW(check_classes(ClassLabels::of({"a", "a", "b", "b"}), "here"));
}
