#include "tests/fuzz/commands.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <sstream>

#include "engine/support/text.h"
#include "tests/fuzz/targets.h"
#include "tools/dma/commands/commands.h"

namespace dma::fuzz {

namespace {

// Captures one of this process's standard streams.
class Captured {
 public:
  explicit Captured(std::FILE* stream)
      : stream_(stream), own_(dup(fileno(stream))), memory_(memfd_create("captured", MFD_CLOEXEC)) {
    std::fflush(stream_);
    dup2(memory_, fileno(stream_));
  }
  ~Captured() {
    std::fflush(stream_);
    dup2(own_, fileno(stream_));
    close(own_);
    close(memory_);
  }
  Captured(const Captured&) = delete;
  Captured& operator=(const Captured&) = delete;

  std::string text() const {
    std::fflush(stream_);
    std::string all(static_cast<std::size_t>(lseek(memory_, 0, SEEK_END)), '\0');
    all.resize(static_cast<std::size_t>(std::max<ssize_t>(0, pread(memory_, all.data(), all.size(), 0))));
    return all;
  }

 private:
  std::FILE* stream_;
  int own_, memory_;
};

std::string command_of(const std::vector<std::string>& arguments) {
  std::string command = "dma";
  for (const std::string& argument : arguments) command += " '" + printable(argument) + "'";
  return command;
}

}  // namespace

void write(const std::filesystem::path& path, std::string_view text) { std::ofstream(path, std::ios::binary) << text; }

std::string read(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  std::stringstream text;
  text << stream.rdbuf();
  return std::move(text).str();
}

std::vector<std::string> words(const std::string& line) {
  std::istringstream stream(line);
  return {std::istream_iterator<std::string>(stream), {}};
}

std::set<std::string> Scene::files() const {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder_.path()))
    names.insert(entry.path().filename().string());
  return names;
}

Ended run(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "dma");
  std::vector<char*> pointers;
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  const Captured output(stdout), errors(stderr);
  const int code = run_program(dma_program(), static_cast<int>(arguments.size()), pointers.data());
  return {code, output.text(), errors.text()};
}

void check(const Ended& outcome, const std::vector<std::string>& arguments) {
  const std::string command = command_of(arguments);
  const auto lines = std::ranges::count(outcome.errors, '\n');
  promise(outcome.code == 0 || outcome.code == 2, "exit code {} of {}: {}", outcome.code, command, outcome.errors);
  promise(outcome.code == 0 || (lines >= 1 && outcome.errors.ends_with('\n')), "no line for the error of {}", command);
  promise(outcome.code == 0 || lines == 1 || outcome.errors.find("checkpoint") != std::string::npos,
          "{} lines for the error of {}: {}", lines, command, outcome.errors);
  std::stringstream said(outcome.errors);
  for (std::string line; std::getline(said, line);)
    promise(line.starts_with("dma: ") && is_plain_text(line), "{} said: {}", command, printable(line));
  std::string printed = outcome.output;
  std::erase(printed, '\n');
  promise(is_plain_text(printed), "{} printed control characters", command);
}

void check_finite(std::string_view text, const std::vector<std::string>& arguments) {
  const auto is_letter = [](char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; };
  for (auto at = text.begin(); at != text.end();) {
    const auto end = std::find_if_not(at, text.end(), is_letter);
    const std::string_view word(at, end);
    promise(word != "nan" && word != "inf", "{} in what {} says: {}", word, command_of(arguments),
            printable(text.substr(0, 400)));
    at = std::find_if(end, text.end(), is_letter);
  }
}

}  // namespace dma::fuzz
