// Writes networks as members of a file, and reads them.
#pragma once

#include "engine/support/fields.h"
#include "models/network/bnn.h"

namespace dma::oracle {

// Whole: to go on fitting.
inline Json saved_network(const Bnn& net, bool whole = false) {
  Json json = Json::object();
  Fields fields = Fields::to(json);
  const_cast<Bnn&>(net).method().list(fields, whole);  // a writing list changes nothing
  return json_from_cbor(cbor_of(json));
}

inline Bnn read_network(const BnnOptions& options, const Json& json) {
  Bnn net(options);
  Fields fields = Fields::from(json);
  net.method().list(fields, false);
  net.method().check();
  net.take_choices();
  return net;
}

inline Bnn read_again(const Bnn& net) { return read_network(net.options(), saved_network(net)); }

}  // namespace dma::oracle
