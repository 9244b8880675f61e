#include "tests/fuzz/targets.h"

#include "engine/support/text.h"

namespace dma::fuzz {

std::span<const Target> targets() {
  static constexpr Target kTargets[] = {{"csv", "files", &fuzz_csv},
                                        {"model", "files", &fuzz_model},
                                        {"command", "commands", &fuzz_command},
                                        {"graph", "graphs", &fuzz_graph},
                                        {"discrete", "graphs", &fuzz_discrete},
                                        {"switching", "graphs", &fuzz_switching},
                                        {"graph_file", "files", &fuzz_graph_file},
                                        {"rows", "graphs", &fuzz_rows},
                                        {"messages", "messages", &fuzz_messages},
                                        {"integrals", "messages", &fuzz_integrals}};
  return kTargets;
}

void promise_one_line(std::string_view error) {
  promise(!error.empty() && is_plain_text(error), "an error is not one plain line: {}", printable(error));
}

}  // namespace dma::fuzz
