// The commands of `dma-lab`, each in its own file.
#pragma once

#include "tools/dma/help/program.h"

namespace dma {

Program lab_program();

void add_reproduce_command(Command app);
void add_uci_command(Command app);
void add_classify_command(Command app);
void add_honesty_command(Command app);
void add_compare_command(Command app);
void add_scaling_command(Command app);

}  // namespace dma
