#include "engine/messages/message_text.h"

#include <doctest/doctest.h>

#include "factors/standard_registry.h"

using namespace dma;

TEST_CASE("message_text: the three kinds of message, of a variable and of its logarithm") {
  CHECK(message_text(Gaussian::uniform()) == "uniform");
  CHECK(message_text(Gaussian::point(-2)) == "= -2");
  CHECK(message_text(Gaussian::from_moments(0.31831, 0.25)) == "N(0.3183, 0.5^2)");
  CHECK(message_text(Gaussian::from_moments(1, 0.25), standard_registry().family("log_normal")) == "LN(1, 0.5^2)");
  CHECK(message_text(Gaussian::point(0), standard_registry().family("log_normal")) == "= 1");
  CHECK(message_text({}, standard_registry().family("log_normal")) == "uniform");
}
