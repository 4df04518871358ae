// mille: the door. No logic.
#include "compiler/driver/Command.h"

int main(int argc, char **argv) { return mille::runMille(argc, argv); }
