// Must do in the handler what a signal may interrupt alone.
#include "compiler/driver/generate/Interruption.h"

#include <csignal>

using namespace mille;

static volatile std::sig_atomic_t hasCome = 0;
static Continuation *running = nullptr;

static void onInterrupt(int) {
  hasCome = 1;
  running->cancel();
}

Interruption::Interruption(Continuation &sequence) {
  hasCome = 0;
  running = &sequence;
  before = std::signal(SIGINT, onInterrupt);
}

Interruption::~Interruption() { std::signal(SIGINT, before); }

bool Interruption::came() const { return hasCome; }
