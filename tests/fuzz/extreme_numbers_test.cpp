// Numbers near the limits of a double, through every input: the answer is finite, or one line explains why there is
// none.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>

#include "tests/fuzz/commands.h"
#include "tests/oracles/files.h"

namespace {

using dma::fuzz::check;
using dma::fuzz::check_finite;
using dma::fuzz::Ended;
using dma::fuzz::read;
using dma::fuzz::run;
using dma::fuzz::Scene;
using dma::fuzz::words;
using dma::fuzz::write;

// They replace every @ in texts and arguments.
constexpr const char* kNumbers[] = {"1e150", "1e160", "1e200", "1e300", "1.7e308", "-1e200", "5e-324"};

struct Way {
  std::string arguments, file = {}, text = {};
};

std::string with_number(const std::string& text, const std::string& number) {
  return dma::oracle::replaced(text, "@", number);
}

// Sixteen rows; @ in two cells of one column, which may be absent.
std::string table_with(const std::string& column) {
  std::string text = "x,z,k,d,m,w,c,y\n";
  for (int n = 0; n < 16; ++n) {
    const double x = std::sin(3.0 * n), z = std::sin(5.0 * n + 1);
    const std::string cells[] = {fmt::format("{:.4f}", x),     fmt::format("{:.4f}", z),
                                 n % 2 == 0 ? "red" : "blue",  fmt::format("2020-01-{:02}", n + 1),
                                 fmt::format("{} EUR", n + 1), "1",
                                 x > 0 ? "red" : "blue",       fmt::format("{:.4f}", 2 * x + z * z)};
    const std::string_view names = "xzkdmwcy";
    for (std::size_t j = 0; j < names.size(); ++j)
      text += (j == 0 ? "" : ",") + (column[0] == names[j] && n % 9 == 4 ? std::string("@") : cells[j]);
    text += "\n";
  }
  return text;
}

// An observed chain a -> b -> y through one kind of factor.
std::string chain(const char* kind, const char* mean, const char* variance, const char* noise, const char* seen) {
  return fmt::format(R"({{"variables": {{"a": {{}}, "b": {{}}, "y": {{"observed": {}}}}}, "factors": [
    {{"kind": "gaussian_prior", "connects": ["a"], "parameters": {{"mean": {}, "variance": {}}}}},
    {{"kind": "{}", "connects": ["a", "b"]}},
    {{"kind": "gaussian_noise", "connects": ["b", "y"], "parameters": {{"variance": {}}}}}]}})",
                     seen, mean, variance, kind, noise);
}

std::string series(const char* value, const char* input) {
  std::string text = "u,v\n";
  for (int t = 0; t < 20; ++t)
    text += fmt::format("{},{}\n", t == 7 ? input : fmt::format("{:.3f}", std::cos(2.0 * t)),
                        t == 7 ? value : fmt::format("{:.3f}", std::sin(t)));
  return text;
}

const std::string kSmallFit = " --hidden 2 --members 1 --epochs 3", kOut = kSmallFit + " --model out.json";

