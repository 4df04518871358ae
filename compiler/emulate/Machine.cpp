// Fibers and their scheduler. Must not know what an instruction does.
#include "compiler/emulate/Machine.h"
#include "llvm/ADT/StringExtras.h"

#include <sys/mman.h>

using namespace mille::emulate;

thread_local Machine *mille::emulate::machine = nullptr;

// Enough for the frame of a kernel whose values all live in memory.
static constexpr size_t stackBytes = 1 << 19;

#if defined(__x86_64__)
// Saves what a call must keep, and goes on where `to` stopped.
extern "C" void mille_emulate_switch(void **from, void *to);
__asm__(".text\n"
        ".globl mille_emulate_switch\n"
        "mille_emulate_switch:\n"
        "  push %rbp\n  push %rbx\n  push %r12\n"
        "  push %r13\n  push %r14\n  push %r15\n"
        "  mov %rsp, (%rdi)\n  mov %rsi, %rsp\n"
        "  pop %r15\n  pop %r14\n  pop %r13\n"
        "  pop %r12\n  pop %rbx\n  pop %rbp\n"
        "  ret\n");
#else
#error "write the switch between two stacks for this processor"
#endif

const char *mille::emulate::guardName(Guard guard) {
  static const char *const names[] = {"none", "wait", "release", "fence",
                                      "barrier"};
  return names[int(guard)];
}

