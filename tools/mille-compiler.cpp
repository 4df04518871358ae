// The other half of mille, with the compiler inside. No logic.
#include "compiler/driver/Command.h"

int main(int argc, char **argv) { return mille::runMille(argc, argv); }
