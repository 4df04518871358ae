// The table of a runtime's functions, which NAME.so shows: who loads it calls
// the runtime that it was built with. Must only grow at its end.
#pragma once
#include "runtime/mille.h"

// The fields are named after the functions: table->mille_package_open(...).
struct mille_functions {
  size_t size; // bytes of this table; a later runtime's is at least as large
#define MILLE_FUNCTION(name) decltype(&::name) name;
#include "runtime/functions.def"
};

extern "C" __attribute__((visibility("default")))
const mille_functions mille_function_table;
