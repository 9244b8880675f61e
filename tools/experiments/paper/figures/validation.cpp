// App. C as a part of the whole: tools/experiments/paper/validation computes and draws it.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "tools/experiments/paper/experiment.h"
#include "tools/experiments/paper/validation/appendix_c.h"

namespace dma::reproduce {

namespace {

constexpr const char* kFolder = "validation";

Json appendix(const std::filesystem::path& folder, const validation::AppendixOptions& options) {
  const validation::Findings findings = validation::appendix_c(folder, options);
  Json json = {{"claims", Json::array()}, {"notes", findings.notes}, {"files", findings.files}};
  for (const validation::Claim& c : findings.claims)
    json["claims"].push_back(
        {{"figure", c.figure}, {"claim", c.claim}, {"paper", c.paper}, {"ours", c.ours}, {"holds", c.holds}});
  return json;
}

}  // namespace

std::vector<Unit> validation_units(const Options& options) {
  validation::AppendixOptions own;
  if (options.quick) own.samples /= 10;
  return {{"validation", fmt::format("{} samples", own.samples),
           [own, folder = options.folder / kFolder] { return appendix(folder, own); }}};
}

Section validation_report(const Options&, const Results& results) {
  Section s{"validation", "Appendix C: how good the message approximations are"};
  const Json& result = results.at("validation");
  for (const Json& note : result.at("notes")) s.text.push_back(note);
  for (const Json& c : result.at("claims")) {
    const bool holds = c.at("holds");
    s.claims.push_back(
        {c.at("figure"), c.at("claim"), c.at("paper"), c.at("ours"), holds,
         holds ? "" : "Computed by quadrature, without sampling: see the notes above and validation/validation.md."});
  }
  for (const std::string file : result.at("files"))
    if (file.ends_with(".svg"))
      s.pictures.push_back(
          {fmt::format("{}/{}", kFolder, file.substr(0, file.size() - 4)), file.substr(0, file.size() - 4)});
  return s;
}

}  // namespace dma::reproduce
