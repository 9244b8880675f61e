// Wrong input to the real program: one clear line on standard error, exit code 2, nothing left behind.
#include <doctest/doctest.h>
#include <unistd.h>

#include <string>

#include "tests/oracles/model_files.h"
#include "tests/tools/run_dma.h"

namespace {

using namespace dma::testing;

constexpr const char* kGoodTable = "x,z,y\n1,5,2\n2,3,4\n3,4,5\n4,9,9\n5,2,11\n";
const std::string kOutputs = " --model model.json --plot fit.svg --checkpoint fit.checkpoint";

void check_data_refused(const std::string& csv, const std::string& expected,
                        const std::string& options = "--target y") {
  const TemporaryFolder folder;
  folder.write("data.csv", csv);
  check_refused(folder, "fit data.csv " + options + kOutputs, expected);
}

// A model of kGoodTable, and the file it is in.
std::string good_model(const TemporaryFolder& folder) {
  folder.write("data.csv", kGoodTable);
  require_dma(folder, "fit data.csv --target y --hidden 3 --epochs 2 --quiet --model model.json");
  return folder.read("model.json");
}

}  // namespace

TEST_CASE("wrong input: data that are no table of numbers") {
  check_data_refused("", "'data.csv' is empty");
  check_data_refused("x,y\n", "has column names but no rows");
  check_data_refused("x,y\n1,2\n3\n", "line 3: 1 cells, but the header names 2 columns");
  check_data_refused("x,y\n1,2\n3,4,5\n", "line 3: 3 cells, but the header names 2 columns");
  check_data_refused("x,y\n1,2\nNaN,4\n", "line 3, column 'x': a missing value ('NaN')", "--target y --strict");
  check_data_refused("x,y\n1,2\n,4\n", "line 3, column 'x': an empty cell", "--target y --strict");
  check_data_refused("x,y\n1,2\nred,4\n", "line 3, column 'x': text ('red')", "--target y --strict");
  check_data_refused("x,y\n1,2\nred,4\n",
                     "nothing to learn from: columns left out: 'x' (text with 2 values in 2 rows)");
  check_data_refused("x,y\n1,2\n2,4\n3,\n4,red\n", "line 5, column 'y': text ('red') among numbers");
  check_data_refused("x,y,x\n1,2,3\n4,5,6\n", "columns 1 and 3 are both named 'x'");
  check_data_refused(",y\n1,2\n4,5\n", "column 1 has no name");
  check_data_refused("1,2\n3,4\n", "put a line of names first");
  check_data_refused("y\n1\n2\n", "no column beside the target");
  check_data_refused("x,y\n1,2\n", "has one row");
}

TEST_CASE("wrong input: text that is no UTF-8, or would command the terminal") {
  check_data_refused(
      "gr\xf6\xdf"
      "e,y\n1,2\n3,4\n",
      "is not UTF-8");
  check_data_refused(std::string("\xff\xfex\0,\0y\0\n\0", 10), "is UTF-16 text; save it as UTF-8");
  check_data_refused("x,y\n1,2\n\x1b[2J,4\n", "text ('\\x1b[2J')", "--target y --strict");
  check_data_refused("x,y\n1,2\n3,\"4\n5,6\n", "line 3: the quote that opens cell 2 is never closed");
  check_data_refused(kGoodTable, "\\x1b[2J", "--target \"$(printf '\\033[2J')\"");
}

TEST_CASE("wrong input: data that nothing can be learned from") {
  check_data_refused("x,y\n1,7\n2,7\n3,7\n", "the target 'y' is 7 in all 3 rows");
}

TEST_CASE("wrong input: columns that are not there or named twice") {
  check_data_refused(kGoodTable, "no column 'yy'; did you mean 'y'?", "--target yy");
  check_data_refused(kGoodTable, "no column 'w'", "--target y --features x,w");
  check_data_refused(kGoodTable, "column 'y' is named twice, as a target and as a feature",
                     "--target y --features x,y");
  check_data_refused(kGoodTable, "column 'x' is named twice", "--target y --features x,x");
}

TEST_CASE("wrong input: options out of range") {
  const auto refused = [](const std::string& options, const std::string& expected) {
    check_data_refused(kGoodTable, expected, "--target y " + options);
  };
  refused("--batches 6", "--batches: 6 is given, but there are 5 rows");
  refused("--batches 0", "--batches: 0 is given");
  refused("--batch-size 6", "--batch-size: 6 is given");
  refused("--batches 2 --batch-size 2", "--batch");
  refused("--noise -0.1", "--noise: -0.1 is given; a number above 0 is expected");
  refused("--noise 1,2,3", "--noise: 3 numbers are given, but there are 1 targets");
  refused("--slopes 0", "--slopes: 0 is given");
  refused("--slopes 0.1,0.2", "--slopes: 2 numbers are given, but there are 1 hidden layers");
  refused("--hidden 0", "--hidden: 0 is given; widths of 1 to 100000");
  refused("--hidden 6,x", "--hidden: 'x' is given");
  refused("--hidden 1000000000", "--hidden: 1000000000 is given");
  refused("--hidden 100000,100000", "GB; choose a smaller --hidden");
  refused("--members 0", "--members: 0 is given");
  refused("--epochs 0", "--epochs: 0 is given");
  refused("--patience -1", "--patience: -1 is given");
  refused("--least-gain -1", "--least-gain: -1 is given");
  refused("--tolerance -1", "--tolerance: -1 is given");
  refused("--prior-scale 0", "--prior-scale: 0 is given");
  refused("--holdout 1", "--holdout: 1 is given");
  refused("--checkpoint-every 0", "--checkpoint-every: 0 is given");
  refused("--method dna", "--method: there is no 'dna'; did you mean 'dma'?");
  refused("--features-map hills", "--features-map: there is no 'hills'");
  refused("--features-map bumps5", "takes one input, not 2");
  refused("--preset best", "--preset: there is no 'best'");
  refused("--tempering 0", "--tempering: 0 is given");
  refused("--epochs many", "--epochs");
  refused("--no-such-option", "--no-such-option");
  refused("--seed -1", "--seed: '-1' is given; a whole number");
  refused("--seed 18446744073709551616", "--seed: '18446744073709551616' is given; a whole number");
  refused("--members -1", "--members: '-1' is given");
  refused("--hidden 5,,5", "--hidden: '' is given");
  refused("--slopes 0.1,", "--slopes: '' is given");
  refused("--noise 1,x", "--noise: 'x' is given");
  refused("--model ''", "--model: an empty name is given");
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
