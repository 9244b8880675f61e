#include "tools/dma/program.h"

#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <new>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>

#include "engine/support/error.h"
#include "tools/dma/commands/commands.h"
#include "tools/dma/help/version.h"
#include "tools/dma/io/processes.h"
#include "tools/dma/io/shell_quoted.h"
#include "tools/dma/io/standard_streams.h"

namespace dma {

namespace {

std::string command_line(int count, char** arguments) {
  std::string line;
  for (int i = 0; i < count; ++i) line += (i > 0 ? " " : "") + shell_quoted(arguments[i]);
  return line;
}

// `line` is what the user typed.
void add_commands(Command root, const std::string& line) {
  root.footer("Example:\n  dma fit data.csv --target y --model model.json --plot fit.svg\nMore: dma fit --help, or man dma-fit");
  add_fit_command(root, line);
  add_predict_command(root);
  add_infer_command(root);
  add_smooth_command(root);
  add_rate_command(root);
  add_inspect_command(root);
  add_generate_command(root);
  add_factors_command(root);
  add_certify_command(root);
  add_reproduce_command(root);
  add_classify_command(root);
  add_uci_command(root);
  add_honesty_command(root);
  add_choices_command(root);
  add_compare_command(root);
  add_man_command(root);
  add_completion_command(root);
}

const char* const kPurpose = "Factor-graph inference by message passing: Bayesian neural networks from tables of numbers";

int run(int count, char** arguments) {
  const CommandLine program("dma", kPurpose, fmt::format("dma {} ({})", version(), build_options()));
  add_commands(program.root(), command_line(count, arguments));
  const int code = program.run(count, arguments);
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

// Output that did not get through comes as whatever the printing library throws: it is said as what it is.
int answer_unforeseen(std::string_view what) {
  try {
    flush_output();
  } catch (const Error& e) {
    return refuse(e.what(), kExitWrongInput);
  }
  return refuse(fmt::format("{}; dma did not foresee this error: please report it with the command and its files", what),
                kExitUnforeseen);
}

}  // namespace

CommandHelp program_help() {
  const CommandLine program("dma", kPurpose, version());
  add_commands(program.root(), "dma");
  return program.root().help();
}

int run_program(int count, char** arguments) {
  try {
    return run(count, arguments);
  } catch (const Error& e) {
    return refuse(e.what(), kExitWrongInput);
  } catch (const std::bad_alloc&) {
    return refuse("there is not enough memory for this; use fewer rows, a smaller network or fewer batches", kExitWrongInput);
  } catch (const std::exception& e) {
    return answer_unforeseen(e.what());
  } catch (...) {
    return answer_unforeseen("something that is no exception was thrown");
  }
}

}  // namespace dma
