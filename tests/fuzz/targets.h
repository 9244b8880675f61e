// fuzz/: targets for random testing. Each target runs one random case, and throws Finding if a promise is broken; a
// crash or another exception is a finding too.
#pragma once

#include <fmt/format.h>

#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

#include "tests/fuzz/choices.h"

namespace dma::fuzz {

class Finding : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

template <class... Arguments>
void promise(bool kept, fmt::format_string<Arguments...> broken, Arguments&&... arguments) {
  if (!kept) throw Finding(fmt::format(broken, std::forward<Arguments>(arguments)...));
}

// Checks that errors are one line that a terminal can show.
void promise_one_line(std::string_view error);

struct Target {
  std::string_view name;
  std::string_view unit;                 // the unit that run() counts
  std::size_t (*run)(Choices& choices);  // number of units of this case
};
std::span<const Target> targets();

std::size_t fuzz_csv(Choices& choices);         // tables of text
std::size_t fuzz_model(Choices& choices);       // damaged model files of every type, in every command that reads one
std::size_t fuzz_command(Choices& choices);     // the whole command line, in this process
std::size_t fuzz_graph(Choices& choices);       // graphs of all kinds, families, methods, schedules, solvers and maps
std::size_t fuzz_graph_file(Choices& choices);  // damaged graph files
std::size_t fuzz_discrete(Choices& choices);    // graphs of tables, compared with enumeration
std::size_t fuzz_switching(Choices& choices);   // growing graphs with discrete variables
std::size_t fuzz_rows(Choices& choices);        // likelihoods far on the wrong side of a line
std::size_t fuzz_messages(Choices& choices);    // message functions of all kinds, in closed form
std::size_t fuzz_integrals(Choices& choices);   // and by quadrature

}  // namespace dma::fuzz
