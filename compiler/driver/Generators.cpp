// The list of generators: of two that make a kernel the first gives it. Must
// not ask them anything.
#include "compiler/driver/Generators.h"

#include "compiler/halide/Generate.h"

const mille::Generators &mille::generators() {
  static const Generators list({&halideGenerator()});
  return list;
}
