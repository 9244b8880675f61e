#include "tests/tools/run_dma.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>

namespace dma::testing {

namespace {

namespace fs = std::filesystem;

std::string contents(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  std::stringstream text;
  text << stream.rdbuf();
  return text.str();
}

int exit_code_of(int status) { return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status); }

// Under the sanitizers every process ends with a search for leaks that takes seconds on some processors. The program is
// run hundreds of times here, and searched for leaks where it runs in the test's own process (tests/fuzz).
[[maybe_unused]] const int kNoLeakCheckInChildren = setenv("ASAN_OPTIONS", "detect_leaks=0", 0);

Outcome run_named(const std::string& program, const TemporaryFolder& folder, const std::string& arguments,
                  const std::string& environment) {
  const TemporaryFolder printed;
  const std::string out = (printed.path() / "out").string(), err = (printed.path() / "err").string();
  const std::string command = "cd '" + folder.path().string() + "' && " + environment +
                              " " DMA_EMULATOR " '" DMA_BINARY_DIR "/" + program + "' " + arguments + " >'" + out +
                              "' 2>'" + err + "' </dev/null";
  const int status = std::system(command.c_str());
  return {exit_code_of(status), contents(out), contents(err)};
}

void check_named_refused(const std::string& program, const TemporaryFolder& folder, const std::string& arguments,
                         const std::string& expected) {
  INFO(arguments);
  const auto before = folder.files();
  const auto outcome = run_named(program, folder, arguments, "");
  CHECK(outcome.exit_code == 2);
  CHECK(outcome.output == "");
  CHECK_MESSAGE(holds(outcome.errors, expected), outcome.errors);
  CHECK(outcome.errors.starts_with(program + ": "));
  CHECK(std::ranges::count(outcome.errors, '\n') == 1);
  CHECK(outcome.errors.ends_with('\n'));
  CHECK(folder.files() == before);
}

pid_t start_named(const char* program, const TemporaryFolder& folder, const std::vector<std::string>& arguments) {
  const pid_t process = fork();
  if (process != 0) return process;
  if (chdir(folder.path().c_str()) != 0) _exit(127);
  const int nowhere = open("/dev/null", O_RDWR);
  for (const int stream : {0, 1, 2}) dup2(nowhere, stream);
  std::vector<char*> pointers;
  if (DMA_EMULATOR[0] != '\0') pointers.push_back(const_cast<char*>(DMA_EMULATOR));
  pointers.push_back(const_cast<char*>(program));
  for (const std::string& argument : arguments) pointers.push_back(const_cast<char*>(argument.c_str()));
  pointers.push_back(nullptr);
  execvp(pointers[0], pointers.data());
  _exit(127);
}

}  // namespace

TemporaryFolder::TemporaryFolder() {
  std::string name = (fs::temp_directory_path() / "dma_test_XXXXXX").string();
  if (!mkdtemp(name.data())) throw std::runtime_error("cannot make a temporary folder");
  path_ = name;
}
TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  fs::permissions(path_, fs::perms::owner_all, ignored);
  fs::remove_all(path_, ignored);
}

void TemporaryFolder::write(const std::string& file, std::string_view text) const {
  std::ofstream(path_ / file, std::ios::binary) << text;
}
std::string TemporaryFolder::read(const std::string& file) const { return contents(path_ / file); }

std::vector<std::string> TemporaryFolder::files() const {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(path_)) names.push_back(entry.path().filename().string());
  std::ranges::sort(names);
  return names;
}

Outcome run_dma(const TemporaryFolder& folder, const std::string& arguments, const std::string& environment) {
  return run_named("dma", folder, arguments, environment);
}
Outcome run_lab(const TemporaryFolder& folder, const std::string& arguments) {
  return run_named("dma-lab", folder, arguments, "");
}

Outcome require_dma(const TemporaryFolder& folder, const std::string& arguments, const std::string& environment) {
  INFO(arguments);
  Outcome outcome = run_dma(folder, arguments, environment);
  REQUIRE_MESSAGE(outcome.exit_code == 0, outcome.errors);
  return outcome;
}
Json json_of_dma(const TemporaryFolder& folder, const std::string& arguments, const std::string& environment) {
  return parse_json(require_dma(folder, arguments, environment).output);
}

bool holds(std::string_view text, std::string_view part) { return text.find(part) != text.npos; }
std::size_t count_of(std::string_view part, std::string_view text) {
  std::size_t found = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != text.npos; at += part.size()) ++found;
  return found;
}
void check_holds(std::string_view text, std::initializer_list<std::string_view> parts) {
  for (const std::string_view part : parts) CHECK_MESSAGE(holds(text, part), part);
}

void check_refused(const TemporaryFolder& folder, const std::string& arguments, const std::string& expected) {
  check_named_refused("dma", folder, arguments, expected);
}
void check_lab_refused(const TemporaryFolder& folder, const std::string& arguments, const std::string& expected) {
  check_named_refused("dma-lab", folder, arguments, expected);
}

pid_t start_dma(const TemporaryFolder& folder, const std::vector<std::string>& arguments) {
  return start_named(DMA_BINARY_DIR "/dma", folder, arguments);
}
pid_t start_lab(const TemporaryFolder& folder, const std::vector<std::string>& arguments) {
  return start_named(DMA_BINARY_DIR "/dma-lab", folder, arguments);
}

int finish(pid_t process) {
  int status = 0;
  waitpid(process, &status, 0);
  return exit_code_of(status);
}

}  // namespace dma::testing
