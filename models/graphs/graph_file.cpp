#include "models/graphs/graph_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "engine/support/text.h"
#include "models/graphs/discrete_files.h"
#include "models/graphs/distinct_keys.h"
#include "models/graphs/expressions.h"
#include "models/graphs/reaches.h"

namespace dma {

namespace {

// A value and its location, for error messages.
class Node {
 public:
  Node(const Json& json, std::string pointer) : json_(&json), pointer_(std::move(pointer)) {}

  template <class... Arguments>
  [[noreturn]] void refuse(fmt::format_string<Arguments...> format, Arguments&&... arguments) const {
    fail("{}: {}", pointer_.empty() ? "the file" : pointer_,
         fmt::format(format, std::forward<Arguments>(arguments)...));
  }
  [[noreturn]] void refuse_type(std::string_view expected) const {
    std::string found = json_->is_structured() ? std::string(json_->type_name()) : json_text(*json_);
    if (found.size() > 40) found = found.substr(0, 37) + "...";
    refuse("{} is found; {} is expected", found, expected);
  }

  const Json& json() const { return *json_; }
  Node at(const std::string& key) const { return {json_->at(key), pointer_ + "/" + escaped_key(key)}; }
  Node at(std::size_t i) const { return {(*json_)[i], fmt::format("{}/{}", pointer_, i)}; }
  bool has(const std::string& key) const { return json_->contains(key); }

  // Checks for an object without other keys than these.
  const Node& object(std::initializer_list<std::string> keys) const {
    if (!json_->is_object()) refuse_type("an object");
    for (const auto& [key, value] : json_->items())
      if (std::find(keys.begin(), keys.end(), key) == keys.end())
        refuse("there is no key '{}' here{}", key, suggestion(key, std::vector<std::string>(keys)));
    return *this;
  }
  const Node& array() const {
    if (!json_->is_array()) refuse_type("a list");
    return *this;
  }
  std::string text() const {
    if (!json_->is_string()) refuse_type("text");
    return json_->get<std::string>();
  }
  std::string text_of(const std::string& key) const { return has(key) ? at(key).text() : std::string(); }
  double number() const {
    if (!json_->is_number() && !json_->is_string()) refuse_type("a number");
    try {
      return json_number(*json_);
    } catch (const std::exception&) {
      refuse_type("a number, \"inf\" or \"-inf\"");
    }
  }
  std::int64_t whole(std::int64_t least, std::int64_t most) const {
    const double found = json_->is_number() ? json_->get<double>() : std::numeric_limits<double>::quiet_NaN();
    if (!(found >= static_cast<double>(least) && found <= static_cast<double>(most) && found == std::floor(found)))
      refuse_type(fmt::format("a whole number from {} to {}", least, most));
    return static_cast<std::int64_t>(found);
  }
  bool flag() const {
    if (!json_->is_boolean()) refuse_type("true or false");
    return json_->get<bool>();
  }
  // Adds the location to errors of the graph.
  template <class Work>
  auto checked(const Work& work) const {
    try {
      return work();
    } catch (const Error& error) {
      refuse("{}", error.what());
    }
  }

 private:
  const Json* json_;
  std::string pointer_;
};

// An element is a number, the name of a category or null, or a list of numbers if it has several components.
std::vector<std::optional<double>> observed_values(const Node& node, const Graph& graph, VariableId id) {
  const auto one = [&](const Node& value) -> std::optional<double> {
    if (value.json().is_null()) return std::nullopt;
    if (!value.json().is_string() || graph.categories(id).empty()) return value.number();
    return value.checked([&] { return graph.category(id, value.text()); });
  };
  if (!node.json().is_array()) return {one(node)};
  std::size_t each = 1;
  for (const Json& element : node.json())
    if (element.is_array()) each = std::max<std::size_t>(1, element.size());
  std::vector<std::optional<double>> values;
  for (std::size_t i = 0; i < node.json().size(); ++i) {
    const Node element = node.at(i);
    if (element.json().is_null())
      values.insert(values.end(), each, std::nullopt);
    else if (!element.json().is_array())
      values.push_back(one(element));
    else
      for (std::size_t k = 0; k < element.json().size(); ++k) values.push_back(one(element.at(k)));
  }
  return values;
}

void name_categories(const Node& node, GraphFile& file, VariableId id) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < node.json().size(); ++i) names.push_back(node.at(i).text());
  node.checked([&] { file.graph.name_categories(id, std::move(names)); });
}

void read_variable(const std::string& name, const Node& node, bool is_given, GraphFile& file) {
  node.object({"size", "family", "categories", "observed", "shared", "start"});
  const auto size = static_cast<std::size_t>(
      node.has("size") ? node.at("size").whole(1, std::numeric_limits<std::int32_t>::max()) : 1);
  std::string family = node.text_of("family");
  if (node.has("categories") && family.empty())
    family = fmt::format("categorical({})", node.at("categories").array().json().size());
  const bool is_shared = node.has("shared") && node.at("shared").flag();
  if (name.empty()) node.refuse("a variable without a name; give it one");
  const bool is_observed = node.has("observed") || is_given;
  if (is_shared && is_observed) node.refuse("'{}' is both observed and shared; leave one of them out", name);
  const VariableId id = node.checked([&] {
    return is_observed ? file.graph.observed(name, size, family)
           : is_shared ? file.graph.shared(name, size, family)
                       : file.graph.variable(name, size, family);
  });
  if (node.has("categories")) name_categories(node.at("categories").array(), file, id);
  if (node.has("observed")) file.observations.push_back({id, observed_values(node.at("observed"), file.graph, id)});
  if (node.has("start")) file.starts.push_back({id, observed_values(node.at("start"), file.graph, id)});
}

