#include "tools/experiments/paper/reproduce.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>

#include "engine/support/error.h"
#include "tools/dma/io/write_file.h"
#include "tools/experiments/paper/times.h"

namespace dma::reproduce {

namespace {

std::vector<const Experiment*> chosen(const std::vector<std::string>& names) {
  std::vector<const Experiment*> some;
  std::vector<std::string> known = {"all"};
  for (const Experiment& e : experiments()) {
    known.push_back(e.name);
    if (std::ranges::find(names, e.name) != names.end() || std::ranges::find(names, "all") != names.end())
      some.push_back(&e);
  }
  for (const std::string& name : names)
    if (std::ranges::find(known, name) == known.end())
      fail("reproduce: there is no '{}'{}", name, suggestion(name, known));
  return some;
}

// Seconds of every unit that was ever computed in this folder, in the order of their names: times.csv beside the units.
std::map<std::string, double> keep_seconds(const std::filesystem::path& file, const UnitRun& run) {
  std::map<std::string, double> seconds;
  std::ifstream stream(file);
  for (std::string line; std::getline(stream, line);)
    if (const auto comma = line.find(','); comma != line.npos && line != "unit,seconds")
      seconds[line.substr(0, comma)] = std::strtod(line.c_str() + comma + 1, nullptr);
  for (const auto& [name, value] : run.seconds) seconds[name] = value;
  std::string text = "unit,seconds\n";
  for (const auto& [name, value] : seconds) text += fmt::format("{},{:.4f}\n", name, value);
  write_file(file, text);
  return seconds;
}

// Where the time goes: units that differ in their last number taken together, the dearest first.
Table cost_table(const std::map<std::string, double>& seconds) {
  constexpr std::size_t kRows = 15;
  std::map<std::string, std::pair<int, double>> kinds;
  for (const auto& [name, value] : seconds) {
    const auto dot = name.rfind('.');
    const bool numbered = dot != name.npos && name.find_first_not_of("0123456789", dot + 1) == name.npos;
    const std::string kind = numbered ? name.substr(0, dot) : name;
    ++kinds[kind].first, kinds[kind].second += value;
  }
  std::vector<std::pair<std::string, std::pair<int, double>>> sorted(kinds.begin(), kinds.end());
  std::ranges::stable_sort(sorted, std::greater{}, [](const auto& kind) { return kind.second.second; });
  Table table{"costs",
              "Where the time goes: the dearest kinds of units.",
              {"units", "number", "processor seconds", "share"},
              {}};
  double all = 0;
  for (const auto& kind : sorted) all += kind.second.second;
  for (const auto& [kind, cost] : sorted) {
    if (table.rows.size() == kRows) break;
    table.rows.push_back({kind, fmt::format("{}", cost.first), fmt::format("{:.1f}", cost.second),
                          fmt::format("{:.0f} %", 100 * cost.second / all)});
  }
  return table;
}

}  // namespace

std::optional<Report> reproduce(const Request& request, const std::function<bool(const Progress&)>& on_progress) {
  const auto start = std::chrono::steady_clock::now();
  const Options& options = request.options;
  if (options.seeds < 1) fail("--seeds: {} is given; at least 1 is expected", options.seeds);
  if (options.jobs < 1) fail("--jobs: {} is given; at least 1 is expected", options.jobs);
  const std::vector<const Experiment*> some = chosen(request.names);
  check_writable(request.out / "report.md");
  std::vector<Unit> units;
  // exact first: its units are the longest.
  for (auto e = some.rbegin(); e != some.rend(); ++e)
    for (Unit& unit : (*e)->units(options)) units.push_back(std::move(unit));
  const UnitRun run = run_units(units, Store(request.out / "units"), options.jobs, on_progress);
  const std::map<std::string, double> unit_seconds = keep_seconds(request.out / "unit_seconds.csv", run);
  if (run.interrupted) return std::nullopt;
  Report report{.title = "The paper's experiments, reproduced",
                .sections = {},
                .times = {"times", "Times"},
                .facts = facts_of_this_machine()};
  const auto is_chosen = [&](const char* name) {
    return std::ranges::any_of(some, [&](const Experiment* e) { return e->name == name; });
  };
  for (const Experiment* e : some) report.sections.push_back(e->report(options, run.results));
  if (is_chosen("adam") || is_chosen("large")) report.times = times_section(measure_times(options, is_chosen("large")));
  report.facts.command = request.command;
  for (const auto& [name, value] : unit_seconds) report.facts.unit_seconds += value;
  report.times.tables.push_back(cost_table(unit_seconds));
  report.facts.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  write_report(report, request.out);
  return report;
}

Json to_json(const Report& report) {
  Json json = {{"claims", report.claims()}, {"holding", report.holding()}};
  std::vector<const Section*> sections;
  for (const Section& s : report.sections) sections.push_back(&s);
  sections.push_back(&report.times);
  for (const Section* s : sections) {
    Json& own = json["experiments"][s->name];
    own["claims"] = Json::array();
    for (const Claim& c : s->claims)
      own["claims"].push_back({{"where", c.where},
                               {"claim", c.claim},
                               {"paper", c.paper},
                               {"ours", c.ours},
                               {"holds", c.holds},
                               {"why", c.why}});
    for (const Table& t : s->tables) own["tables"][t.name] = {{"columns", t.columns}, {"rows", t.rows}};
  }
  json["run"] = {{"command", report.facts.command},   {"version", report.facts.version},
                 {"compiler", report.facts.compiler}, {"machine", report.facts.machine},
                 {"date", report.facts.date},         {"seconds", report.facts.seconds}};
  return json;
}

}  // namespace dma::reproduce
