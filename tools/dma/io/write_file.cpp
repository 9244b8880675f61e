#include "tools/dma/io/write_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <utility>

#include "engine/support/text.h"
#include "tools/dma/io/interrupt.h"

namespace dma {

namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(const fs::path& path, std::string_view reason) {
  fail("cannot write '{}': {}; choose another place, or make room and rights for it", path.string(), reason);
}

// The place of the bytes.
struct Destination {
  fs::path path;                      // links followed
  std::optional<struct stat> exists;  // state of the file that is there already
  bool straight = false;              // into something that is not a regular file, or that somebody holds open
};

bool is_below(const fs::path& path, std::string_view folder) { return path.string().starts_with(folder); }

// A link that leads nowhere is followed as well: its target is made. Names in /dev and /proc stand for
// something open, such as the shell's own output: it is never replaced.
Destination destination_of(const fs::path& named) {
  constexpr int kMostLinks = 40;
  Destination to{named, {}, false};
  std::error_code error;
  for (int links = 0; fs::is_symlink(fs::symlink_status(to.path, error)); ++links) {
    if (links == kMostLinks) refuse(named, std::strerror(ELOOP));
    const fs::path absolute = fs::absolute(to.path, error);
    if (is_below(absolute, "/dev/") || is_below(absolute, "/proc/")) break;
    to.path = to.path.parent_path() / fs::read_symlink(to.path, error);
    if (error) refuse(named, error.message());
  }
  struct stat status = {};
  if (::stat(to.path.c_str(), &status) != 0) {
    if (errno != ENOENT) refuse(named, std::strerror(errno));
    return to;
  }
  if (S_ISDIR(status.st_mode)) refuse(named, "it is a folder; name a file");
  to.exists = status;
  to.straight = !S_ISREG(status.st_mode) || fs::is_symlink(fs::symlink_status(to.path, error));
  return to;
}

fs::path folder_of(const fs::path& path) { return path.has_parent_path() ? path.parent_path() : fs::path("."); }

void write_all(int descriptor, std::string_view text, const fs::path& named) {
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) refuse(named, std::strerror(errno));
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

class Descriptor {
 public:
  explicit Descriptor(int value) : value_(value) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (value_ >= 0) ::close(value_);
  }
  int value() const { return value_; }
  // A full disk behind a network may be told only here.
  bool close() { return ::close(std::exchange(value_, -1)) == 0 || errno == EINTR; }

 private:
  int value_;
};

// The six X become what makes the name new; a name of the greatest length is cut to make room for them.
std::string name_beside(const fs::path& path) {
  constexpr std::size_t kKept = 200;
  return (folder_of(path) / ("." + path.filename().string().substr(0, kKept) + ".XXXXXX.part")).string();
}

void keep_mode(int file, const Destination& to, const fs::path& named) {
  mode_t mode = 0;
  if (to.exists) {
    const struct stat& old = *to.exists;
    mode = old.st_mode & 07777;
    // Only root may give a file away; for others the group alone may change, or nothing.
    if (::fchown(file, old.st_uid, old.st_gid) != 0) (void)!::fchown(file, static_cast<uid_t>(-1), old.st_gid);
  } else {
    const mode_t mask = ::umask(0);
    ::umask(mask);
    mode = 0666 & ~mask;
  }
  if (::fchmod(file, mode) != 0) refuse(named, std::strerror(errno));
}

struct Removed {
  const std::string& name;  // empty: there is nothing to remove
  ~Removed() {
    if (!name.empty()) ::unlink(name.c_str());
  }
};

