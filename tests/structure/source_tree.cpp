#include "tests/structure/source_tree.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

namespace dma::structure {
namespace {

namespace fs = std::filesystem;

SourceFile read(const fs::path& path, const fs::path& root) {
  SourceFile file{path.lexically_relative(root).generic_string(), {}};
  std::ifstream stream(path);
  for (std::string line; std::getline(stream, line);) file.lines.push_back(line);
  return file;
}

constexpr const char* kFolders[] = {"engine", "factors", "schedules", "models", "tests", "tools"};

// Splits "a, b."; "nothing." gives no names.
std::vector<std::string> listed(std::string_view names) {
  std::vector<std::string> found;
  while (!names.empty()) {
    const auto end = std::min(names.find_first_of(",."), names.size());
    if (end > 0 && names.substr(0, end) != "nothing") found.emplace_back(names.substr(0, end));
    names.remove_prefix(std::min(names.size(), end + 1));
    if (names.starts_with(' ')) names.remove_prefix(1);
  }
  return found;
}

// First components of the paths git tracks; empty when there is no git, no repository, or nothing tracked.
std::set<std::string> tracked_names(const fs::path& root) {
  std::set<std::string> names;
  if (!fs::exists(root / ".git")) return names;
  const std::string command = "git -C '" + root.string() + "' ls-files 2>/dev/null";
  std::FILE* pipe = popen(command.c_str(), "r");
  if (!pipe) return names;
  std::string name;
  bool in_name = true;
  for (int c; (c = std::fgetc(pipe)) != EOF;) {
    if (c == '\n') {
      names.insert(name);
      name.clear();
      in_name = true;
    } else if (c == '/') {
      in_name = false;
    } else if (in_name) {
      name += static_cast<char>(c);
    }
  }
  pclose(pipe);
  return names;
}

}  // namespace

std::string_view top_folder(std::string_view path) {
  const auto slash = path.find('/');
  return slash == path.npos ? std::string_view{} : path.substr(0, slash);
}

std::string_view folder_of(std::string_view path) {
  const auto slash = path.rfind('/');
  return slash == path.npos ? std::string_view{} : path.substr(0, slash);
}

std::vector<Include> includes_of(const SourceFile& file) {
  constexpr auto kBlank = " \t";
  std::vector<Include> includes;
  for (std::size_t i = 0; i < file.lines.size(); ++i) {
    const std::string_view line = file.lines[i];
    auto at = line.find_first_not_of(kBlank);
    if (at == line.npos || line[at] != '#') continue;
    at = line.find_first_not_of(kBlank, at + 1);
    if (at == line.npos || !line.substr(at).starts_with("include")) continue;
    const auto open = line.find_first_of("\"<", at);
    if (open == line.npos) continue;
    const auto close = line.find(line[open] == '<' ? '>' : '"', open + 1);
    if (close == line.npos) continue;
    includes.push_back({i + 1, std::string(line.substr(open + 1, close - open - 1)), line[open] == '"'});
  }
  return includes;
}

std::vector<SourceFile> read_sources() {
  const fs::path root(DMA_SOURCE_DIR);
  std::vector<SourceFile> files;
  for (const char* folder : kFolders) {
    if (!fs::exists(root / folder)) continue;
    for (const auto& entry : fs::recursive_directory_iterator(root / folder)) {
      const auto extension = entry.path().extension();
      if (entry.is_regular_file() && (extension == ".h" || extension == ".cpp")) {
        files.push_back(read(entry.path(), root));
      }
    }
  }
  std::ranges::sort(files, {}, &SourceFile::path);
  return files;
}

std::vector<Folder> read_folders() {
  constexpr std::string_view kLine = "May include: ";
  const fs::path root(DMA_SOURCE_DIR);
  std::map<std::string, Folder> folders;
  for (const char* top : kFolders) {
    if (!fs::exists(root / top)) continue;
    // Git keeps no empty folders: they are skipped.
    for (const auto& entry : fs::recursive_directory_iterator(root / top)) {
      const std::string path = entry.path().lexically_relative(root).generic_string();
      if (!entry.is_regular_file() || path.find("__pycache__") != path.npos) continue;
      ++folders[std::string(folder_of(path))].files;
      for (std::string_view folder = folder_of(path); !folder.empty(); folder = folder_of(folder))
        folders[std::string(folder)].path = folder;
    }
  }
  std::vector<Folder> all;
  for (auto& [path, folder] : folders) {
    const SourceFile readme = read(root / (path.starts_with("tests/") ? "tests" : path) / "README.md", root);
    if (!readme.lines.empty() && readme.lines.back().starts_with(kLine) && readme.lines.back().ends_with('.')) {
      folder.has_line = true;
      folder.may_include = listed(std::string_view(readme.lines.back()).substr(kLine.size()));
    }
    all.push_back(std::move(folder));
  }
  return all;
}

std::vector<std::string> top_level_names() {
  const fs::path root(DMA_SOURCE_DIR);
  auto names = tracked_names(root);
  if (names.empty()) {
    for (const auto& entry : fs::directory_iterator(root)) names.insert(entry.path().filename().string());
    std::erase_if(names, [](const std::string& name) { return name.starts_with("build") || name == "out"; });
  }
  std::erase_if(names, [](const std::string& name) { return name.starts_with('.'); });
  return {names.begin(), names.end()};
}

}  // namespace dma::structure
