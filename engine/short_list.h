// A list that mostly holds one thing and then needs no memory of its own: a graph of many scalar nodes is built and
// compiled without an allocation for each of them.
#pragma once

#include <boost/container/small_vector.hpp>

namespace dma {

template <class T>
using ShortList = boost::container::small_vector<T, 1>;

}  // namespace dma
