#include "factors/families.h"

#include "factors/bernoulli.h"
#include "factors/beta.h"
#include "factors/categorical.h"
#include "factors/dirichlet.h"
#include "factors/gamma.h"
#include "factors/log_normal.h"

namespace dma {

void add_families(Registry& registry) {
  registry.add_family<LogNormalFamily>()
      .add_family<Gamma>()
      .add_family<Beta>()
      .add_family<Bernoulli>()
      .add_family<Categorical>()
      .add_family<Dirichlet>();
}

}  // namespace dma
