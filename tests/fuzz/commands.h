// The command line, run in this process: fast, and under this process's sanitizers.
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

std::vector<std::string> words(const std::string& line);  // between blanks

// A temporary folder, and this process in it.
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

// Throws a Finding unless it ended with 0, or with 2 and one plain line of explanation.
void check(const Ended& outcome, const std::vector<std::string>& arguments);
// Throws a Finding if the text contains a NaN or infinite number.
void check_finite(std::string_view text, const std::vector<std::string>& arguments);

}  // namespace dma::fuzz