Connection read_connection(const Node& node, const Graph& graph) {
  if (node.json().is_string()) return node.checked([&] { return Connection(graph.find_variable(node.text())); });
  node.object({"variable", "port", "reach", "table", "lag", "entries"});
  if (!node.has("variable")) node.refuse("the key 'variable' is missing");
  const Node named = node.at("variable");
  const VariableId variable = named.checked([&] { return graph.find_variable(named.text()); });
  const std::string word = node.has("reach") ? node.at("reach").text() : "identical";
  const auto* const reach =
      std::ranges::find(kReaches, std::string_view(word), &std::pair<Reach, std::string_view>::second);
  if (reach == std::end(kReaches)) {
    std::vector<std::string> known;
    for (const auto& [value, name] : kReaches) known.emplace_back(name);
    node.at("reach").refuse("there is no reach '{}'{}", word, suggestion(word, known));
  }
  Connection connection(variable, reach->first);
  if ((reach->first == Reach::gather) != node.has("table"))
    node.refuse("a table belongs to reach 'gather', and to no other");
  if (node.has("lag") && reach->first != Reach::shift) node.refuse("a lag belongs to reach 'shift', and to no other");
  if (node.has("entries") && reach->first != Reach::given)
    node.refuse("entries belong to reach 'given', and to no other");
  if (reach->first == Reach::gather) {
    const Node table = node.at("table").array();
    std::vector<std::uint32_t> elements;
    for (std::size_t i = 0; i < table.json().size(); ++i)
      elements.push_back(static_cast<std::uint32_t>(table.at(i).whole(0, std::int64_t{graph[variable].size} - 1)));
    connection = table.checked([&] { return gather(variable, std::move(elements)); });
  } else if (reach->first == Reach::shift) {
    constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
    connection = shift(variable, node.has("lag") ? static_cast<std::int32_t>(node.at("lag").whole(-kMost, kMost)) : 1);
  }
  if (reach->first == Reach::given)
    connection =
        given(variable, node.has("entries") ? static_cast<std::size_t>(node.at("entries").whole(1, 1'000'000)) : 1);
  return node.has("port") ? Connection(node.at("port").text(), std::move(connection)) : connection;
}

std::vector<double> read_numbers(const Node& node) {
  if (!node.json().is_array()) return {node.number()};
  std::vector<double> numbers;
  for (std::size_t i = 0; i < node.json().size(); ++i) numbers.push_back(node.at(i).number());
  return numbers;
}

ParameterValue read_parameter(const Node& node) {
  const std::vector<double> numbers = read_numbers(node);
  if (numbers.empty()) node.refuse("an empty list; one number, or one for each slot, is expected");
  return numbers;
}

void read_factor(const Node& node, Graph& graph) {
  node.object({"kind", "name", "method", "damping", "when", "connects", "parameters"});
  for (const char* const key : {"kind", "connects"})
    if (!node.has(key)) node.refuse("the key '{}' is missing", key);
  const Node ends = node.at("connects").array();
  std::vector<Connection> connections;
  for (std::size_t i = 0; i < ends.json().size(); ++i) connections.push_back(read_connection(ends.at(i), graph));
  ParameterList parameters;
  if (node.has("parameters")) {
    const Node list = node.at("parameters");
    if (!list.json().is_object()) list.refuse_type("an object");
    for (const auto& [name, value] : list.json().items()) parameters.push_back({name, read_parameter(list.at(name))});
  }
  std::vector<GateCase> when;
  if (node.has("when")) {
    const Node cases = node.at("when");
    if (!cases.json().is_object()) cases.refuse_type("an object");
    for (const auto& [name, value] : cases.json().items()) {
      const Node one = cases.at(name);
      const double number = one.json().is_string() ? 0 : one.number();
      when.push_back(one.checked([&, &name = name] {
        const VariableId chooser = graph.find_variable(name);
        return graph.gate_case(chooser, one.json().is_string() ? graph.category(chooser, one.text()) : number);
      }));
    }
  }
  node.checked([&] {
    return graph.factor(node.at("kind").text(), std::move(connections), std::move(parameters),
                        {node.text_of("name"), node.text_of("method"),
                         node.has("damping") ? std::optional(node.at("damping").number()) : std::nullopt,
                         std::move(when)});
  });
}

