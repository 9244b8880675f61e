// Wrong input to the real program: one clear line on standard error, exit code 2, nothing left behind.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "engine/support/json.h"
#include "tests/oracles/files.h"
#include "tests/oracles/model_files.h"
#include "tests/tools/run_dma.h"

namespace {

using namespace dma::testing;

constexpr const char* kGoodTable = "x,z,y\n1,5,2\n2,3,4\n3,4,5\n4,9,9\n5,2,11\n";

// A model of kGoodTable, and the file it is in.
std::string good_model(const TemporaryFolder& folder) {
  folder.write("data.csv", kGoodTable);
  require_dma(folder, "fit data.csv --target y --hidden 3 --epochs 2 --quiet --model model.json");
  return folder.read("model.json");
}

}  // namespace

// refused.json: for each command what is run, @ being the options, on which file, and rows of [text of the file,
// options, words of the refusal].
TEST_CASE("wrong input: tables, graphs and options of refused.json") {
  const dma::Json all = dma::parse_json(dma::oracle::text_of_file("tools/dma/commands/refused.json"));
  for (const auto& [name, command] : all.items())
    for (const dma::Json& row : command["refused"]) {
      const TemporaryFolder folder;
      INFO(dma::json_text(row));
      folder.write(command["file"], row[0].get<std::string>());
      check_refused(folder, dma::oracle::replaced(command["run"], "@", row[1].get<std::string>()), row[2]);
    }
}

TEST_CASE("wrong input: text that is no UTF-8") {
  const TemporaryFolder folder;
  folder.write("data.csv",
               "gr\xf6\xdf"
               "e,y\n1,2\n3,4\n");
  check_refused(folder, "fit data.csv --target y", "is not UTF-8");
  folder.write("data.csv", std::string("\xff\xfex\0,\0y\0\n\0", 10));
  check_refused(folder, "fit data.csv --target y", "is UTF-16 text; save it as UTF-8");
}

TEST_CASE("wrong input: places that cannot be written, before any work is done") {
  const TemporaryFolder folder;
  folder.write("data.csv", kGoodTable);
  check_refused(folder, "fit data.csv --target y --model data.csv/model.json", "cannot write 'data.csv/model.json'");
  check_refused(folder, "fit data.csv --target y --model .", "is a folder");
  check_refused(folder, "fit data.csv --target y --plot fit.pdf", "'fit.pdf' does not name a picture");
  check_refused(folder, "fit data.csv --target y --plot-training data.csv/a.svg", "cannot write 'data.csv/a.svg'");
  check_refused(folder, "generate regression --out data.csv/a.csv", "cannot write 'data.csv/a.csv'");
}

TEST_CASE("wrong input: commands and files that are not there") {
  const TemporaryFolder folder;
  check_refused(folder, "predct", "there is no command 'predct'; did you mean 'predict'?");
  check_refused(folder, "fti", "there is no command 'fti'; did you mean 'fit'?");
  check_refused(folder, "", "a command is expected; known: ");
  check_refused(folder, "fit", "data");
  check_refused(folder, "fit nothing.csv --target y", "cannot read 'nothing.csv': No such file");
  check_refused(folder, "fit . --target y", "'.' is a folder");
  check_refused(folder, "predict nothing.json data.csv", "cannot read 'nothing.json': No such file");
  check_refused(folder, "inspect nothing.json", "cannot read 'nothing.json': No such file");
  check_refused(folder, "generate regression --seed x", "--seed");
}

