#include "tools/dma/help/program.h"

#include <fmt/format.h>
#if __has_include(<malloc.h>)
#include <malloc.h>
#endif

#include <chrono>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <new>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>

#include "engine/support/text.h"
#include "tools/dma/help/version.h"
#include "tools/dma/io/processes.h"
#include "tools/dma/io/standard_streams.h"

namespace dma {

namespace {

std::string command_line(int count, char** arguments) {
  std::string line;
  for (int i = 0; i < count; ++i) line += (i > 0 ? " " : "") + shell_quoted(arguments[i]);
  return line;
}

constexpr std::string_view kNoMemory =
    "there is not enough memory for this; use fewer rows, a smaller network or fewer batches";

int run(const Program& program, int count, char** arguments) {
  const CommandLine line(program.name, program.purpose,
                         fmt::format("{} {} ({})", program.name, version(), build_options()));
  program.add_commands(line.root(), command_line(count, arguments));
  const int code = line.run(count, arguments);
  flush_output();
  return code;
}

// A process of several that fails ends them all, and one of them says why: where all fail alike, the first.
int refuse(std::string_view why, int code) {
  const std::string name = name_of_process();
  if (!name.empty()) std::this_thread::sleep_for(std::chrono::milliseconds(500));
  say(name + std::string(why));
  end_processes(code);
  return code;
}

// The printing library throws errors of its own for output that did not get through: the user is told of the output.
int answer(std::string_view what, int code) {
  try {
    flush_output();
  } catch (const Error& e) {
    return refuse(e.what(), kExitWrongInput);
  }
  return refuse(what, code);
}

}  // namespace

void prepare_process() {
  std::signal(SIGXFSZ, SIG_IGN);  // a file that may not grow any more is an error like a full disk
#ifdef M_MMAP_THRESHOLD
  // The matrices of every epoch are returned and asked for again: pages that go back to the system in between must be
  // cleared anew, an eighth of the time of a small table.
  mallopt(M_MMAP_THRESHOLD, 32 << 20);
  mallopt(M_TRIM_THRESHOLD, 128 << 20);
#endif
  open_standard_streams();
}

int run_program(const Program& program, int count, char** arguments) {
  say_as(program.name);
  try {
    return run(program, count, arguments);
  } catch (const Error& e) {
    return refuse(e.what(), kExitWrongInput);
  } catch (const std::bad_alloc&) {
    return refuse(kNoMemory, kExitWrongInput);
  } catch (const std::length_error&) {  // more than there could be
    return refuse(kNoMemory, kExitWrongInput);
  } catch (const std::filesystem::filesystem_error& e) {
    return refuse(fmt::format("cannot use '{}': {}", e.path1().string(), e.code().message()), kExitWrongInput);
  } catch (const std::system_error& e) {
    return answer(fmt::format("the system refuses: {}", e.code().message()), kExitWrongInput);
  } catch (...) {
    return answer("dma did not foresee this error: please report it with the command and its files", kExitUnforeseen);
  }
}

}  // namespace dma
