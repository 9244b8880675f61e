// Another program, run in a folder of its own without a shell, so that it alone interprets its arguments.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tools/dma/io/interrupt.h"

namespace dma::plot {

// A fresh folder for temporary files that disappears with the object.
class ScratchFolder {
 public:
  ScratchFolder();
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::string read(const std::string& file) const;  // empty if there is none

 private:
  SignalsHeld held_;  // first made, last gone: no signal leaves the folder behind
  std::filesystem::path path_;
};

inline constexpr int kNoSuchProgram = 127, kTooLong = -1;

// The exit code of the program, whose output goes nowhere; kNoSuchProgram if it cannot be started, kTooLong if it had
// not ended after so many seconds. A signal that waits ends it too.
int run_in(const std::filesystem::path& folder, const std::vector<std::string>& arguments, double seconds);

}  // namespace dma::plot
