#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "engine/support/text.h"
#include "models/graphs/discrete_files.h"
#include "models/graphs/discrete_tokens.h"

namespace dma {

namespace {

using namespace network_file;

class Bif {
 public:
  // A `default` row can stand for any number of rows, so the tables together have a limit.
  explicit Bif(std::string_view text)
      : tokens_(text, "{}()[]|,;"), most_numbers_(std::max<double>(1u << 24, static_cast<double>(text.size()))) {}

  GraphFile read(std::span<const GivenText> given) {
    while (!tokens_.peek().is_end) {
      const Token start = tokens_.word("'network', 'variable' or 'probability'");
      if (start.text == "network")
        read_network();
      else if (start.text == "variable")
        read_variable();
      else if (start.text == "probability")
        read_probability(start.line);
      else
        tokens_.refuse(start, "'network', 'variable' or 'probability'");
    }
    if (variables_.empty()) fail("line {}: the file has no variables", tokens_.peek().line);
    for (std::size_t v = 0; v < variables_.size(); ++v)
      if (!function_of_.contains(static_cast<std::uint32_t>(v)))
        fail("line {}: variable '{}' has no probability block; add probability ( {} ) {{ ... }}", variables_[v].line,
             variables_[v].name, variables_[v].name);
    return graph_of(variables_, functions_, given);
  }

 private:
  void read_network() {
    if (tokens_.peek().text != "{") (void)tokens_.word("the name of the network");
    tokens_.expect("{", "after the name of the network");
    while (!tokens_.skip("}")) skip_property();
  }
  void skip_property() {
    const Token start = tokens_.peek();
    if (start.text != "property") tokens_.refuse(start, "'property' or '}'");
    while (!tokens_.skip(";"))
      if (tokens_.take().is_end) tokens_.refuse(tokens_.peek(), "';' at the end of the property");
  }

  void read_variable() {
    const Token name = tokens_.word("the name of a variable");
    if (printable(name.text) != name.text)
      fail("line {}: the name of a variable, '{}', holds control characters; rename it", name.line,
           printable(name.text));
    if (numbers_.contains(std::string(name.text)))
      fail("line {}: there are two variables '{}'; rename one of them", name.line, printable(name.text));
    DiscreteVariable v{std::string(name.text), {}, 0, name.line};
    tokens_.expect("{", "after the name of the variable");
    while (!tokens_.skip("}")) {
      if (tokens_.peek().text == "property") {
        skip_property();
        continue;
      }
      tokens_.expect("type", "in the block of a variable");
      tokens_.expect("discrete", "after 'type': other variables are not known");
      tokens_.expect("[", "before the number of categories");
      v.values = tokens_.count(1, 1u << 20, "the number of categories");
      tokens_.expect("]", "after the number of categories");
      tokens_.expect("{", "before the categories");
      const std::size_t line = tokens_.peek().line;
      do v.categories.emplace_back(tokens_.word("the name of a category").text);
      while (tokens_.skip(","));
      tokens_.expect("}", "or ',' after a category");
      tokens_.expect(";", "after the categories");
      if (v.categories.size() != v.values)
        fail("line {}: variable '{}' has {} categories, but {} are announced", line, v.name, v.categories.size(),
             v.values);
    }
    if (v.values == 0)
      fail("line {}: variable '{}' has no type; type discrete [ 2 ] {{ no, yes }}; is expected", name.line, v.name);
    numbers_[v.name] = static_cast<std::uint32_t>(variables_.size());
    variables_.push_back(std::move(v));
  }

  std::uint32_t variable() {
    const Token name = tokens_.word("the name of a variable");
    const auto found = numbers_.find(name.text);
    if (found != numbers_.end()) return found->second;
    std::vector<std::string> known;
    for (const DiscreteVariable& v : variables_) known.push_back(v.name);
    fail("line {}: there is no variable '{}'{}", name.line, printable(name.text), suggestion(name.text, known));
  }

  void read_probability(std::size_t line) {
    Function f{{}, {}, line, true};
    tokens_.expect("(", "after 'probability'");
    const std::uint32_t child = variable();
    if (tokens_.skip("|")) do
        f.scope.push_back(variable());
      while (tokens_.skip(","));
    tokens_.expect(")", "after the variables");
    const std::string name = variables_[child].name;
    if (const auto [before, is_new] = function_of_.emplace(child, functions_.size()); !is_new)
      fail("line {}: variable '{}' has a probability block in line {} already", line, name,
           functions_[before->second].line);
    for (const std::uint32_t v : f.scope)
      if (v == child || std::ranges::count(f.scope, v) > 1)
        fail("line {}: variable '{}' appears twice in the block of '{}'", line, variables_[v].name, name);
    double rows = 1;
    for (const std::uint32_t v : f.scope) rows *= variables_[v].values;
    const double table_numbers = rows * variables_[child].values;
    if ((numbers_in_all_ += table_numbers) > most_numbers_)
      fail("line {}: the table of '{}' would have {:.3g} numbers, all tables up to it {:.3g}, more than the limit of "
           "{:.3g}; give '{}' fewer parents",
           line, name, table_numbers, numbers_in_all_, most_numbers_, name);
    Rows table{child, static_cast<std::size_t>(rows), {}, {}, {}, 0};
    table.numbers.resize(table.rows * variables_[child].values);
    table.lines.assign(table.rows, 0);
    tokens_.expect("{", "after the variables");
    while (!tokens_.skip("}")) read_entry(f, table);
    for (std::size_t r = 0; r < table.rows; ++r) finish_row(f, table, r);
    f.numbers = std::move(table.numbers);
    f.scope.push_back(child);
    functions_.push_back(std::move(f));
  }