// Into a new file beside the final name, which no other process can have open. Without a text it only tries.
void write_beside(const Destination& to, const fs::path& named, std::optional<std::string_view> text) {
  const SignalsHeld held;  // first made, last gone
  std::string beside = name_beside(to.path);
  Descriptor file(::mkostemps(beside.data(), 5, O_CLOEXEC));
  if (file.value() < 0) refuse(named, std::strerror(errno));
  const Removed removed{beside};
  if (!text) return;
  write_all(file.value(), *text, named);
  keep_mode(file.value(), to, named);
  // Without the first flush a power failure could leave the new name on a file whose contents never reached the disk;
  // without the second, the old name.
  if (::fsync(file.value()) != 0 || !file.close() || ::rename(beside.c_str(), to.path.c_str()) != 0)
    refuse(named, std::strerror(errno));
  beside.clear();
  const Descriptor folder(::open(folder_of(to.path).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder.value() >= 0) ::fsync(folder.value());  // some file systems cannot; the file is whole all the same
}

void write_straight(const Destination& to, const fs::path& named, std::string_view text) {
  Descriptor file(::open(to.path.c_str(), O_WRONLY | O_APPEND | O_NOCTTY | O_CLOEXEC));
  if (file.value() < 0) refuse(named, std::strerror(errno));
  write_all(file.value(), text, named);
  if (!file.close()) refuse(named, std::strerror(errno));
}

void check_rights(const Destination& to, const fs::path& named) {
  if (named.empty()) refuse(named, "it has no name");
  if (to.exists && ::access(to.path.c_str(), W_OK) != 0) refuse(named, std::strerror(errno));
}

}  // namespace

void write_file(const fs::path& path, std::string_view text) {
  const Destination to = destination_of(path);
  check_rights(to, path);
  if (to.straight) return write_straight(to, path, text);
  std::error_code ignored;  // the next line says what is wrong
  fs::create_directories(folder_of(to.path), ignored);
  write_beside(to, path, text);
}

void write_or_print(const fs::path& path, std::string_view text) {
  if (path.empty())
    fmt::print("{}", text);
  else
    write_file(path, text);
}

void check_writable(const fs::path& path) {
  const Destination to = destination_of(path);
  check_rights(to, path);
  if (to.straight) return;
  fs::path folder = folder_of(to.path);
  std::error_code error;
  if (fs::exists(folder, error)) return write_beside(to, path, {});
  // Folders still to be made: the nearest that is there must let us.
  while (!fs::exists(folder, error) && folder.has_relative_path()) folder = folder_of(folder);
  if (!fs::is_directory(folder, error)) refuse(path, std::strerror(ENOTDIR));
  if (::access(folder.c_str(), W_OK | X_OK) != 0) refuse(path, std::strerror(errno));
}

bool is_same_file(const fs::path& one, const fs::path& other) {
  struct stat first = {}, second = {};
  const bool has_first = ::stat(one.c_str(), &first) == 0, has_second = ::stat(other.c_str(), &second) == 0;
  if (has_first && has_second)
    return S_ISREG(first.st_mode) && first.st_dev == second.st_dev && first.st_ino == second.st_ino;
  if (has_first || has_second) return false;
  std::error_code error;
  return fs::weakly_canonical(fs::absolute(one), error) == fs::weakly_canonical(fs::absolute(other), error);
}

void check_outputs(const std::vector<NamedFile>& outputs, const std::vector<NamedFile>& inputs) {
  const auto refuse_same = [](const NamedFile& output, const NamedFile& other, std::string_view what) {
    if (!other.path.empty() && is_same_file(output.path, other.path))
      fail("{} '{}' is {}; name another file", output.option, output.path.string(), what);
  };
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i].path.empty()) continue;
    for (const NamedFile& input : inputs)
      refuse_same(outputs[i], input, fmt::format("the file that is read as {}", input.option));
    for (std::size_t j = 0; j < i; ++j)
      refuse_same(outputs[i], outputs[j], fmt::format("also the file for {}", outputs[j].option));
    std::error_code unknown;
    if (const fs::path folder = folder_of(outputs[i].path); !fs::exists(folder, unknown) && !unknown)
      fail("{} '{}': there is no folder '{}'; make it, or name another place", outputs[i].option,
           outputs[i].path.string(), folder.string());
    check_writable(outputs[i].path);
  }
}

}  // namespace dma
