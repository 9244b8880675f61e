#include "tools/experiments/paper/reproduce.h"

#include <chrono>

#include "tools/dma/io/write_file.h"
#include "tools/experiments/paper/times.h"

namespace dma::reproduce {

std::optional<Report> reproduce(const Request& request, const std::function<bool(const Progress&)>& on_progress) {
  const auto start = std::chrono::steady_clock::now();
  const Options& options = request.options;
  const auto is_chosen = [&](const std::string& name) { return request.name == name || request.name == "all"; };
  check_writable(request.out / "report.md");
  std::vector<Unit> units;
  // exact first: its units are the longest.
  for (auto e = experiments().rbegin(); e != experiments().rend(); ++e)
    if (is_chosen(e->name))
      for (Unit& unit : e->units(options)) units.push_back(std::move(unit));
  const UnitRun run = run_units(units, Store(request.out / "units"), options.jobs, on_progress);
  if (run.interrupted) return std::nullopt;
  Report report{.title = "The paper's experiments, reproduced", .sections = {}, .facts = facts_of_this_machine()};
  for (const Experiment& e : experiments())
    if (is_chosen(e.name)) report.sections.push_back(e.report(options, run.results));
  if (is_chosen("adam") || is_chosen("large"))
    report.sections.push_back(times_section(measure_times(options, is_chosen("large"))));
  report.facts.command = request.command;
  report.facts.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  write_report(report, request.out);
  return report;
}

}  // namespace dma::reproduce
