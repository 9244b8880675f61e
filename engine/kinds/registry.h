// Kind x method -> message functions: a value that lists what a graph may be made of. standard_registry() (factors/)
// has the built-in kinds; a user adds to a copy. Copies share what they list until one of them is changed: every plan
// has one.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/kinds/kind.h"
#include "engine/messages/family_from.h"

namespace dma {

// A producer whose output port feeds nothing but a consumer's variadic port, replaced by one kind without the variable
// in between. The fused kind has the producer's other ports (made variadic, in order) and then the consumer's other
// ports. Its messages stand for those of the producer by the same method and of the consumer by `consumer_method`: a
// pair that would use any others, as a user may have added them, stays a pair. A parameter of the fused kind is that of
// the same name of the consumer, or of the producer where that has one number; all other parameters must have their
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

  Registry& add(Kind kind);
  Registry& fuse(Fusion fusion);
  // A family made from the type of its messages (family_from.h): `registry.add_family<VonMises>()`.
  template <class Message>
  Registry& add_family() {
    return add(family_operations<Message>());
  }
  // Adds message functions to a kind that is there already: `registry.extend("product").message<...>("ep", "x")`.
  Kind& extend(std::string_view kind);

  const Kind& kind(std::string_view name) const;  // an unknown name is an Error that offers the nearest one
  bool contains(std::string_view name) const { return kinds().contains(std::string(name)); }
  const std::map<std::string, Kind>& kinds() const { return contents_->kinds; }
  Family family(std::string_view text) const;  // "gamma", "categorical(3)"; empty: Gaussian; likewise an Error
  // All its ports take messages whose two numbers obey the rules of a Gaussian's.
  bool is_like_gaussian(const Kind& kind) const;
  const std::map<std::string, const FamilyOperations*>& families() const { return contents_->families; }
  const std::vector<Fusion>& fusions() const { return contents_->fusions; }

 private:
  Registry& add(const FamilyOperations& family);

  struct Contents {
    std::map<std::string, Kind> kinds = {};
    std::map<std::string, const FamilyOperations*> families = {{std::string(kGaussian), Family().operator->()}};
    std::vector<Fusion> fusions = {};
    bool is_open = false;  // somebody may hold a reference that extend() gave: not to be shared
  };
  Contents& own();  // to be changed

  std::shared_ptr<Contents> contents_;
};

// One row per kind: what it is, ports, parameters with domains, methods per target port.
std::string describe(const Registry& registry);
std::string describe(const Kind& kind);

}  // namespace dma
