// Files of models, of every kind: a line of text, "dma model 2 KIND BYTES CHECKSUM", then CBOR (RFC 8949), in which
// vectors and matrices are the bytes of their doubles. The checksum covers the kind and all bytes after the line.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/support/json.h"

namespace dma {

inline constexpr std::string_view kModelFileStart = "dma model ";

namespace model_kinds {
inline constexpr std::string_view kNetwork = "network", kCheckpoint = "checkpoint", kClassifier = "classifier",
                                  kGraph = "graph";
}

std::string model_file(std::string_view kind, const Json& model);

// The kind that the first line names; empty: none. Nothing else is looked at.
std::string_view model_kind(std::string_view bytes);

// Gives the model to `read`. An Error of one line, beginning with `source`, for bytes that are damaged, cut short, of
// an older or newer format, or none of these kinds. Errors of `read` that begin with the source pass as they are.
void read_model(std::string_view bytes, std::string_view source, const std::vector<std::string_view>& kinds,
                const std::function<void(const Json& model)>& read);

// Errors of `use` become "'source' is damaged: ...; fit the model again"; without a source they pass as they are.
void blaming(std::string_view source, const std::function<void()>& use);

}  // namespace dma
