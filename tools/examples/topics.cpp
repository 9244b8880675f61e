// Topics of documents (latent Dirichlet allocation): every word comes from one of two topics, every document has shares
// of both, and nobody knows which. Priors that differ a little say which topic is called first: with equal ones the
// symmetric solution, both topics alike, would be a fixed point.
//
// Prints:
//   converged
//   goal 0.31, team 0.30, match 0.29, vote 0.05, party 0.02, law 0.03
//   goal 0.05, team 0.02, match 0.03, vote 0.31, party 0.26, law 0.33
//   document 0: 90 % of the first topic
//   document 1: 9 % of the first topic
//   document 2: 86 % of the first topic
//   document 3: 14 % of the first topic
//   document 4: 50 % of the first topic
#include <dma.h>
#include <fmt/core.h>

#include <sstream>

int main() {
  using namespace dma;
  const std::vector<std::string> words{"goal", "team", "match", "vote", "party", "law"};
  const std::vector<std::string> texts{
      "goal team match goal team match team goal goal match", "vote party law vote law party party vote law law",
      "team goal match vote match team goal match team team", "law vote party party goal vote law party vote law",
      "goal match vote team party law goal vote match law"};
  std::vector<double> seen;
  std::vector<std::uint32_t> of;
  for (std::uint32_t d = 0; d < texts.size(); ++d) {
    std::istringstream in(texts[d]);
    for (std::string word; in >> word; of.push_back(d))
      seen.push_back(static_cast<double>(std::ranges::find(words, word) - words.begin()));
  }
  Graph g;
  const auto share = g.variable("share", texts.size(), "dirichlet(2)"), rows = g.variable("rows", 2, "dirichlet(6)"),
             topic = g.variable("topic", seen.size(), "categorical(2)"),
             word = g.observed("word", seen.size(), "categorical(6)");
  g.factor("dirichlet_prior", {share}, {{"concentration", {1, 1}}});
  g.factor("dirichlet_prior", {gather(rows, {0})}, {{"concentration", {0.6, 0.5, 0.5, 0.5, 0.5, 0.5}}});
  g.factor("dirichlet_prior", {gather(rows, {1})}, {{"concentration", {0.5, 0.5, 0.5, 0.6, 0.5, 0.5}}});
  g.factor("categorical_draw", {gather(share, of), topic});
  g.factor("learned_table", {{"rows", column(rows)}, {"parent", topic}, {"child", word}}, {{"categories", 6}});
  State state(compile(g, sequential({.damping = 0.3}), standard_registry(), {.method = "ep"}));
  state.observe(word, seen);
  fmt::print("{}\n", run(state.plan(), state).converged() ? "converged" : "not converged");
  for (std::size_t k = 0; k < 2; ++k)
    for (std::size_t i = 0; i < 6; ++i)
      fmt::print("{} {:.2f}{}", words[i], state.belief(rows).mean(k, i), i < 5 ? ", " : "\n");
  for (std::size_t d = 0; d < texts.size(); ++d)
    fmt::print("document {}: {:.0f} % of the first topic\n", d, 100 * state.belief(share).mean(d, 0));
}
