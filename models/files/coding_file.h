// The rules that make columns of a table into numbers, as they stand in a model file under "columns".
#pragma once

#include "models/files/readable_json.h"
#include "models/table/column_coding.h"

namespace dma {

Json to_json(const ColumnCoding& coding);
// Nothing is checked but what is needed to read it: see ColumnCoding::check. Files without the key have no rules.
ColumnCoding coding_from(const Json& file);

}  // namespace dma
