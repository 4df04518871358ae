// The list of generators. If two can make a kernel, the first one makes it.
// Must not call them.
#include "compiler/driver/Generators.h"

#include "compiler/halide/Generate.h"
#include "compiler/nvvm/Generate.h"

const mille::Generators &mille::generators() {
  static const Generators list({&nvvmGenerator(), &halideGenerator()});
  return list;
}
