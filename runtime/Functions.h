// The tables of a runtime's functions, which NAME.so shows: who loads it calls
// the runtime that it was built with. Must only grow at their ends.
#pragma once
#include "runtime/mille.h"

// The fields are named after the functions: table->mille_package_open(...).
struct mille_functions {
  size_t size; // bytes of this table; a later runtime's is at least as large
#define MILLE_FUNCTION(name) decltype(&::name) name;
#include "runtime/functions.def"
};

// Only packages that can be trained show it, so that others are without its
// code.
struct mille_training_functions {
  size_t training_size;
#define MILLE_FUNCTION(name) decltype(&::name) name;
#include "runtime/training.def"
};

extern "C" {
__attribute__((
    visibility("default"))) extern const mille_functions mille_function_table;
__attribute__((visibility("default"))) extern const mille_training_functions
    mille_training_function_table;
}
