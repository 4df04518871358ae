// The generators of kernels. Only this file and its .cpp name their rooms.
#pragma once
#include "compiler/kernels/Generator.h"

namespace mille {

const Generators &generators();

} // namespace mille
