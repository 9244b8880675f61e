// Solvers and schedules as values: the built-in ones, and schedules of one's own.
#include <fmt/format.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>
#include <variant>

#include "engine/compile/schedule.h"
#include "engine/exact/exact.h"
#include "engine/joint/joint.h"
#include "engine/support/text.h"
#include "models/graphs/model.h"
#include "schedules/schedules.h"
#include "tools/python/handles.h"

namespace dma::python {

Solve way_of(const py::object& schedule) {
  if (py::isinstance<Scheduler>(schedule)) return schedule.cast<const Scheduler&>();
  if (py::isinstance<Joint>(schedule)) return schedule.cast<const Joint&>();
  if (py::isinstance<Exact>(schedule)) return schedule.cast<const Exact&>();
  if (py::isinstance<TreeReweighted>(schedule)) return schedule.cast<const TreeReweighted&>();
  if (!py::isinstance<py::str>(schedule))
    fail("{} is given as a schedule; one of these is expected: {}", shown(schedule), joined(solver_names()));
  return solver_named(schedule.cast<std::string>());
}

Scheduler sweeps_of(const py::object& schedule) {
  const Solve rule = way_of(schedule);
  if (const auto* sweeps = std::get_if<Scheduler>(&rule)) return *sweeps;
  fail("{} is given as a schedule; one of sweeps is expected: forward_backward(), flooding(), sequential(), residual()",
       shown(schedule));
}

namespace {

// A visit with the names of a factor and its ports, which the graph knows.
struct NamedVisit {
  using Ports = std::optional<std::vector<std::string>>;
  std::string factor;
  Ports refresh, send;
  std::optional<std::uint32_t> slot;
};

std::uint32_t index_of(const std::string& where, const char* what, const std::string& wanted,
                       const std::vector<std::string>& known) {
  const auto found = std::ranges::find(known, wanted);
  if (found == known.end()) fail("{}: there is no {} '{}'{}", where, what, wanted, suggestion(wanted, known));
  return static_cast<std::uint32_t>(found - known.begin());
}

std::vector<Visit> visits_of(const std::string& schedule, const std::vector<NamedVisit>& all, const Flow& flow) {
  std::vector<std::string> names;
  std::map<std::string, std::uint32_t> factors;
  for (std::uint32_t f = 0; f < flow.factors(); ++f) names.push_back(flow.name(f)), factors.emplace(names.back(), f);
  std::vector<Visit> visits;
  for (const NamedVisit& named : all) {
    const std::string where = fmt::format("schedule '{}', visit {}", schedule, visits.size());
    const auto found = factors.find(named.factor);
    const std::uint32_t f = found != factors.end() ? found->second : index_of(where, "factor", named.factor, names);
    std::vector<std::string> known;
    for (const PortSpec& port : flow.kind(f).ports()) known.push_back(port.name);
    const auto ports = [&](const NamedVisit::Ports& given, PortSet usual) {
      if (given) usual = PortSet();
      for (const std::string& name : given.value_or(std::vector<std::string>()))
        usual.add(index_of(fmt::format("{} to '{}'", where, named.factor), "port", name, known));
      return usual;
    };
    visits.push_back(
        {f, ports(named.refresh, flow.reads(f)), ports(named.send, flow.targets(f)), named.slot.value_or(kAllSlots)});
  }
  return visits;
}

// A plan refers to the reason for as long as anybody has it.
std::string_view kept_reason(const std::string& reason) {
  static std::set<std::string>& all = *new std::set<std::string>;  // never destroyed: plans may outlive it
  return *all.insert(reason).first;
}

Scheduler own_schedule(const std::string& name, const std::vector<NamedVisit>& visits, const std::string& order,
                       double tolerance, int limit, double damping, const std::string& approximate) {
  const std::vector<std::string> orders{"once", "repeated", "residual"};
  const auto found = std::ranges::find(orders, order);
  if (found == orders.end()) fail("schedule '{}': there is no order '{}'{}", name, order, suggestion(order, orders));
  Schedule made{.name = name,
                .visits = {},
                .order = static_cast<Schedule::Order>(found - orders.begin()),
                .iteration = {tolerance, limit, damping},
                .approximate = kept_reason(approximate)};
  return {name, [visits, made](const Flow& flow) {
            Schedule schedule = made;
            schedule.visits = visits_of(made.name, visits, flow);
            return schedule;
          }};
}

}  // namespace

void bind_schedules(py::module_& module) {
  const Iteration sweeps;
  const std::string usual =
      fmt::format("tolerance={}, limit={}, damping={}", sweeps.tolerance, sweeps.limit, sweeps.damping);
  Class<NamedVisit>(module, "Visit",
                    "One visit of a schedule of one's own: refreshes what arrives at some ports, then sends to some; "
                    "all that are read and wanted, if not named.")
      .init("factor, *, refresh=None, send=None, slot=None",
            [](const py::object& factor, NamedVisit::Ports refresh, NamedVisit::Ports send,
               std::optional<std::uint32_t> slot) {
              return NamedVisit{py::str(py::hasattr(factor, "name") ? factor.attr("name") : factor), std::move(refresh),
                                std::move(send), slot};
            });
  Class<Scheduler>(module, "Schedule",
                   "In which order messages are computed. Visits once, repeated or residual (the most changed first); "
                   "`approximate` is why messages are left out.")
      .init("name, visits, *, order='once', " + usual + ", approximate=''", &own_schedule)
      .get("name", "", &Scheduler::name)
      .def("__repr__()", "", [](const Scheduler& s) { return fmt::format("<dma.Schedule {}>", s.name); });
  def(module, "forward_backward()", "One sweep forward and one backward: exact on a tree.", &forward_backward);
  def(module, "forward()", "One sweep along the data flow: what is predicted.", &forward);
  const auto repeated = [&](const std::string& name, Scheduler (*make)(Iteration)) {
    def(module, name + "(*, " + usual + ")", "Sweeps until no message changes by more than the tolerance.",
        [make](double tolerance, int limit, double damping) {
          return make({tolerance, limit, damping});
        });
  };
  repeated("flooding", &flooding);
  repeated("sequential", &sequential);
  repeated("residual", &residual);
  Class<Joint>(module, "Joint", "All variables as one Gaussian.").def("__repr__()", "", [](const Joint&) {
    return "<dma.Joint>";
  });
  Class<Exact>(module, "Exact", "Discrete variables, by cliques.").def("__repr__()", "", [](const Exact&) {
    return "<dma.Exact>";
  });
  Class<TreeReweighted>(module, "TreeReweighted", "Discrete variables, and bounds of the evidence.")
      .def("__repr__()", "", [](const TreeReweighted&) { return "<dma.TreeReweighted>"; });
  Class<Hyper>(module, "Hyper", "A parameter that nobody knows.").def("__repr__()", "", [](const Hyper& h) {
    return fmt::format("<dma.Hyper {}>", h.name);
  });
  const JointOptions one;
  def(module,
      fmt::format("joint(*, tolerance={}, limit={}, start_seed={}, check_draws={}, hypers=[])", one.tolerance,
                  one.limit, one.start_seed, one.check_draws),
      "All variables as one Gaussian, with their correlations.",
      [](double tolerance, int limit, std::uint64_t start_seed, int check_draws, const std::vector<Hyper>& hypers) {
        return joint({.tolerance = tolerance,
                      .limit = limit,
                      .start_seed = start_seed,
                      .check_draws = check_draws,
                      .hypers = hypers});
      });
  def(module, fmt::format("exact(*, memory={})", ExactOptions().memory),
      "Discrete variables by cliques; at most so many bytes.",
      [](std::uint64_t memory) { return exact({.memory = memory}); });
  const ReweightedOptions bounds;
  def(module,
      fmt::format("tree_reweighted(*, tolerance={}, limit={}, memory={})", bounds.tolerance, bounds.limit,
                  bounds.memory),
      "Discrete variables of any width: approximate beliefs, and bounds of the log evidence that are proved.",
      [](double tolerance, int limit, std::uint64_t memory) {
        return tree_reweighted({.tolerance = tolerance, .limit = limit, .memory = memory});
      });
  using Use = std::tuple<FactorHandle, std::string, double>;
  def(module, "hyper(name, prior, numbers, of)",
      "The parameter of each (factor, parameter, power) is its value to that power.",
      [](const std::string& name, const std::string& prior, const std::vector<double>& numbers,
         const std::vector<Use>& of) {
        Hyper made{name, HyperPrior::named(prior, numbers), {}};
        for (const auto& [factor, parameter, power] : of) made.uses.push_back({factor.id, parameter, power, {}});
        return made;
      });
}

}  // namespace dma::python
