// What a reproduction found: claims with the paper's number beside ours, the files it wrote, what was skipped.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tools/dma/pictures/gnuplot.h"

namespace dma::validation {

struct Claim {
  std::string figure;  // "C.1"
  std::string claim;
  std::string paper;
  std::string ours;
  bool holds = false;
};

struct Findings {
  std::vector<Claim> claims = {};
  std::vector<std::string> notes = {};    // what the paper leaves open and what was chosen
  std::vector<std::string> files = {};    // names within the output folder
  std::vector<std::string> skipped = {};  // pictures that could not be drawn, and why

  void add(Findings other);
};

// Draws out/name.svg and .png, and records them.
void draw(const plot::Figure& figure, const std::filesystem::path& out, const std::string& name, Findings& findings);

// Writes out/name.csv, one row per vector, and records it.
void write_csv(const std::filesystem::path& out, const std::string& name, const std::vector<std::string>& columns,
               const std::vector<std::vector<double>>& rows, Findings& findings);

// A table of claims, then notes, files and what was skipped.
std::string markdown(const Findings& findings, const std::string& title);

}  // namespace dma::validation
