#include "tools/dma/pictures/run_program.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <thread>

#include "engine/support/text.h"

namespace dma::plot {

namespace fs = std::filesystem;

ScratchFolder::ScratchFolder() {
  std::error_code error;
  std::string name = (fs::temp_directory_path(error) / "dma_XXXXXX").string();
  if (error || !mkdtemp(name.data()))
    fail("cannot make a folder for temporary files: {}; set TMPDIR to a place that can be written",
         error ? error.message() : std::strerror(errno));
  path_ = name;
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

std::string ScratchFolder::read(const std::string& file) const {
  std::ifstream stream(path_ / file, std::ios::binary);
  std::stringstream text;
  text << stream.rdbuf();
  return std::move(text).str();
}

int run_in(const fs::path& folder, const std::vector<std::string>& arguments, double seconds) {
  std::vector<char*> pointers;
  for (const std::string& argument : arguments) pointers.push_back(const_cast<char*>(argument.c_str()));
  pointers.push_back(nullptr);
  const pid_t process = fork();
  if (process < 0) return kNoSuchProgram;
  if (process == 0) {  // only what is safe between fork and exec
    const int nowhere = open("/dev/null", O_RDWR);
    for (const int stream : {0, 1, 2}) dup2(nowhere, stream);
    if (chdir(folder.c_str()) == 0) execvp(pointers[0], pointers.data());
    _exit(kNoSuchProgram);
  }
  int status = 0;
  bool is_killed = false, is_late = false;
  const auto start = std::chrono::steady_clock::now();
  for (pid_t ended = 0; (ended = waitpid(process, &status, is_killed ? 0 : WNOHANG)) != process;) {
    if (ended < 0 && errno != EINTR) return kNoSuchProgram;
    is_late = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() > seconds;
    if (is_late || SignalsHeld::is_waiting())
      is_killed = kill(process, SIGKILL) == 0;
    else
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  if (is_late) return kTooLong;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace dma::plot