  struct Rows {
    std::uint32_t child;
    std::size_t rows;
    std::vector<double> numbers;
    std::vector<std::size_t> lines;  // 0: not given
    std::vector<double> others;      // the default for rows that are not given
    std::size_t others_line;
  };

  void put_row(const Function& f, Rows& table, std::size_t r, std::size_t line, std::span<const double> numbers) const {
    if (table.lines[r] != 0)
      fail("line {}: the probabilities of '{}'{} are given in line {} already; leave one of them out", line,
           variables_[table.child].name, combination(f, r), table.lines[r]);
    table.lines[r] = line;
    std::ranges::copy(numbers, table.numbers.begin() + static_cast<std::ptrdiff_t>(r * numbers.size()));
  }

  void read_entry(const Function& f, Rows& table) {
    const Token start = tokens_.peek();
    if (start.text == "property") return skip_property();
    const std::size_t values = variables_[table.child].values;
    if (tokens_.skip("table")) {  // the child's value outermost
      const std::vector<double> all = numbers(table.numbers.size(), start.line, f, table.child);
      std::vector<double> row(values);
      for (std::size_t r = 0; r < table.rows; ++r) {
        for (std::size_t k = 0; k < values; ++k) row[k] = all[k * table.rows + r];
        put_row(f, table, r, start.line, row);
      }
    } else if (tokens_.skip("default")) {
      table.others = numbers(values, start.line, f, table.child);
      table.others_line = start.line;
    } else {
      tokens_.expect("(", "before the categories of the parents, or 'table',");
      std::size_t r = 0;
      for (std::size_t j = 0; j < f.scope.size(); ++j) {
        if (j > 0) tokens_.expect(",", "between the categories of the parents");
        r = r * variables_[f.scope[j]].values + category(f.scope[j]);
      }
      tokens_.expect(
          ")", fmt::format("after the categories of {} parent{}", f.scope.size(), f.scope.size() == 1 ? "" : "s"));
      put_row(f, table, r, start.line, numbers(values, start.line, f, table.child));
    }
  }

  std::size_t category(std::uint32_t v) {
    const Token name = tokens_.word("the name of a category");
    const auto& known = variables_[v].categories;
    const auto found = std::ranges::find(known, name.text);
    if (found == known.end())
      fail("line {}: variable '{}' has no category '{}'{}", name.line, variables_[v].name, printable(name.text),
           suggestion(name.text, known));
    return static_cast<std::size_t>(found - known.begin());
  }

  std::vector<double> numbers(std::size_t count, std::size_t line, const Function& f, std::uint32_t child) {
    std::vector<double> out;
    do {
      out.push_back(tokens_.number("a probability"));
      if (out.size() > count) break;
    } while (tokens_.skip(","));
    if (out.size() != count)
      fail("line {}: {} number{} for '{}'; {} are expected{}", line,
           out.size() > count ? "too many" : std::to_string(out.size()), out.size() == 1 ? "" : "s",
           variables_[child].name, count, f.scope.empty() ? ", one per category" : "");
    tokens_.expect(";", "after the probabilities");
    return out;
  }

  // "(LOW, yes)"
  std::string combination(const Function& f, std::size_t r) const {
    std::vector<std::string> names(f.scope.size());
    for (std::size_t j = f.scope.size(); j > 0; --j) {
      const DiscreteVariable& v = variables_[f.scope[j - 1]];
      names[j - 1] = v.categories[r % v.values];
      r /= v.values;
    }
    return f.scope.empty() ? "" : fmt::format(" given ({})", joined(names));
  }
  void finish_row(const Function& f, Rows& table, std::size_t r) const {
    const DiscreteVariable& child = variables_[table.child];
    if (table.lines[r] == 0 && !table.others.empty()) put_row(f, table, r, table.others_line, table.others);
    const std::span<const double> row = std::span(table.numbers).subspan(r * child.values, child.values);
    if (table.lines[r] == 0)
      fail("line {}: the probabilities of '{}'{} are missing", f.line, child.name, combination(f, r));
    for (const double x : row)
      if (!(x >= 0))
        fail("line {}: a probability of '{}'{} is {}; it must be in [0, 1]", table.lines[r], child.name,
             combination(f, r), x);
    const double sum = std::accumulate(row.begin(), row.end(), 0.0);
    if (!(std::abs(sum - 1) <= kRowRounding))
      fail("line {}: the probabilities of '{}'{} have the sum {:.6g}; it must be 1", table.lines[r], child.name,
           combination(f, r), sum);
  }

  Tokens tokens_;
  double most_numbers_, numbers_in_all_ = 0;  // totals over all tables
  std::vector<DiscreteVariable> variables_;
  std::map<std::string, std::uint32_t, std::less<>> numbers_;
  std::vector<Function> functions_;
  std::map<std::uint32_t, std::size_t> function_of_;  // by child
};

}  // namespace

GraphFile parse_bif(std::string_view text, std::span<const GivenText> given) { return Bif(text).read(given); }

}  // namespace dma