HyperPrior read_prior(const std::string& name, const Node& node) {
  if (!node.has("prior"))
    node.refuse("hyper '{}' has no prior; give it one, such as \"prior\": {{\"half_cauchy\": 1}}", name);
  const Node prior = node.at("prior");
  if (!prior.json().is_object() || prior.json().size() != 1) prior.refuse_type("a prior, such as {\"half_cauchy\": 1}");
  const std::string kind = prior.json().begin().key();
  return prior.checked([&] { return HyperPrior::named(kind, read_numbers(prior.at(kind))); });
}

GraphFile::Covariance read_covariance(const std::string& name, const Node& node, const Graph& graph) {
  node.object({"prior", "covariance", "concentration", "mean", "gains"});
  GraphFile::Covariance out{name, {}, read_prior(name, node),
                            node.has("concentration") ? node.at("concentration").number() : 1};
  const Node rows = node.at("covariance").array();
  for (std::size_t i = 0; i < rows.json().size(); ++i)
    out.factor.rows.push_back(rows.at(i).checked([&] { return graph.find_factor(rows.at(i).text()); }));
  if (node.has("mean")) out.factor.mean = read_numbers(node.at("mean"));
  if (node.has("gains")) out.factor.gains = read_numbers(node.at("gains"));
  const std::size_t n = out.factor.rows.size(), means = out.factor.mean.size(), gains = out.factor.gains.size();
  if (n == 0 || gains % n != 0 || (means != 0 && means != n))
    node.refuse("{} rows, {} means and {} gains; a mean, or as many gains, for each row are expected", n, means, gains);
  return out;
}

Hyper read_hyper(const std::string& name, const Node& node, const Graph& graph) {
  node.object({"prior", "of"});
  Hyper hyper{name, read_prior(name, node), {}};
  if (!node.has("of")) node.refuse("the key 'of' is missing; list the parameters that this hyper sets");
  const Node of = node.at("of").array();
  for (std::size_t i = 0; i < of.json().size(); ++i) {
    const Node use = of.at(i);
    use.object({"factor", "parameter", "power", "times"});
    for (const char* const key : {"factor", "parameter"})
      if (!use.has(key)) use.refuse("the key '{}' is missing", key);
    hyper.uses.push_back({use.checked([&] { return graph.find_factor(use.at("factor").text()); }),
                          use.at("parameter").text(), use.has("power") ? use.at("power").number() : 1,
                          use.has("times") ? read_numbers(use.at("times")) : std::vector<double>{}});
  }
  return hyper;
}

GraphFile read_graph(const Json& json, std::span<const GivenText> given);

}  // namespace

GraphFile parse_graph(std::string_view text, std::span<const GivenText> given) {
  const std::size_t start = text.find_first_not_of(" \t\r\n");
  const std::string_view rest = start == std::string_view::npos ? "" : text.substr(start);
  if (rest.starts_with("MARKOV") || rest.starts_with("BAYES")) return parse_uai(text, given);
  for (const std::string_view word : {"network", "variable", "probability", "//", "/*"})
    if (rest.starts_with(word)) return parse_bif(text, given);
  if (is_g2o(text)) {
    GraphFile poses = parse_g2o(text).graph();
    poses.observe(given);
    return poses;
  }
  const Json json = parse_graph_json(text);
  GraphChoices choices = graph_choices(json, text);
  if (choices.empty()) return read_graph(json, given);
  const std::vector<std::size_t> sizes = choices.sizes.empty() ? std::vector<std::size_t>() : choices.sizes[0];
  const double smoothing = choices.smoothings.empty() ? 0 : choices.smoothings[0];
  GraphFile file = read_graph(with_choices(json, choices, sizes, smoothing), given);
  file.choices = std::move(choices);
  return file;
}

GraphFile GraphFile::chosen(const std::vector<std::size_t>& sizes, double smoothing) const {
  const Json json = parse_graph_json(choices.text);
  return read_graph(with_choices(json, choices, sizes, smoothing), {});
}

namespace {

GraphFile read_graph(const Json& json, std::span<const GivenText> given) {
  const Node root(json, "");
  root.object({"description", "variables", "factors", "hypers", "schedule", "method"});
  GraphFile file;
  for (const char* const key : {"variables", "factors"})
    if (!root.has(key)) root.refuse("the key '{}' is missing", key);
  file.description = root.text_of("description"), file.schedule = root.text_of("schedule"),
  file.method = root.text_of("method");
  const Node variables = root.at("variables");
  if (!variables.json().is_object()) variables.refuse_type("an object");
  const auto given_names = variables_of(given);
  for (const auto& [name, value] : variables.json().items())
    read_variable(name, variables.at(name), given_names.contains(name), file);
  file.observe(given);
  const Node factors = root.at("factors").array();
  for (std::size_t i = 0; i < factors.json().size(); ++i) read_factor(factors.at(i), file.graph);
  if (!root.has("hypers")) return file;
  const Node hypers = root.at("hypers");
  if (!hypers.json().is_object()) hypers.refuse_type("an object");
  for (const auto& [name, value] : hypers.json().items())
    if (const Node node = hypers.at(name); node.has("covariance"))
      file.covariances.push_back(read_covariance(name, node, file.graph));
    else
      file.hypers.push_back(read_hyper(name, node, file.graph));
  return file;
}

}  // namespace

}  // namespace dma
