// P(child | parents) of categorical variables, by enumeration: exact. The numbers are in the order of nested loops over
// the first parent, the second, ..., and innermost the child.
//
//  to child(k)       sum over a of  P(k | a) prod_j m_j(a_j)
//  to parent i(a_i)  sum over the other a and k of  P(k | a) m_child(k) prod_{j != i} m_j(a_j)
//
// Cost: the size of the table times the number of parents. A value that no combination allows is sent as forbidden, not
// as improbable.
#pragma once

#include <span>
#include <vector>

#include "engine/kinds/kind.h"
#include "factors/families/categorical.h"

namespace dma {

// Checks numbers for that many categories: none negative, sum 1; otherwise an Error.
void check_probabilities(std::span<const double> numbers, std::size_t categories);

struct Table {
  // The prepared list: the number of parents, the categories of each and of the child, the probabilities.
  struct Parameters {
    std::span<const double> numbers;
    static Parameters bind(const ParameterRow& row) { return {row.terms(0)}; }

    std::size_t parents() const { return static_cast<std::size_t>(numbers[0]); }
    std::size_t categories(std::size_t parent) const { return static_cast<std::size_t>(numbers[1 + parent]); }
    std::size_t child() const { return categories(parents()); }
    const double* probabilities() const { return numbers.data() + parents() + 2; }
  };
  static std::vector<double> prepare(std::span<const double> given, const PortComponents& components);

  using Message = std::span<const CategoricalComponent>;
  // The components of all parents one after the other.
  static void to_child(Message parents, Parameters p, std::span<CategoricalComponent> child);
  static void to_parents(Message parents, Message child, Parameters p, std::span<CategoricalComponent> out);
  static std::span<const double> numbers_of(std::span<const double> prepared) {
    return prepared.subspan(Parameters{prepared}.parents() + 2);
  }
  // log of the sum of P times the messages as probabilities: those of the parents, then those of the child.
  static double log_integral(Components arrivals, Parameters p);
};

// A weight for every combination of categorical variables, with any sum: the factors of an Ising or a Potts model. Its
// messages are those of a table without a child.
struct Potential {
  static std::vector<double> prepare(std::span<const double> given, const PortComponents& components);
  static void to_variables(Table::Message variables, Table::Parameters p, std::span<CategoricalComponent> out);
  static double log_integral(Components arrivals, Table::Parameters p);
};

}  // namespace dma