Machine::Machine(const BlockShape &shape, const std::vector<Place> &places,
                 uint64_t seed)
    : shape(shape), places(places),
      clocks(shape.threads * shape.cluster,
             (shape.threads + 127) / 128 * shape.cluster, 48 * shape.cluster),
      memory(*this, shape.cluster, shape.sharedBytes, shape.granule),
      barriers(*this), copies(*this), products(*this), warps(*this),
      reached(places.size()), threads(shape.threads * shape.cluster),
      state(2 * seed + 1) {
  void *all = mmap(nullptr, threads.size() * stackBytes, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  stacks = all == MAP_FAILED ? nullptr : (char *)all;
  for (int i = 0; i < 8; ++i)
    draw();
}

Machine::~Machine() {
  if (stacks)
    munmap(stacks, threads.size() * stackBytes);
}

unsigned Machine::draw() {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return unsigned(state >> 33);
}

std::string Machine::placeText(int place) const {
  if (place < 0)
    return "";
  const Place &at = places[place];
  std::string text = " at " + at.op;
  if (at.guard != Guard::none)
    text += " (" + std::string(guardName(at.guard)) + ":" +
            std::to_string(at.number) + ")";
  return text + (at.where.empty() ? "" : " " + at.where);
}

std::string Machine::describe(const Thread &thread) const {
  int i = int(&thread - threads.data()), inBlock = i % int(shape.threads);
  return "block " +
         std::to_string(clusterNumber * shape.cluster + i / shape.threads) +
         ", warp group " + std::to_string(inBlock / 128) + ", thread " +
         std::to_string(inBlock) + placeText(thread.place);
}

void Machine::fault(const char *format, ...) {
  if (failure.empty()) {
    char text[512];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    failure = text;
    if (current >= 0)
      failure += "\n  " + describe(threads[current]);
  }
  while (current >= 0) // for good
    yield();
}

void Machine::yield() {
  mille_emulate_switch(&threads[current].stack, scheduler);
}

void Machine::wait(Waits what, int64_t object, int64_t value) {
  Thread &thread = threads[current];
  thread.waits = what;
  thread.object = object;
  thread.value = value;
  while (!canRun(thread))
    yield();
  thread.waits = Waits::nothing;
}

bool Machine::enter(int place) {
  threads[current].place = place;
  reached[place] = 1;
  return place != broken;
}

void Machine::enterAligned(int place) { warps.aligned(place); }

bool Machine::blockIsGone(int block) const {
  for (unsigned i = 0; i < shape.threads; ++i)
    if (threads[block * shape.threads + i].waits != Waits::end)
      return false;
  return true;
}

void Machine::body() {
  machine->entry(machine->arguments);
  machine->warps.leave();
  machine->threads[machine->current].waits = Waits::end;
  ++machine->progress;
  for (;;)
    machine->yield();
}

// Puts the thread at the beginning of body().
void Machine::begin(int i) {
  threads[i] = Thread();
  auto *top = (uintptr_t *)(stacks + (i + 1) * stackBytes);
  *--top = 0; // where body() would return to
  *--top = (uintptr_t)&Machine::body;
  for (int saved = 0; saved < 6; ++saved)
    *--top = 0;
  threads[i].stack = top;
}

bool Machine::canRun(const Thread &thread) const {
  switch (thread.waits) {
  case Waits::nothing:
    return true;
  case Waits::mbarrier:
    return barriers.phaseIsOver(thread.object, thread.value);
  case Waits::barrier:
    return barriers.generation(thread.object) != thread.value;
  case Waits::cluster:
    return barriers.clusterGeneration() != thread.value;
  case Waits::products:
    return products.complete(thread.object, thread.value);
  case Waits::warp:
    return warps.generation(thread.object) != thread.value;
  case Waits::end:
    return false;
  }
  return false;
}

// Lets each thread run once, from one that is drawn on. False: all are done.
bool Machine::step() {
  int count = int(threads.size()), groups = clocks.groups;
  if (hold > 0)
    --hold;
  else {
    starved = draw() % (groups + 1);
    hold = draw() % 40;
  }
  int64_t before = progress;
  int left = 0, ran = 0, from = draw() % count;
  for (int k = 0; k < count && failure.empty(); ++k) {
    int i = (k + from) % count;
    if (threads[i].waits == Waits::end)
      continue;
    ++left;
    if ((hold && groupOf(i) == starved) || !canRun(threads[i]))
      continue;
    ++ran;
    current = i;
    mille_emulate_switch(&scheduler, threads[i].stack);
    current = -1;
  }
  bool copiesHeld = hold && starved == groups;
  if (failure.empty() && !copiesHeld && draw() % 3 == 0)
    ran += copies.runOne(/*evenLate=*/false);
  if (left && !ran && progress == before && failure.empty())
    nobodyRuns();
  return left;
}

void Machine::nobodyRuns() {
  if (hold) {
    hold = 0;
    return;
  }
  if (copies.runOne(/*evenLate=*/false) || copies.runOne(/*evenLate=*/true))
    return;
  if (llvm::none_of(threads, [&](const Thread &t) { return canRun(t); }))
    failure = deadlock();
}

std::string Machine::deadlock() const {
  std::string text = "deadlock: nobody can go on";
  auto same = [](const Thread &a, const Thread &b) {
    return a.waits == b.waits && a.object == b.object && a.value == b.value &&
           a.place == b.place;
  };
  for (size_t i = 0, j; i < threads.size(); i = j) {
    for (j = i + 1; j < threads.size() && same(threads[i], threads[j]);)
      ++j;
    const Thread &thread = threads[i];
    if (thread.waits == Waits::end)
      continue;
    text += "\n  " + std::to_string(j - i) + " thread(s) from " +
            describe(thread) + ": waits for ";
    switch (thread.waits) {
    case Waits::mbarrier:
      text += barriers.mbarrierText(thread.object, thread.value);
      break;
    case Waits::barrier:
      text += barriers.barrierText(thread.object);
      break;
    case Waits::cluster:
      text += "the other threads of the cluster";
      break;
    case Waits::products:
      text += "the other warps of its group to issue their products";
      break;
    default:
      text += "the other lanes of its warp";
    }
  }
  return text;
}

void Machine::checkEnd() {
  barriers.checkEnd();
  copies.checkEnd();
  products.checkEnd();
  warps.checkEnd();
}

std::string Machine::run(void (*entryOfThread)(void *), void *slots, int number,
                         int clusters) {
  entry = entryOfThread;
  arguments = slots;
  clusterNumber = number;
  clusterCount = clusters;
  failure.clear();
  hold = 0;
  clocks.restart();
  memory.restart(number);
  barriers.restart();
  copies.restart();
  products.restart();
  warps.restart();
  for (size_t i = 0; i < threads.size(); ++i)
    begin(int(i));
  Machine *outer = std::exchange(machine, this);
  while (failure.empty() && step())
    ;
  if (failure.empty())
    checkEnd();
  machine = outer;
  return failure;
}
