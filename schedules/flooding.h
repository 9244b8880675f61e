// Every message at once, from the messages of the sweep before.
#pragma once

#include "engine/schedule.h"

namespace dma {

ScheduleRule flooding(Iteration iteration = {});

}  // namespace dma
