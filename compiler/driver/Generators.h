// Who makes kernels: the one place that names the rooms which do.
#pragma once
#include "compiler/kernels/Generator.h"

namespace mille {

const Generators &generators();

} // namespace mille
