#include "tools/dma/page/graph_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "engine/compile/compile.h"
#include "engine/kinds/kind.h"
#include "engine/run/state_data.h"
#include "tools/dma/help/version.h"
#include "tools/dma/page/chart.h"
#include "tools/dma/page/html.h"

namespace dma::report {

namespace {

using page::escaped;

constexpr std::size_t kMostRows = 200;  // rows of the table of beliefs
constexpr std::size_t kMostLines = 8;   // lines of a note

std::string cut(std::string text, std::size_t lines, std::size_t all) {
  return all > lines ? text + fmt::format("\nand {} more", all - lines) : text;
}

std::string note_of(const Graph::Variable& variable, const Belief& belief) {
  std::string text = fmt::format("{}{}", variable.name, variable.observed ? ", observed" : "");
  for (std::size_t i = 0; i < std::min(belief.size(), kMostLines); ++i)
    text += fmt::format("\n{}{}", belief.size() == 1 ? "" : fmt::format("[{}] ", i),
                        belief.family()->text(belief.message(i)));
  return cut(std::move(text), kMostLines, belief.size());
}

// The messages of a factor through one of its ports, as lines per variable.
std::map<std::uint32_t, std::vector<std::string>> said(const SolvedGraph& solved, FactorId factor, std::size_t port) {
  const PlanData& plan = *solved.state.plan();
  const auto membership = plan.membership(factor);
  const Group& group = plan.groups[membership.group];
  const std::vector<Gaussian> messages = solved.state.messages(factor, group.kind->ports()[port].name);
  const std::uint32_t first = group.first_slot[membership.member] * group.ports[port].terms;
  std::map<std::uint32_t, std::vector<std::string>> lines;
  for (std::uint32_t q = 0; q < messages.size();) {
    const auto v =
        static_cast<std::uint32_t>(plan.variables.index_at(solved.state.data().element(group.ports[port], first + q)));
    const auto components = static_cast<std::uint32_t>(plan.variables[v].family.components());
    const std::vector<Natural> message(messages.begin() + q, messages.begin() + q + components);
    lines[v].push_back(plan.variables[v].family->text(message));
    q += components;
  }
  return lines;
}

std::string note_of(const std::string& from, const std::string& to, const std::vector<std::string>& lines) {
  std::string text = fmt::format("{} says to {}:", from, to);
  for (std::size_t i = 0; i < std::min(lines.size(), kMostLines); ++i) text += "\n" + lines[i];
  return cut(std::move(text), kMostLines, lines.size());
}

// By the names that to_dot gives nodes and edges: "v3", "v3->f0".
std::map<std::string, std::string> notes_by_name(const SolvedGraph& solved) {
  std::map<std::string, std::string> notes;
  const auto& variables = solved.graph.variables();
  const PlanData& plan = *solved.state.plan();
  for (std::uint32_t v = 0; v < variables.size(); ++v)
    notes[fmt::format("v{}", v)] = note_of(variables[v], solved.state.belief(VariableId{v}));
  for (std::uint32_t f = 0; f < solved.graph.factors().size(); ++f) {
    const Kind& kind = *plan.groups[plan.membership(FactorId{f}).group].kind;
    notes[fmt::format("f{}", f)] = fmt::format("{}: {}", kind.name(), kind.summary());
    for (std::size_t p = 0; p < kind.ports().size(); ++p)
      for (const auto& [v, lines] : said(solved, FactorId{f}, p)) {
        const bool is_output = kind.ports()[p].output;
        std::string& note = notes[is_output ? fmt::format("f{}->v{}", f, v) : fmt::format("v{}->f{}", v, f)];
        if (!note.empty()) note += "\n";
        note += plan.solver != nullptr  ? "no messages: everything was solved at once"
                : variables[v].observed ? fmt::format("{} is observed", variables[v].name)
                                        : note_of(kind.name(), variables[v].name, lines);
      }
  }
  return notes;
}

std::string beliefs_table(const SolvedGraph& solved) {
  page::Table table{.columns = {"variable", "", "belief"}};
  std::size_t left = 0;
  for (std::uint32_t v = 0; v < solved.graph.variables().size(); ++v) {
    const Graph::Variable& variable = solved.graph.variables()[v];
    const Belief belief = solved.state.belief(VariableId{v});
    for (std::size_t i = 0; i < belief.size(); ++i) {
      if (table.rows.size() == kMostRows && ++left > 0) continue;
      table.rows.push_back({escaped(belief.size() == 1 ? variable.name : fmt::format("{}[{}]", variable.name, i)),
                            variable.observed ? "observed" : "", escaped(belief.family()->text(belief.message(i)))});
    }
  }
  return page::html(table) + (left > 0 ? fmt::format("<p class=\"soft\">and {} more</p>\n", left) : "");
}

}  // namespace

std::string embedded(std::string picture, const std::map<std::string, std::string>& notes) {
  if (const auto at = picture.find("<svg"); at != std::string::npos) picture.erase(0, at);
  // A page names no address: inside it an SVG needs no name space.
  for (std::size_t at; (at = picture.find(" xmlns")) < picture.find('>');)
    picture.erase(at, picture.find('"', picture.find('"', at) + 1) + 1 - at);
  std::string out;
  std::size_t from = 0;
  for (std::size_t at; (at = picture.find("<title>", from)) != std::string::npos;) {
    const std::size_t begin = at + 7, end = picture.find("</title>", begin);
    std::string name = picture.substr(begin, end - begin);
    for (const auto& [code, sign] : {std::pair<std::string_view, std::string_view>{"&#45;", "-"}, {"&gt;", ">"}})
      for (std::size_t where; (where = name.find(code)) != std::string::npos;) name.replace(where, code.size(), sign);
    const auto note = notes.find(name);
    out += picture.substr(from, begin - from) + (note == notes.end() ? "" : escaped(note->second));
    from = end;
  }
  return out + picture.substr(from);
}

std::string no_picture(const std::string& why) {
  return fmt::format("<p class=\"soft\">There is no picture: {}.</p>\n", escaped(why));
}

std::string page_of(const SolvedGraph& solved) {
  std::string body = fmt::format("<h1>{}</h1>\n", escaped(solved.name));
  if (!solved.description.empty()) body += fmt::format("<p>{}</p>\n", escaped(solved.description));
  body += fmt::format("<p class=\"lead\">{}</p>\n<p>{}</p>\n", escaped(solved.report.line()), escaped(solved.evidence));
  body += "<h2 id=\"graph\">The graph</h2>\n";
  body += solved.picture.empty()
              ? no_picture(solved.no_picture)
              : fmt::format(
                    "<figure class=\"drawn\">{}<figcaption>Variables are round, observed ones with a double line, "
                    "factors dark. Point at an edge for its messages.</figcaption></figure>\n",
                    embedded(solved.picture, notes_by_name(solved)));
  body += "<h2 id=\"beliefs\">What is known</h2>\n" + beliefs_table(solved);
  body +=
      fmt::format("<h2 id=\"report\">What the answer is worth</h2>\n<pre>{}</pre>\n", escaped(solved.report.text()));
  body += fmt::format("<h2 id=\"again\">Do it again</h2>\n<pre>{}</pre>\n<p class=\"soft\">{}</p>\n",
                      escaped(solved.command), escaped(fmt::format("dma {}", version())));
  return page::document(solved.name, body);
}

}  // namespace dma::report