TEST_CASE("wrong input: what a stranger types") {
  const TemporaryFolder folder;
  good_model(folder);
  folder.write("asia.bif",
               "network n {}\nvariable dysp { type discrete [2] { no, yes }; }\n"
               "probability (dysp) { table 0.5, 0.5; }\n");
  const std::pair<const char*, const char*> said[] = {
      {"fit data.csv --traget y", "there is no option '--traget' of dma fit; did you mean '--target'? known: "},
      {"fit data.csv --target y --band=3", "there is no option '--band' of dma fit"},
      {"fit --sed 3", "there is no option '--sed' of dma fit; did you mean '--seed'?"},
      {"fit data.csv y", "'y' is one argument too many; dma fit data is expected, as in dma fit houses.csv"},
      {"generate table 5", "'5' is one argument too many; dma generate table is expected"},
      {"predict model.json",
       "data is missing (CSV file with the columns that the model was fitted on); dma predict "
       "model data is expected, as in dma predict model.json new.csv"},
      {"certify", "kind is missing (a kind of factor (see dma factors), or all); dma certify kind is expected"},
      {"rate data.csv --pair Ann", "--pair: 2 values are expected after it, fewer are given: two players, or teams"},
      {"fit model.json --target y", "'model.json' is a model of dma, and no table; give a CSV file"},
      {"smooth model.json", "'model.json' is a model of dma, and no table"},
      {"predict model.json model.json", "'model.json' is a model of dma, and no table"},
      {"inspect data.csv", "'data.csv' is not a model of dma: it begins with \"x,z,y\""},
      {"infer data.csv", "it is no graph: it begins with \"x,z,y\"; JSON, which begins with {, BIF, UAI or g2o"},
      {"infer model.json", "'model.json' is a fitted model, not a graph; dma inspect shows it, dma predict uses it"},
      {"infer asia.bif --observe dysp=2", "variable 'dysp' has no category '2'; known: no, yes"},
      {"infer asia.bif --observe dysp=0.5", "variable 'dysp' has no category '0.5'; known: no, yes"},
      {"help fti", "there is no command 'fti'; did you mean 'fit'?"}};
  for (const auto& [arguments, expected] : said) check_refused(folder, arguments, expected);
  CHECK(run_dma(folder, "help").output == run_dma(folder, "--help").output);
  CHECK(run_dma(folder, "help fit").output == run_dma(folder, "fit --help").output);
  const std::string infer = "infer asia.bif --observe dysp=";
  CHECK(run_dma(folder, infer + "1").output == run_dma(folder, infer + "yes").output);
}

TEST_CASE("wrong input: damaged models, and data that do not match them") {
  const TemporaryFolder folder;
  const std::string model = good_model(folder);
  folder.write("other.csv", "x,w\n1,2\n");
  folder.write("text.csv", "x,z\n1,blue\n");
  check_refused(folder, "predict model.json other.csv --out p.csv",
                "'other.csv' has no column 'z', which 'model.json'");
  check_refused(folder, "predict model.json text.csv --out p.csv", "line 2, column 'z': text ('blue')");
  check_refused(folder, "predict model.json data.csv --out data.csv/p.csv", "cannot write 'data.csv/p.csv'");
  check_refused(folder, "predict data.csv data.csv --out p.csv", "'data.csv' is not a model of dma");
  folder.write("cut.json", model.substr(0, model.size() / 2));
  check_refused(folder, "predict cut.json data.csv --out p.csv", "cut short");
  check_refused(folder, "inspect cut.json --plot hinton.svg", "cut short");
  std::string newer = model;
  newer.replace(0, 12, "dma model 9 ");
  folder.write("newer.json", newer);
  check_refused(folder, "predict newer.json data.csv --out p.csv", "version 9 of the format");
  check_refused(folder, "inspect model.json --plot hinton.gif", "does not name a picture");
  folder.write("older.json", R"({"format": "dma-bnn", "version": 1})");
  check_refused(folder, "predict older.json data.csv", "'older.json' was written by an earlier dma");
  std::string damaged = model;
  damaged.back() ^= 1;
  folder.write("damaged.json", damaged);
  check_refused(folder, "predict damaged.json data.csv --out p.csv", "no longer give its checksum");
  folder.write("damaged.json", dma::oracle::changed_model(model, "/training/rows", -6));
  check_refused(folder, "predict damaged.json data.csv --out p.csv", "'damaged.json' is damaged: \"rows\" is -6");
  folder.write("damaged.json", std::string(1'000'000, '['));
  check_refused(folder, "inspect damaged.json", "is not a model of dma");
  check_refused(folder, "infer damaged.json", "nested");
}

TEST_CASE("wrong input: a checkpoint of another fit") {
  const TemporaryFolder folder;
  good_model(folder);
  const std::string fit = "fit data.csv --target y --hidden 3 --tolerance 0 --epochs 2 --quiet ";
  require_dma(folder, fit + "--checkpoint c --checkpoint-every 1");
  check_refused(folder, fit + "--resume model.json", "is a finished model, not a checkpoint");
  check_refused(folder, fit + "--resume c --seed 2", "'c' was made with seed = 1, but 2 is given now");
  check_refused(folder, fit + "--resume c --batches 2", "'c' was made with batches = 10, but 2 is given now");
  check_refused(folder, fit + "--resume c --features x", "'c' belongs to other data");
  folder.write("data.csv", std::string(kGoodTable) + "6,6,6\n");
  check_refused(folder, fit + "--resume c", "'c' belongs to other data");
}
