// The other half of mille, with the compiler inside. No logic.
#include "compiler/driver/Command.h"

// Read by jemalloc: what is freed goes back to the system, so that a limit on
// the process's data counts only what is in use. Kept, it made a spec of 1 MB
// with a million errors need 700 MB in place of 512.
extern "C" const char *malloc_conf;
const char *malloc_conf = "retain:false";

int main(int argc, char **argv) { return mille::runMille(argc, argv); }
