// The real program, run in a folder of its own.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "engine/support/json.h"

namespace dma::testing {

// A fresh folder that disappears with the object.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  void write(const std::string& file, std::string_view text) const;
  std::string read(const std::string& file) const;  // empty if there is none
  std::vector<std::string> files() const;           // sorted names

 private:
  std::filesystem::path path_;
};

struct Outcome {
  int exit_code = 0;  // 128 + n after signal n, as in a shell
  std::string output, errors;
};

// Runs `dma <arguments>` in the folder; the arguments are read by a shell. Its output does not stay in the folder.
Outcome run_dma(const TemporaryFolder& folder, const std::string& arguments, const std::string& environment = "");

// The same, and the test ends where the program does not end well; json_of_dma reads what it printed.
Outcome require_dma(const TemporaryFolder& folder, const std::string& arguments, const std::string& environment = "");
Json json_of_dma(const TemporaryFolder& folder, const std::string& arguments, const std::string& environment = "");

bool holds(std::string_view text, std::string_view part);
std::size_t count_of(std::string_view part, std::string_view text);  // one behind the other
void check_holds(std::string_view text, std::initializer_list<std::string_view> parts);

// The same of `dma-lab`.
Outcome run_lab(const TemporaryFolder& folder, const std::string& arguments);

// Refused as a wrong request is: exit code 2, one line on the error stream that says this, and no file more or less.
void check_refused(const TemporaryFolder& folder, const std::string& arguments, const std::string& expected);
void check_lab_refused(const TemporaryFolder& folder, const std::string& arguments, const std::string& expected);

// Starts it without waiting, printing nowhere; finish() waits for the exit code.
pid_t start_dma(const TemporaryFolder& folder, const std::vector<std::string>& arguments);
pid_t start_lab(const TemporaryFolder& folder, const std::vector<std::string>& arguments);
int finish(pid_t process);

}  // namespace dma::testing
