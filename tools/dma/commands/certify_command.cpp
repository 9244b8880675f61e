// dma certify: every kind of factor proves its approximation.
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "engine/certify/certify.h"
#include "engine/support/parallel.h"
#include "engine/support/text.h"
#include "factors/standard_registry.h"
#include "tools/dma/commands/certificate_output.h"
#include "tools/dma/commands/commands.h"
#include "tools/dma/io/progress.h"
#include "tools/dma/io/standard_streams.h"
#include "tools/dma/io/write_file.h"
#include "tools/dma/pictures/svg.h"

namespace dma {

namespace {

struct Request {
  std::string kind, method, out;
  bool json = false, quick = false;
  std::size_t jobs = all_processors();
};

std::vector<Certificate> certificates(const Request& request) {
  const Registry registry = standard_registry();
  CertifyOptions options = request.quick ? quick_certification() : CertifyOptions{};
  ProgressLine progress;
  options.progress = [&](const std::string& text) { progress.show(text); };
  const bool all = request.kind == "all";
  if (!all && registry.kind(request.kind).messages().empty())
    fail("certify: kind '{}' has no messages; it is a function for joint(), and its tests check its gains",
         request.kind);
  if (!all && !registry.is_like_gaussian(registry.kind(request.kind)))
    fail("certify: the messages of kind '{}' are not Gaussian; its tests compare them with enumeration and quadrature",
         request.kind);
  if (request.method.empty())
    return all ? certify_all_methods(registry, options, request.jobs)
               : certify_all_methods(registry.kind(request.kind), options);
  if (!all) return {certify(registry.kind(request.kind), request.method, options)};
  std::vector<Certificate> some;
  for (const auto& [name, kind] : registry.kinds()) {
    const std::vector<std::string> methods = kind.methods();
    if (std::ranges::find(methods, request.method) != methods.end() && registry.is_like_gaussian(kind))
      some.push_back(certify(kind, request.method, options));
  }
  if (some.empty()) fail("no kind has messages of method '{}'", request.method);
  return some;
}

void print(const Request& request) {
  const std::vector<Certificate> all = certificates(request);
  if (request.json) {
    fmt::print("{}", to_json(all));
  } else {
    for (const Certificate& c : all) fmt::print("{}\n", c.text());
  }
  if (request.out.empty()) return;
  const std::filesystem::path folder = request.out;
  write_file(folder / "certificates.json", to_json(all));
  for (const Certificate& c : all) plot::draw_picture(picture(c), folder / fmt::format("{}_{}.svg", c.kind, c.method));
}

}  // namespace

void add_certify_command(Command app) {
  auto request = std::make_shared<Request>();
  const Command command = app.add_subcommand("certify", "Measure how good the messages of a kind of factor are");
  command.footer("Example:\n  dma certify leaky_relu --out certificates");
  command.add_option("kind", request->kind, "a kind of factor (see dma factors), or all").value("KIND").required();
  command.add_option("--method", request->method, "only this method; all of them otherwise").value("METHOD");
  command.add_option("--out", request->out, "folder for certificates.json and a picture of each certificate")
      .value("FOLDER");
  command.add_option("--jobs", request->jobs, "threads, for kind all (default: all processors)").between(1, 1024);
  command.add_flag("--json", request->json, "print JSON with the numbers of every check");
  command.add_flag("--quick", request->quick, "fewer scenarios and samples: seconds instead of minutes");
  command.callback([request] { print(*request); });
}

}  // namespace dma