std::vector<Way> ways() {
  std::vector<Way> all;
  for (const char* model : {"joint", "near", "messages", "classes", "graph", "scores"})
    all.push_back({fmt::format("predict {}.json t.csv", model), "t.csv", table_with("x")});
  for (const char* column : {"x", "y", "w"}) {
    const std::string text = table_with(column);
    for (const std::string& how :
         {kOut, kOut + " --no-standardise", std::string(" --model out.json --report out.html")})
      all.push_back({"fit t.csv --target y --features x,z --weights w" + how, "t.csv", text});
    all.push_back({"fit t.csv --target y --features x,z --method dma" + kOut, "t.csv", text});
    all.push_back({"fit t.csv --target y --target z --features x --report out.html" + kOut, "t.csv", text});
    all.push_back({"fit t.csv --target c --features x,z --weights w --report out.html" + kOut, "t.csv", text});
    all.push_back({"fit t.csv --update joint.json --weights w", "t.csv", text});
    all.push_back({"fit t.csv --update near.json --weights w", "t.csv", text});
    all.push_back({"fit t.csv --update graph.json", "t.csv", text});
    all.push_back({"fit t.csv --target y --graph line.json --model out.json", "t.csv", text});
    all.push_back({"fit t.csv --target y --graph line.json --noise-model given --report out.html", "t.csv", text});
    all.push_back({"fit t.csv --target c --graph classes.txt --model out.json", "t.csv", text});
  }
  for (const char* column : {"k", "d", "m", "c"}) {  // text, dates, amounts, classes
    all.push_back({"fit t.csv --target y --columns" + kOut, "t.csv", table_with(column)});
    all.push_back({"fit t.csv --target c --classes --columns" + kOut, "t.csv", table_with(column)});
  }
  for (const char* option : {"noise", "prior-scale", "tolerance", "least-gain", "slopes"})
    all.push_back(
        {fmt::format("fit t.csv --target y --features x,z --{} @{}", option, kOut), "t.csv", table_with("-")});
  for (const std::string parameter : {"\"mean\": 0", "\"variance\": 4", "\"variance\": 0.1"})
    all.push_back({"fit data.csv --target y --graph g.json --model out.json", "g.json",
                   dma::oracle::replaced(dma::oracle::graph_file("line.json"), parameter,
                                         parameter.substr(0, parameter.find(' ')) + " @")});
  for (const char* schedule : {"auto", "joint", "flooding", "residual"})
    for (const char* kind : {"copy", "exponential", "leaky_relu"})
      for (const std::string& graph : {chain(kind, "@", "1", "1", "1"), chain(kind, "0", "@", "1", "1"),
                                       chain(kind, "0", "1", "@", "1"), chain(kind, "0", "1", "1", "@")})
        all.push_back({fmt::format("infer g.json --evidence --schedule {}", schedule), "g.json", graph});
  all.push_back({"infer g.json --observe y=@ --report out.html", "g.json", chain("copy", "0", "1", "1", "1")});
  for (const char* model : {"auto", "walk", "trend", "ar", "motion", "ar:0.6"})
    all.push_back({fmt::format("smooth s.csv --forecast 2 --model {}", model), "s.csv", series("@", "1")});
  all.push_back({"smooth s.csv --inputs u --report out.html", "s.csv", series("0.5", "@")});
  all.push_back({"smooth s.csv --model ar:@", "s.csv", series("0.5", "1")});
  all.push_back({"rate g.csv", "g.csv", "game,player,rank,share\n1,Ann,@,1\n1,Ben,2,1\n2,Ben,1,1\n2,Ann,2,1\n"});
  all.push_back({"rate g.csv", "g.csv", "game,player,rank,share\n1,Ann,1,@\n1,Ben,2,1\n@,Ben,1,1\n@,Ann,2,1\n"});
  for (const char* option : {"mu", "sigma", "beta", "tau", "draws"})
    for (const char* how : {"", " --online"})
      all.push_back({fmt::format("rate g.csv --{} @ --pair Ann Ben{}", option, how), "g.csv",
                     "winner,loser\nAnn,Ben\nBen,Cleo\n"});
  return all;
}

void check_way(const Way& way, const std::string& number) {
  for (const char* file : {"out.json", "out.html"}) std::filesystem::remove(file);
  const std::vector<std::string> arguments = words(with_number(way.arguments, number));
  write(way.file, with_number(way.text, number));
  const bool updates = way.arguments.find("--update") != std::string::npos;
  const std::string model = updates ? arguments[3] : "";
  const std::string before = updates ? read(model) : "";
  const Ended ended = run(arguments);
  check(ended, arguments);
  check_finite(ended.output, arguments);
  check_finite(ended.errors.substr(0, ended.errors.find("must be in")), arguments);  // a domain follows
  check_finite(read("out.html"), arguments);
  if (ended.code != 0) CHECK_MESSAGE(read("out.json") == "", "a model is left: ", ended.errors);
  if (updates && ended.code != 0) CHECK_MESSAGE(read(model) == before, "the model was changed: ", ended.errors);
  if (updates) write(model, before);
  if (read("out.json").empty()) return;
  const Ended inspected = run({"inspect", "out.json"});
  CHECK_MESSAGE(inspected.code == 0, inspected.errors);
  check_finite(inspected.output, arguments);
}

}  // namespace

TEST_CASE("extreme numbers: every way in ends with finite numbers or one line, and leaves the model as it was") {
  const Scene scene;
  write("data.csv", table_with("-"));
  write("line.json", dma::oracle::graph_file("line.json"));
  write("classes.txt", dma::oracle::graph_file("scores.json"));
  for (const std::string& fit :
       {"fit data.csv --target y --features x,z --model joint.json" + kSmallFit,
        std::string("fit data.csv --target y --features x,z --model near.json"),
        "fit data.csv --target y --features x,z --method dma --model messages.json" + kSmallFit,
        "fit data.csv --target c --features x,z --model classes.json" + kSmallFit,
        std::string("fit data.csv --target y --graph line.json --model graph.json"),
        std::string("fit data.csv --target c --graph classes.txt --model scores.json")}) {
    const Ended ended = run(words(fit));
    REQUIRE_MESSAGE(ended.code == 0, ended.errors);
  }
  for (const Way& way : ways())
    for (const char* number : kNumbers) {
      INFO(way.arguments, " with ", number);
      CHECK_NOTHROW(check_way(way, number));
    }
}
