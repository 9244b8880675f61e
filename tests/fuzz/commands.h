// The command line, run in this process: quick, and under whatever watches this process.
#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "tools/dma/pictures/run_program.h"

namespace dma::fuzz {

void write(const std::filesystem::path& path, std::string_view text);
std::string read(const std::filesystem::path& path);

// A folder of its own, and this process in it.
class Scene {
 public:
  Scene() : before_(std::filesystem::current_path()) { std::filesystem::current_path(folder_.path()); }
  ~Scene() { std::filesystem::current_path(before_); }

  std::set<std::string> files() const;

 private:
  std::filesystem::path before_;
  plot::ScratchFolder folder_;
};

struct Ended {
  int code = 0;
  std::string output, errors;
};
// `dma` with these arguments.
Ended run(std::vector<std::string> arguments);

// A Finding unless it ended with 0, or with 2 and one plain line that says why.
void check(const Ended& outcome, const std::vector<std::string>& arguments);
// A Finding where the text has a number that is none, or is infinite.
void check_finite(std::string_view text, const std::vector<std::string>& arguments);

}  // namespace dma::fuzz
