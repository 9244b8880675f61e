#include "tests/structure/source_tree.h"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>

namespace dma::structure {
namespace {

namespace fs = std::filesystem;

const fs::path kRoot = DMA_SOURCE_DIR;
constexpr const char* kFolders[] = {"engine", "factors", "schedules", "models", "tests", "tools"};

std::string read(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

// Paths from the root of all files of the six folders.
std::vector<std::string> all_files() {
  std::vector<std::string> paths;
  for (const char* folder : kFolders)
    if (fs::exists(kRoot / folder))
      for (const auto& entry : fs::recursive_directory_iterator(kRoot / folder))
        if (entry.is_regular_file()) paths.push_back(entry.path().lexically_relative(kRoot).generic_string());
  std::ranges::sort(paths);
  return paths;
}

// Takes a line apart; `raw_end` ends the raw literal that is open, and is empty if none is.
Line taken_apart(const std::string& text, std::string& raw_end) {
  Line line;
  line.text = text;
  line.is_raw = !raw_end.empty();
  for (std::size_t i = 0; i < text.size();) {
    const char c = text[i];
    const bool is_digit_mark = c == '\'' && i > 0 && std::isalnum(static_cast<unsigned char>(text[i - 1])) != 0;
    if (!raw_end.empty()) {
      const auto end = text.find(raw_end, i);
      i = end == text.npos ? text.size() : end + raw_end.size();
      if (end != text.npos) raw_end.clear();
    } else if (text.compare(i, 2, "//") == 0) {
      line.comment_at = i;
      line.comment = text.substr(std::min(i + 3, text.size()));
      break;
    } else if (c == '"' && i > 0 && text[i - 1] == 'R') {
      line.is_raw = true;
      const auto open = text.find('(', i);
      raw_end = ")" + text.substr(i + 1, open - i - 1) + "\"";
      i = open + 1;
    } else if (c == '"' || (c == '\'' && !is_digit_mark)) {
      const std::size_t first = ++i;
      while (i < text.size() && text[i] != c) i += text[i] == '\\' ? 2 : 1;
      if (c == '"') line.strings.push_back(text.substr(first, i - first));
      line.code += ' ';
      ++i;
    } else {
      line.code += c;
      ++i;
    }
  }
  return line;
}

}  // namespace

SourceFile::SourceFile(std::string path_of_file, std::string_view text) : path(std::move(path_of_file)) {
  static const std::regex include("\\s*#\\s*include\\s*([\"<])([^\">]+)[\">].*");
  std::istringstream stream{std::string(text)};
  std::string raw_end;
  for (std::string line; std::getline(stream, line);) {
    lines.push_back(taken_apart(line, raw_end));
    std::smatch part;
    if (line.find('#') != line.npos && std::regex_match(line, part, include))
      includes.push_back({lines.size(), part[2], part[1] == "\""});
  }
}

std::string SourceFile::place(std::size_t line) const { return path + ":" + std::to_string(line) + ": "; }

const std::vector<SourceFile>& sources() {
  static const std::vector<SourceFile> all = [] {
    std::vector<SourceFile> files;
    for (const std::string& path : all_files())
      if (path.ends_with(".h") || path.ends_with(".cpp")) files.emplace_back(path, read(kRoot / path));
    return files;
  }();
  return all;
}

const std::vector<Folder>& folders() {
  static const std::vector<Folder> all = [] {
    std::map<std::string, Folder> found;
    for (const std::string& path : all_files()) {
      if (path.find("__pycache__") != path.npos) continue;
      ++found[std::string(folder_of(path))].files;
      for (std::string_view folder = folder_of(path); !folder.empty(); folder = folder_of(folder))
        found[std::string(folder)].path = folder;
    }
    static const std::regex line("[^]*\nMay include: (.*)\\.\n?"), name("[^, ]+");
    std::vector<Folder> list;
    for (auto& [path, folder] : found) {
      const std::string readme = read(kRoot / (path.starts_with("tests/") ? "tests" : path) / "README.md");
      const auto at = readme.rfind("\nMay include: ");
      std::smatch part;
      const std::string last = at == readme.npos ? "" : readme.substr(at);
      folder.has_line = std::regex_match(last, part, line);
      const std::string names = folder.has_line && part[1] != "nothing" ? part[1].str() : "";
      for (std::sregex_iterator each(names.begin(), names.end(), name), end; each != end; ++each)
        folder.may_include.push_back(each->str());
      list.push_back(std::move(folder));
    }
    return list;
  }();
  return all;
}

std::string_view top_folder(std::string_view path) {
  const auto slash = path.find('/');
  return slash == path.npos ? std::string_view{} : path.substr(0, slash);
}

std::string_view folder_of(std::string_view path) {
  const auto slash = path.rfind('/');
  return slash == path.npos ? std::string_view{} : path.substr(0, slash);
}

std::vector<std::string> top_level_names() {
  std::set<std::string> names;
  const std::string command = "git -C '" + kRoot.string() + "' ls-files 2>/dev/null | cut -d/ -f1 | sort -u";
  if (std::FILE* pipe = fs::exists(kRoot / ".git") ? popen(command.c_str(), "r") : nullptr) {
    std::string text;
    for (int c; (c = std::fgetc(pipe)) != EOF;) text += static_cast<char>(c);
    pclose(pipe);
    std::istringstream lines(text);
    for (std::string name; std::getline(lines, name);) names.insert(name);
  }
  if (names.empty())
    for (const auto& entry : fs::directory_iterator(kRoot)) names.insert(entry.path().filename().string());
  std::erase_if(names, [](const std::string& name) { return name.starts_with('.') || name.starts_with("build"); });
  return {names.begin(), names.end()};
}

}  // namespace dma::structure
