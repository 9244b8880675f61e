// Discrete graphs in the formats of other programs.
#include "models/graphs/discrete_files.h"

#include <doctest/doctest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>

#include "engine/exact/exact.h"
#include "engine/run/run.h"
#include "engine/support/json.h"
#include "engine/support/text.h"
#include "factors/standard_registry.h"
#include "tests/oracles/files.h"
#include "tests/oracles/relative.h"

namespace {

using namespace dma;

const std::string kSprinkler = oracle::text_of_file("models/graphs/sprinkler.bif");

std::string refusal_of(const std::string& text, const std::vector<GivenText>& given = {}) {
  try {
    (void)parse_graph(text, given);
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing was refused";
}
State solved(const GraphFile& file) {
  const Plan plan = compile(file.graph, exact(), standard_registry());
  State state(plan);
  file.observe(state);
  (void)run(plan, state);
  return state;
}

}  // namespace

TEST_CASE("discrete files: a BIF file becomes its network, with its names") {
  const std::vector<GivenText> given{{"wet", "yes"}};
  const GraphFile file = parse_graph(kSprinkler, given);
  const State state = solved(file);
  // P(wet) = 0.6471 and P(rain | wet) = 0.7079, P(sprinkler | wet) = 0.4298: Russell and Norvig's figures
  CHECK(state.belief(file.graph.find_variable("rain")).mean(0, 1) == oracle::relative(0.7079276773, 1e-5));
  CHECK(state.belief(file.graph.find_variable("sprinkler")).mean(0, 1) == oracle::relative(0.4297635605, 1e-5));
  CHECK(std::exp(log_evidence(state.plan(), state)) == oracle::relative(0.6471, 1e-5));
  // The same as JSON, with the names.
  const std::string json = graph_text(file);
  CHECK(json.find("\"categories\"") < json.find("\"off\""));
  const GraphFile again = parse_graph(json);
  CHECK(graph_text(again) == json);
  CHECK(std::abs(log_evidence(state.plan(), state) - [&] {
          const State other = solved(again);
          return log_evidence(other.plan(), other);
        }()) < 1e-12);
}

TEST_CASE("discrete files: wrong BIF and UAI are refused with their line") {
  // refused.json: [part of sprinkler.bif, its replacement, complaint], and [text of a file, complaint].
  const Json all = parse_json(oracle::text_of_file("models/graphs/refused.json"));
  for (const Json& row : all["changes of sprinkler.bif"]) {
    std::string text = kSprinkler;
    const std::string part = row[0],
                      found = refusal_of(text.replace(text.find(part), part.size(), row[1].get<std::string>()));
    CHECK_MESSAGE(found.find(row[2].get<std::string>()) != found.npos, found);
  }
  for (const Json& row : all["files"]) CHECK(refusal_of(row[0]).starts_with(row[1].get<std::string>()));
  CHECK(refusal_of("variable b { type discrete [ 1 ] { x }; } probability ( b ) { table 1; }\n"
                   "variable a { type discrete [ 2 ] { x, x }; } probability ( a ) { table 0.5, 0.5; }") ==
        "line 2: variable 'a': two of its categories are called 'x'; rename one of them");
  // 30 parents of two categories: a small file asks for a table of 1e9 numbers.
  std::string wide, parents;
  for (int i = 0; i < 30; ++i) {
    wide += "variable a" + std::to_string(i) + " { type discrete [ 2 ] { no, yes }; }\n";
    parents += (i == 1 ? " | a" : i == 0 ? "a" : ", a") + std::to_string(i);
  }
  CHECK(refusal_of(wide + "probability ( " + parents + " ) { default 0.5, 0.5; }")
            .starts_with("line 31: the table of 'a0' would have 1.07e+09 numbers, all tables up to it 1.07e+09, more "
                         "than the limit of 1.68e+07; give 'a0' fewer parents"));
  // Tables that fit individually have a limit together.
  parents.clear();
  for (int i = 0; i < 23; ++i) parents += (i == 0 ? "a" : ", a") + std::to_string(i);
  CHECK(refusal_of(wide + "probability ( a24 | a0 ) { default 0.5, 0.5; }\nprobability ( a23 | " + parents +
                   " ) { default 0.5, 0.5; }") ==
        "line 32: the table of 'a23' would have 1.68e+07 numbers, all tables up to it 1.68e+07, more than the limit of "
        "1.68e+07; give 'a23' fewer parents");
  CHECK(refusal_of(kSprinkler, {{"wet", "Yes"}}).find("variable 'wet' has no category 'Yes'; did you mean 'yes'?") ==
        0);
  CHECK(refusal_of(kSprinkler, {{"wett", "yes"}}).find("wet") != std::string::npos);
}

TEST_CASE("discrete files: a default row serves those that are not given, wherever it stands") {
  const std::string before =
      "variable a { type discrete [ 3 ] { x, y, z }; } probability ( a ) { table 0.2, 0.3, 0.5; }"
      "variable b { type discrete [ 2 ] { no, yes }; } probability ( b | a ) { ";
  for (const char* const rows : {"default 0.25, 0.75; (y) 0.5, 0.5; }", "(y) 0.5, 0.5; default 0.25, 0.75; }"}) {
    const GraphFile file = parse_graph(before + rows);
    const State state = solved(file);
    CHECK(state.belief(file.graph.find_variable("b")).mean(0, 1) == doctest::Approx(0.7 * 0.75 + 0.3 * 0.5));
  }
}

TEST_CASE("discrete files: a UAI file becomes its field") {
  // A triangle of potentials: Z and the marginals by enumeration.
  const std::string text =
      "MARKOV\n3\n2 2 3\n3\n2 0 1\n2 1 2\n2 2 0\n\n4\n 1 2\n 3 4\n\n6\n 1 0 2\n 1 5 1\n\n6\n 1 1\n 2 0\n 1 3\n";
  const double ab[] = {1, 2, 3, 4}, bc[] = {1, 0, 2, 1, 5, 1}, ca[] = {1, 1, 2, 0, 1, 3};
  double total = 0, first = 0;
  for (int a = 0; a < 2; ++a)
    for (int b = 0; b < 2; ++b)
      for (int c = 0; c < 3; ++c) {
        const double weight = ab[2 * a + b] * bc[3 * b + c] * ca[2 * c + a];
        total += weight;
        first += a == 0 ? weight : 0;
      }
  const GraphFile file = parse_graph(text);
  const State state = solved(file);
  CHECK(std::abs(log_evidence(state.plan(), state) - std::log(total)) < 1e-12);
  CHECK(std::abs(state.belief(file.graph.find_variable("v0")).mean(0, 0) - first / total) < 1e-12);
  const std::vector<GivenText> given{{"v0", "0"}};
  const State seen = solved(parse_graph(text, given));
  CHECK(std::abs(log_evidence(seen.plan(), seen) - std::log(first)) < 1e-12);
  // Thirds with six digits are a row of probabilities, as in BIF; other sums are refused.
  const State thirds = solved(parse_graph("BAYES\n1\n3\n1\n1 0\n3\n 0.333333 0.333333 0.333333\n"));
  CHECK(std::abs(log_evidence(thirds.plan(), thirds)) < 1e-12);
  const GraphFile wrong = parse_graph("BAYES\n1\n3\n1\n1 0\n3\n 0.3 0.3 0.3\n");
  CHECK_THROWS_AS((void)solved(wrong), Error);
}
