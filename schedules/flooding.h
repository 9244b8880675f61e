// Every message at once, from the messages of the sweep before.
#pragma once

#include "engine/compile/schedule.h"

namespace dma {

Scheduler flooding(Iteration iteration = {});  // for compile() and solve()

}  // namespace dma
