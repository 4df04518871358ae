// mille: the door. No logic.
#include "compiler/driver/handover/HandOver.h"

int main(int argc, char **argv) { return mille::runOrHandOver(argc, argv); }
