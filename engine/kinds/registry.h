// Families, kinds and their message functions, as a value. standard_registry() (factors/) has the built-in ones; users
// add to a copy. Copies share their contents until one is changed: every plan has a copy.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/kinds/kind.h"
#include "engine/messages/family_from.h"

namespace dma {

// A rule that replaces a producer whose output feeds only a consumer's variadic port, and that consumer, by one kind
// without the variable in between. The fused kind has the producer's other ports (made variadic, in order) and then the
// consumer's other ports. Its messages equal those of the producer by the same method and of the consumer by
// `consumer_method`: a pair with other messages, such as a user's own, is not fused. A parameter of the fused kind is
// the consumer's of that name, or the producer's if it is a single number; all other parameters must have their
// defaults.
struct Fusion {
  std::string producer, via;   // kind and output port
  std::string consumer, into;  // kind and variadic input port
  std::string fused;           // kind
  std::string consumer_method = std::string(kExact);
};

class Registry {
 public:
  Registry() : contents_(std::make_shared<Contents>()) {}
  Registry(const Registry& other);
  Registry& operator=(const Registry& other);

  Registry& add(Kind kind);       // adds a kind; an Error if its name is taken
  Registry& fuse(Fusion fusion);  // adds a pair of kinds that one kernel computes
  // A family made from the type of its messages (family_from.h): `registry.add_family<VonMises>()`.
  template <class Message>
  Registry& add_family() {
    return add(family_operations<Message>());
  }
  // Adds message functions to an existing kind: `registry.extend("product").message<...>("ep", "x")`.
  Kind& extend(std::string_view kind);

  const Kind& kind(std::string_view name) const;  // an unknown name is an Error that suggests the nearest one
  bool contains(std::string_view name) const { return kinds().contains(std::string(name)); }  // has that kind
  const std::map<std::string, Kind>& kinds() const { return contents_->kinds; }               // all kinds by name
  std::vector<std::string> methods() const;    // every method that some kind has
  Family family(std::string_view text) const;  // "gamma", "categorical(3)"; empty: Gaussian; likewise an Error
  // True if all its ports take messages that obey the rules of a Gaussian.
  bool is_like_gaussian(const Kind& kind) const;
  const std::map<std::string, const FamilyOperations*>& families() const { return contents_->families; }  // by name
  const std::vector<Fusion>& fusions() const { return contents_->fusions; }  // rules that join two factors

 private:
  Registry& add(const FamilyOperations& family);

  struct Contents {
    std::map<std::string, Kind> kinds = {};
    std::map<std::string, const FamilyOperations*> families = {{std::string(kGaussian), Family().operator->()}};
    std::vector<Fusion> fusions = {};
    bool is_open = false;  // a reference from extend() may be in use: must not be shared
  };
  Contents& own();  // the contents, unshared for writing

  std::shared_ptr<Contents> contents_;
};

// One row per kind: its summary, ports, parameters with domains, methods per target port.
std::string describe(const Registry& registry);
std::string describe(const Kind& kind);

}  // namespace dma
