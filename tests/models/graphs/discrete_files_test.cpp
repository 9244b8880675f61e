// Discrete graphs in the formats of other programs.
#include "models/graphs/discrete_files.h"

#include <doctest/doctest.h>

#include <cmath>
#include <string>

#include "engine/exact/exact.h"
#include "engine/run/evidence.h"
#include "engine/support/error.h"
#include "factors/standard_registry.h"
#include "tests/oracles/relative.h"

namespace {

using namespace dma;

const std::string kSprinkler = R"(
// a loop: both causes depend on the clouds
network sprinkler { property author "nobody"; }
variable cloudy { type discrete [ 2 ] { no, yes }; property position = (1, 2); }
variable sprinkler { type discrete [ 2 ] { off, on }; }
variable rain { type discrete [ 2 ] { no, yes }; }
variable wet { type discrete [ 2 ] { no, yes }; }
probability ( cloudy ) { table 0.5, 0.5; }
probability ( sprinkler | cloudy ) {
  (no) 0.5, 0.5;
  (yes) 0.9, 0.1;
}
probability ( rain | cloudy ) { table 0.8, 0.2, 0.2, 0.8; } /* the child's value outermost */
probability ( wet | sprinkler, rain ) {
  default 0.1, 0.9;
  (off, no) 1, 0;
  (on, yes) 0.0100001, 0.99;
}
)";

std::string refusal_of(const std::string& text, const std::vector<GivenText>& given = {}) {
  try {
    (void)parse_graph(text, given);
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing was refused";
}
void check_refused(std::string text, const std::string& part, const std::string& replacement,
                   const std::string& complaint) {
  const std::size_t at = text.find(part);
  REQUIRE(at != std::string::npos);
  const std::string found = refusal_of(text.replace(at, part.size(), replacement));
  CHECK_MESSAGE(found.find(complaint) != std::string::npos, found);
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

TEST_CASE("discrete files: wrong BIF is refused with its line") {
  check_refused(kSprinkler, "(no) 0.5, 0.5;", "(no) 0.5, 0.4;",
                "line 10: the probabilities of 'sprinkler' given (no) have the sum 0.9; it must be 1");
  check_refused(kSprinkler, "(no) 0.5, 0.5;", "(no) 1.5, -0.5;",
                "line 10: a probability of 'sprinkler' given (no) is -0.5; it must be in [0, 1]");
  check_refused(kSprinkler, "(no) 0.5, 0.5;", "(No) 0.5, 0.5;",
                "line 10: variable 'cloudy' has no category 'No'; did you mean 'no'?");
  check_refused(kSprinkler, "(no) 0.5, 0.5;", "", "line 9: the probabilities of 'sprinkler' given (no) are missing");
  check_refused(kSprinkler, "(no) 0.5, 0.5;", "(no) 0.5;", "line 10: 1 number for 'sprinkler'; 2 are expected");
  check_refused(kSprinkler, "(no) 0.5, 0.5;", "(no) 0.5, half;", "line 10: 'half' is found; a probability is expected");
  check_refused(kSprinkler, "(no) 0.5, 0.5;", "(no, yes) 0.5, 0.5;", "line 10: ',' is found; ')' after the categories");
  check_refused(kSprinkler, "rain | cloudy", "rain | clouds",
                "line 13: there is no variable 'clouds'; did you mean 'cloudy'?");
  check_refused(kSprinkler, "rain | cloudy", "rain | rain", "line 13: variable 'rain' appears twice");
  check_refused(kSprinkler, "rain | cloudy", "sprinkler | cloudy",
                "line 13: variable 'sprinkler' has a probability block in line 9 already");
  check_refused(kSprinkler, "variable wet", "variable rain", "line 7: there are two variables 'rain'");
  check_refused(kSprinkler, "[ 2 ] { off", "[ 3 ] { off",
                "line 5: variable 'sprinkler' has 2 categories, but 3 are announced");
  check_refused(kSprinkler, "{ table 0.5, 0.5; }", "{ table 0.5, 0.5;", "line 9: 'probability' is found; '('");
  check_refused(kSprinkler, "probability ( cloudy ) { table 0.5, 0.5; }",
                "probability ( cloudy | wet ) { (no) 0.5, 0.5; (yes) 0.5, 0.5; }",
                "the network has a directed cycle: cloudy -> sprinkler -> wet -> cloudy");
  check_refused(kSprinkler, "probability ( cloudy ) { table 0.5, 0.5; }", "",
                "line 4: variable 'cloudy' has no probability block");
  check_refused(kSprinkler, "\"nobody\"", "\"nobody", "a quote is opened and never closed");
  check_refused(kSprinkler, "(no) 0.5, 0.5;", "(no) 0.5, 0.5;\n (no) 0.4, 0.6;",
                "line 11: the probabilities of 'sprinkler' given (no) are given in line 10 already; leave one of them");
  check_refused(kSprinkler, "(no) 0.5, 0.5;", "(no) 0.5, 1e999;",
                "line 10: '1e999' is found; a probability is expected");
  check_refused(kSprinkler, "variable wet", "variable \"wet\x01\"", "line 7: the name of a variable, 'wet");
  check_refused(kSprinkler, "variable wet", "variable \"\"", "line 7: '' is found; the name of a variable is expected");
  CHECK(refusal_of("variable b { type discrete [ 1 ] { x }; } probability ( b ) { table 1; }\n"
                   "variable a { type discrete [ 2 ] { x, x }; } probability ( a ) { table 0.5, 0.5; }") ==
        "line 2: variable 'a': two of its categories are called 'x'; rename one of them");
  // Text after an empty quote is part of the file.
  check_refused(kSprinkler, "probability ( cloudy )", "\"\" probability ( cloudy )", "line 8: '' is found; 'network'");
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
  // Lists are as long as the file, whatever length it announces.
  CHECK(refusal_of("MARKOV 1000000 2") ==
        "line 1: the end of the file is found; the number of values of a variable is expected");
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
  CHECK(refusal_of("MARKOV\n1\n2\n1\n1 0\n3\n1 1 1\n") ==
        "line 6: the table of function 0 has 3 numbers; its scope, in line 5, needs 2");
  CHECK(refusal_of("MARKOV\n1\n2\n1\n1 1\n2\n1 1\n").find("line 5: '1' is found; the number of a variable") == 0);
  CHECK(
      refusal_of("MARKOV\n1\n2\n1\n1 0\n2\n1\n").find("line 8: the end of the file is found; number 1 of the table") ==
      0);
  CHECK(refusal_of("MARKOV\n1\n2\n1\n1 0\n2\n1 -1\n").find("line 7: '-1' is found; a number of at least 0") == 0);
  // Thirds with six digits are a row of probabilities, as in BIF; other sums are refused.
  const State thirds = solved(parse_graph("BAYES\n1\n3\n1\n1 0\n3\n 0.333333 0.333333 0.333333\n"));
  CHECK(std::abs(log_evidence(thirds.plan(), thirds)) < 1e-12);
  const GraphFile wrong = parse_graph("BAYES\n1\n3\n1\n1 0\n3\n 0.3 0.3 0.3\n");
  CHECK_THROWS_AS((void)solved(wrong), Error);
  CHECK(refusal_of("BAYES\n2\n2 2\n2\n2 0 1\n2 1 0\n4\n.5 .5 .5 .5\n4\n.5 .5 .5 .5\n") ==
        "line 9: the network has a directed cycle: v0 -> v1 -> v0; remove one of these links");
  CHECK(refusal_of("MARKOV\n1\n2\n1\n1 0\n2\n1 1\n \"\" 3").find("line 8: '' is found; the end of the file") == 0);
}
