// A session's memory, its entries' and threads', and one run of an entry.
// Must not look into kernels or partition work; Launch does.
#include "runtime/Backend.h"
#include "runtime/LaunchParts.h"
#include "runtime/States.h"

#include <errno.h>
#include <math.h>
#include <string.h>

using mille::Bytes;
using mille::Counts;
using mille::EntryMemory;

using ll = long long;
using ull = unsigned long long;

static uint32_t most3(uint32_t a, uint32_t b, uint32_t c) {
  uint32_t most = a > b ? a : b;
  return most > c ? most : c;
}

// Called twice: without a slab it sums sizes, with a slab it places pointers.
void mille_session::layOut(Bytes &sum) {
  const mille_model &model = *package->model;
  auto at = [&](uint64_t offset) { return slab ? slab + offset : nullptr; };
  entries =
      (EntryMemory *)at(sum.place(model.entry_count, sizeof(EntryMemory)));
  uint32_t tensors = 0; // planning has no outputs yet
  for (uint32_t e = 0; e < model.entry_count; ++e)
    tensors = most3(tensors, model.entries[e].input_count,
                    model.entries[e].output_count);
  inputs = (void **)at(sum.place(tensors, sizeof(void *)));
  counts = (Counts *)at(sum.place(model.kernel_count, sizeof(Counts)));
  scales = (double *)at(sum.place(model.schedule_count, sizeof(double)));
  states = (void **)at(sum.place(mille::stateEntries(model), sizeof(void *)));
  windows = mille::StateWindows(model, most, isOnDevice());
  windows.first = (int32_t *)at(sum.place(most.batch(), sizeof(int32_t)));
  windows.hidden = (bool *)at(sum.place(most.batch(), sizeof(bool)));
  if (slab)
    memset(slab, 0, sum.value);
  for (uint32_t i = 0; slab && i < model.schedule_count; ++i)
    scales[i] = NAN;
  mille::layOutRuns(*this, sum);
  layOutTasks(sum);
  mille::layOutParts(*this, sum);
  for (uint32_t e = 0; e < model.entry_count; ++e)
    layOutEntry(e, sum);
  mille::layOutStates(model, most, windows, slab, states,
                      isOnDevice() ? &deviceStates : nullptr, sum);
  uint64_t arenaBytes = 0;
  for (uint32_t e = 0, missing; e < model.entry_count; ++e) {
    const mille_entry &of = model.entries[e];
    uint64_t rows = 0, bytes = 0;
    if (!mille::isGiven(model, of, most, missing))
      continue;
    sum.fits = sum.fits && mille::paddedRows(model, of, most, rows) &&
               mille::multiply(rows, of.arena_bytes_per_row, bytes);
    mille::Bytes whole;
    whole.add(of.arena_fixed_bytes).add(bytes);
    sum.fits = sum.fits && whole.fits;
    arenaBytes = whole.value > arenaBytes ? whole.value : arenaBytes;
  }
  arena = at(sum.place(1, arenaBytes));
}

void mille_session::layOutTasks(Bytes &sum) {
  const mille_model &model = *package->model;
  auto at = [&](uint64_t offset) { return slab ? slab + offset : nullptr; };
  uint64_t longest = 1, scratch = 0;
  for (uint32_t e = 0, missing; e < model.entry_count; ++e) {
    if (!mille::isGiven(model, model.entries[e], most, missing))
      continue;
    uint64_t own = mille::longestSequence(model, model.entries[e], most, true);
    longest = own > longest ? own : longest;
  }
  sum.fits = sum.fits &&
             mille::multiply(longest, model.scratch_bytes_per_token, scratch);
  Bytes each;
  // A block's bookkeeping, for 16 at a time.
  each.add(scratch).add(model.scratch_bytes).add(16 * 128);
  each.value = (each.value + 63) & ~(uint64_t)63;
  sum.fits = sum.fits && each.fits;
  tasks = (mille_task *)at(sum.place(threads, sizeof(mille_task)));
  for (int thread = 0; thread < threads; ++thread) {
    uint64_t times = sum.place(model.kernel_count, sizeof(uint64_t));
    uint64_t own = sum.place(1, each.value);
    if (!slab)
      continue;
    tasks[thread] = {this, at(own), each.value, 0, 0, (uint64_t *)at(times)};
    memset(at(times), 0, model.kernel_count * sizeof(uint64_t));
  }
}

