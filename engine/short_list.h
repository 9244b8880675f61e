// A list that mostly holds one thing, or the few it is told, and then needs no memory of its own: a graph of many scalar
// nodes is compiled without an allocation for each of them, and what belongs together stands together.
#pragma once

#include <boost/container/small_vector.hpp>

namespace dma {

template <class T, std::size_t kFew = 1>
using ShortList = boost::container::small_vector<T, kFew>;

}  // namespace dma
