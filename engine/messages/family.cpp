#include "engine/messages/family.h"

#include <charconv>

#include "engine/messages/family_from.h"
#include "engine/messages/gaussian_family.h"
#include "engine/support/text.h"

namespace dma {

constinit const FamilyOperations kGaussianOperations = detail::make_family_operations<GaussianFamily>();

std::string Family::text() const {
  return operations_->has_dimension ? fmt::format("{}({})", name(), components_) : std::string(name());
}

FamilyName parse_family(std::string_view text) {
  const std::size_t open = text.find('(');
  if (open == std::string_view::npos) return {text, 0};
  constexpr std::uint32_t kLargestDimension = 1'000'000;
  FamilyName parsed{text.substr(0, open), 0};
  const std::string_view rest = text.substr(open + 1);
  const char* const end = rest.data() + rest.size();
  const auto [last, error] = std::from_chars(rest.data(), end, parsed.dimension);
  if (error != std::errc() || last + 1 != end || *last != ')' || parsed.dimension < 1 ||
      parsed.dimension > kLargestDimension)
    fail("family '{}': the dimension must be a whole number from 1 to {}, as in {}(3)", text, kLargestDimension,
         parsed.name);
  return parsed;
}

}  // namespace dma
