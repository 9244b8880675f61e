#include "tools/experiments/paper/validation/findings.h"

#include <fmt/format.h>

#include "engine/support/text.h"
#include "tools/dma/io/write_file.h"

namespace dma::validation {

namespace {

template <class T>
void append(std::vector<T>& to, std::vector<T>& from) {
  to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
}

}  // namespace

void Findings::add(Findings other) {
  append(claims, other.claims);
  append(notes, other.notes);
  append(files, other.files);
  append(skipped, other.skipped);
}

void draw(const plot::Figure& figure, const std::filesystem::path& out, const std::string& name, Findings& findings) {
  const plot::Drawing drawing = plot::draw(figure, out / name);
  for (const auto& picture : drawing.pictures) findings.files.push_back(picture.filename().string());
  if (!drawing.skipped.empty()) findings.skipped.push_back(drawing.skipped);
}

void write_csv(const std::filesystem::path& out, const std::string& name, const std::vector<std::string>& columns,
               const std::vector<std::vector<double>>& rows, Findings& findings) {
  std::string text = fmt::format("{}\n", joined(columns, ","));
  for (const auto& row : rows) text += fmt::format("{}\n", joined(row, ",", "{:.10g}"));
  write_file(out / (name + ".csv"), text);
  findings.files.push_back(name + ".csv");
}

std::string markdown(const Findings& findings, const std::string& title) {
  std::string text = fmt::format("# {}\n\n| figure | claim | paper | ours | holds |\n|---|---|---|---|---|\n", title);
  for (const Claim& c : findings.claims)
    text += fmt::format("| {} | {} | {} | {} | {} |\n", c.figure, c.claim, c.paper, c.ours, c.holds ? "yes" : "**no**");
  if (!findings.notes.empty()) text += "\n## What the paper leaves open\n\n";
  for (const std::string& note : findings.notes) text += fmt::format("- {}\n", note);
  text += "\n## Files\n\n";
  for (const std::string& file : findings.files) text += fmt::format("- [{}]({})\n", file, file);
  for (const std::string& reason : findings.skipped) text += fmt::format("- skipped: {}\n", reason);
  return text;
}

}  // namespace dma::validation
