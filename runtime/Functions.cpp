// The tables of this runtime's functions.
// Must not be needed by another file: programs that link NAME.a are without it.
#include "runtime/Functions.h"

const mille_functions mille_function_table = {
    sizeof(mille_functions),
#define MILLE_FUNCTION(name) name,
#include "runtime/functions.def"
};

const mille_training_functions mille_training_function_table = {
    sizeof(mille_training_functions),
#define MILLE_FUNCTION(name) name,
#include "runtime/training.def"
};
