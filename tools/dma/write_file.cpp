#include "tools/dma/write_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "engine/support/error.h"

namespace dma {

namespace {

namespace fs = std::filesystem;

// A file open for writing that disappears again unless it is renamed to its final name.
class FileBeside {
 public:
  explicit FileBeside(const fs::path& path) : path_(path), beside_(path) {
    beside_ += ".part";
    std::error_code ignored;  // open() below says what is wrong
    if (fs::is_directory(path_, ignored)) refuse("it is a folder; name a file");
    if (path_.has_parent_path()) fs::create_directories(path_.parent_path(), ignored);
    descriptor_ = ::open(beside_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (descriptor_ < 0) refuse(std::strerror(errno));
  }
  FileBeside(const FileBeside&) = delete;
  FileBeside& operator=(const FileBeside&) = delete;
  ~FileBeside() {
    if (descriptor_ >= 0) ::close(descriptor_);
    if (!renamed_) ::unlink(beside_.c_str());
  }

  void write(std::string_view text) {
    while (!text.empty()) {
      const ssize_t written = ::write(descriptor_, text.data(), text.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) refuse(std::strerror(errno));
      text.remove_prefix(static_cast<std::size_t>(written));
    }
  }

  // Without the fsync a power failure could leave the new name on a file whose contents never reached the disk.
  void rename_to_final_name() {
    if (::fsync(descriptor_) != 0 && errno != EINVAL) refuse(std::strerror(errno));  // EINVAL: a pipe or device
    if (::rename(beside_.c_str(), path_.c_str()) != 0) refuse(std::strerror(errno));
    renamed_ = true;
  }

 private:
  [[noreturn]] void refuse(std::string_view reason) const {
    fail("cannot write '{}': {}; choose another place, or make room and rights for it", path_.string(), reason);
  }

  fs::path path_, beside_;
  int descriptor_ = -1;
  bool renamed_ = false;
};

}  // namespace

void write_file(const fs::path& path, std::string_view text) {
  FileBeside file(path);
  file.write(text);
  file.rename_to_final_name();
}

void check_writable(const fs::path& path) { FileBeside file(path); }

}  // namespace dma
