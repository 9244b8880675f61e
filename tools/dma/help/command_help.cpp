#include "tools/dma/help/command_help.h"

#include <algorithm>
#include <sstream>

#include "factors/standard_registry.h"

namespace dma {

namespace {

// Every method that some kind of factor knows.
std::vector<std::string> methods_of_kinds() {
  std::vector<std::string> methods;
  const Registry registry = standard_registry();
  for (const auto& [name, kind] : registry.kinds())
    for (const std::string& method : kind.methods())
      if (method != kExact && std::ranges::find(methods, method) == methods.end()) methods.push_back(method);
  return methods;
}

std::vector<std::string> names_of_kinds() {
  std::vector<std::string> names = {"all"};
  const Registry registry = standard_registry();
  for (const auto& [name, unused] : registry.kinds()) names.push_back(name);
  return names;
}

}  // namespace

std::vector<std::string> OptionHelp::choices() const {
  if (value == "KIND") return names_of_kinds();
  std::vector<std::string> words;
  if (value.find('|') == value.npos && value != "METHOD") return words;
  std::istringstream text(value);
  for (std::string word; std::getline(text, word, '|');) {
    if (word != "METHOD") {
      words.push_back(word);
    } else {
      const std::vector<std::string> methods = methods_of_kinds();
      words.insert(words.end(), methods.begin(), methods.end());
    }
  }
  return words;
}

}  // namespace dma
