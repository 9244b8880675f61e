#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "engine/compile/compile.h"
#include "engine/compile/plan_data.h"
#include "engine/joint/joint.h"

namespace dma {

JointComparison compare_with_joint(const Graph& graph, const Scheduler& rule, const Registry& registry,
                                   const std::function<void(State&)>& observe, const JointOptions& joint_options,
                                   const CompileOptions& options) {
  CompileOptions unfused = options;
  unfused.fuse = false;  // both solutions must have every variable
  const Plan by_sweeps = compile(graph, rule, registry, unfused),
             by_joint = compile(graph, joint(joint_options), registry, options);
  State sweeps(by_sweeps), solved(by_joint);
  observe(sweeps);
  observe(solved);
  JointComparison out;
  out.sweeps = run(by_sweeps, sweeps);
  out.joint = run(by_joint, solved);
  for (std::uint32_t v = 0; v < graph.variables().size(); ++v) {
    if (by_joint->variables[v].observed) continue;
    const Belief a = sweeps.belief({v}), b = solved.belief({v});
    JointComparison::Row row{.variable = std::string(by_joint->variables[v].name)};
    for (std::size_t i = 0; i < b.size(); ++i) {
      row.mean_difference = std::max(row.mean_difference, std::abs(a[i].mean() - b[i].mean()) / b[i].sd());
      const double ratio = a[i].variance() / b[i].variance();
      if (std::abs(std::log(ratio)) > std::abs(std::log(row.variance_ratio))) row.variance_ratio = ratio;
    }
    out.rows.push_back(std::move(row));
  }
  return out;
}

std::string JointComparison::text() const {
  std::string text = fmt::format("sweeps: {}\njoint:  {}\n{:<20}{:>18}{:>16}\n", sweeps.line(), joint.line(),
                                 "variable", "mean apart, sd", "variance ratio");
  for (const Row& row : rows)
    text += fmt::format("{:<20}{:>18.3g}{:>16.4g}\n", row.variable, row.mean_difference, row.variance_ratio);
  return text;
}

}  // namespace dma