void mille_session::layOutEntry(uint32_t number, Bytes &sum) {
  const mille_entry &of = package->model->entries[number];
  auto at = [&](uint64_t offset) { return slab ? slab + offset : nullptr; };
  uint32_t missing;
  EntryMemory unplaced;
  EntryMemory &own = slab ? entries[number] : unplaced;
  own = EntryMemory();
  own.usable = mille::isGiven(*package->model, of, most, missing);
  own.defaults = (void **)at(sum.place(of.input_count, sizeof(void *)));
  for (uint32_t i = 0; slab && i < of.input_count; ++i)
    own.defaults[i] = nullptr;
  for (uint32_t i = 0; own.usable && i < of.input_count; ++i) {
    if (of.inputs[i].fallback == MILLE_REQUIRED)
      continue;
    uint64_t elements = 0;
    sum.fits = sum.fits && mille::countElements(of.inputs[i], most, elements);
    uint64_t offset = sum.place(elements, 4);
    if (slab)
      own.defaults[i] = at(offset);
  }
  if (!own.usable)
    return;
  own.padding.layOut(*package->model, of, most, slab, sum);
  uint64_t numbers = 0;
  own.tables.tokens = most.extent(of.table_rows);
  sum.fits =
      sum.fits && mille::multiply(own.tables.tokens, of.table_columns, numbers);
  using Size = mille::PatchTables::Size;
  own.tables.sizes = (Size *)at(sum.place(of.table_count, sizeof(Size)));
  own.tables.rows = (float *)at(sum.place(numbers, sizeof(float)));
  for (uint32_t i = 0; slab && i < of.table_count; ++i)
    own.tables.sizes[i] = Size();
}

mille_status mille_session::create(mille_package &of, const mille::Sizes &sizes,
                                   int count, const char *device) {
  package = &of;
  most = sizes;
  threads = count;
  mille::SizesText text(*of.model, sizes);
  const char *wish = "";
  if (mille_status status = chooseCode(device, wish))
    return status;
  Bytes sum;
  layOut(sum);
  if (!sum.fits)
    return of.message().set(
        MILLE_TOO_LARGE,
        "a session of %s is more than memory or %d rows can "
        "hold",
        text.text, INT32_MAX - 65);
  bytes = sum.value + sizeof(mille_session);
  slab = (char *)of.memory.allocate(of.memory.user, sum.value, 64);
  if (!slab)
    return of.message().set(
        MILLE_OUT_OF_MEMORY,
        "a session of %s on %d threads needs %llu bytes but "
        "memory was refused: the machine has %llu",
        text.text, count, (ull)sum.value, (ull)mille::machineBytes());
  Bytes placed;
  layOut(placed);
  fillDefaults();
  if (int error = threads > 1 ? pool.start(threads) : 0) {
    char text[128];
    return of.message().set(MILLE_OUT_OF_MEMORY, "cannot start %d threads: %s",
                            count, strerror_r(error, text, sizeof text));
  }
  run.arena = arena;
  run.weights = of.weights.tensors;
  run.table = of.weights.table;
  run.inputs = inputs;
  run.states = states;
  run.session = this;
  return isOnDevice() ? enterDevice(wish) : MILLE_OK;
}

void mille_session::destroy() {
  pool.stop();
  if (part)
    part->device->backend->leave(*this);
  mille_package *from = package;
  mille::Memory memory = from->memory;
  if (slab)
    memory.release(memory.user, slab);
  memory.release(memory.user, this);
  from->leave();
}

void mille_session::share(mille::Pool::Function function, void *context,
                          int64_t count) {
  if (threads > 1 && count > 1)
    pool.run(function, context, count);
  else
    for (int64_t task = 0; task < count; ++task)
      function(context, task, 0);
}

int32_t mille_session::stopped() const {
  if (int32_t code = failed.acquire())
    return code;
  return cancelled.acquire() ? (int32_t)MILLE_CANCELLED : 0;
}

void mille_session::choose(uint32_t number, const mille::Sizes &given) {
  const mille_model &model = *package->model;
  entry = &model.entries[number];
  memory = &entries[number];
  for (uint32_t size = 0; size < model.size_count; ++size)
    sizes.of[size] = mille::hasSize(model, *entry, size) ? given.of[size]
                     : mille::keepsSize(model, *entry, size)
                         ? mille::wholePanels(most.of[size])
                         : 0;
  run.sizes = sizes.of;
  run.batch = sizes.batch();
  run.tokens = sizes.tokens(model);
  run.token_rows = run.batch * run.tokens;
  uint64_t rows = 0;
  mille::paddedRows(model, *entry, sizes, rows); // checked before it is used
  run.padded_rows = (int64_t)rows;
}

int32_t mille_session::start() {
  if (!part)
    return entry->forward(&run);
  const mille_backend &backend = *part->device->backend;
  int32_t code = backend.begin(*this);
  if (code == 0)
    code = entry->forward(&run);
  return code == 0 ? backend.submit(*this) : code;
}

// The device may not touch the outputs once the run is over.
int32_t mille_session::end(int32_t begun) {
  if (!part)
    return begun;
  const int32_t last = part->device->backend->finish(*this);
  return begun ? begun : last;
}
