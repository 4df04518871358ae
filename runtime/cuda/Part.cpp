// A session's part of a device: its stream, its memory, and its runs. A run
// copies inputs into pinned memory, appends commands, executes them at its end
// and waits once.
#include "runtime/OpenDevice.h"
#include "runtime/cuda/Device.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

namespace mille::cuda {
namespace {

using ull = unsigned long long;

constexpr uint32_t entriesOfAKernel = 4; // the most functions per row class
uint64_t endOf(const Region &region) { return region.offset + region.bytes; }

// Of the memory from the first input's region to the end of the last one's.
uint64_t inputBytesOf(const mille_session &session, DeviceRegions &regions) {
  const uint32_t inputs = session.entry->input_count;
  return inputs ? endOf(regions[inputs]) - regions[1].offset : 0;
}

uint64_t outputBytesOf(const mille_session &session, DeviceRegions &regions) {
  const mille_entry &entry = *session.entry;
  uint64_t bytes = 0;
  for (uint32_t r = 1 + entry.input_count; r < regions.count(); ++r)
    bytes += regions[r].bytes;
  return bytes;
}

int32_t noPlace(mille_session &session, const char *what) {
  return failWith(session, MILLE_INTERNAL,
                  "%s: an address is nowhere in the device's memory", what);
}

// Executes what was appended, before the run's end.
int32_t flush(mille_session &session) {
  Part &part = partOf(session);
  Current current(part.on());
  const CUresult error = part.commands.execute(part.cuda(), part.stream);
  part.commands.clear();
  part.flushed = true;
  return error == CUDA_SUCCESS ? 0 : fail(session, "a kernel", error);
}

// Appends what `add` appends; makes room first where there is none.
template <typename Add> int32_t appendBy(mille_session &session, Add add) {
  if (partOf(session).replayed || add())
    return 0;
  if (int32_t code = flush(session))
    return code;
  return add() ? 0
               : failWith(session, MILLE_INTERNAL,
                          "a command needs more than the %llu bytes that were "
                          "planned",
                          (ull)partOf(session).commands.planned());
}

// Executes the commands and measures their time.
int32_t profile(mille_session &session) {
  Part &part = partOf(session);
  Current current(part.on());
  const Library &cuda = part.cuda();
  CUevent before = nullptr, after = nullptr;
  CUresult error = cuda.cuEventCreate(&before, 0);
  if (error == CUDA_SUCCESS)
    error = cuda.cuEventCreate(&after, 0);
  if (error == CUDA_SUCCESS)
    error = cuda.cuEventRecord(before, part.stream);
  int32_t code = error == CUDA_SUCCESS ? flush(session) : 0;
  if (error == CUDA_SUCCESS)
    error = cuda.cuEventRecord(after, part.stream);
  if (error == CUDA_SUCCESS)
    error = cuda.cuEventSynchronize(after);
  float milliseconds = 0;
  if (error == CUDA_SUCCESS)
    error = cuda.cuEventElapsedTime(&milliseconds, before, after);
  if (before)
    cuda.cuEventDestroy(before);
  if (after)
    cuda.cuEventDestroy(after);
  mille_task &task = session.tasks[0];
  if (task.variant / 2 < session.package->model->kernel_count)
    task.nanoseconds[task.variant / 2] += (uint64_t)(milliseconds * 1e6);
  return error == CUDA_SUCCESS ? code : fail(session, "a profile", error);
}

} // namespace

int32_t failWith(mille_session &session, mille_status status,
                 const char *format, ...) {
  char text[messageBytes];
  va_list values;
  va_start(values, format);
  vsnprintf(text, sizeof text, format, values);
  va_end(values);
  session.failed.change(0, status);
  return mille_task_fail(&session.tasks[0], status, "%s: %s",
                         partOf(session).on().info().name, text);
}

int32_t fail(mille_session &session, const char *what, CUresult error) {
  return failWith(session,
                  error == CUDA_ERROR_OUT_OF_MEMORY ? MILLE_OUT_OF_MEMORY
                                                    : MILLE_NO_DEVICE,
                  "%s: %s", what, partOf(session).cuda().nameOf(error).text);
}

CUdeviceptr addressOf(mille_session &session, const void *address,
                      uint64_t temporary) {
  Part &part = partOf(session);
  const DevicePlace place = part.regions.placeOf(session, address, temporary);
  switch (place.in) {
  case DevicePlace::ofSession:
    return part.memory + place.offset;
  case DevicePlace::ofWeights:
    return part.on().weights + place.offset;
  case DevicePlace::nowhere:
    break;
  }
  return 0;
}

int32_t append(mille_session &session, const Kernel &kernel,
               const Arguments &arguments) {
  Commands &commands = partOf(session).commands;
  const int32_t code =
      appendBy(session, [&] { return commands.launch(kernel, arguments); });
  return code || !session.profiling || session.planning ? code
                                                        : profile(session);
}

int32_t appendFill(mille_session &session, CUdeviceptr to, uint64_t zeros) {
  Commands &commands = partOf(session).commands;
  return appendBy(session, [&] { return commands.fill(to, zeros); });
}

//===-- A session ---------------------------------------------------------===//

mille_status enter(mille_session &session, mille::Device &base) {
  Device &device = static_cast<Device &>(base);
  mille_package &package = *session.package;
  const uint32_t variants = (package.model->kernel_count + 1) * 2;
  const uint32_t room = variants * entriesOfAKernel;
  const mille_status status = makePart<Part>(
      session, base, room * sizeof(Entry) + variants * sizeof(Entry *));
  if (status != MILLE_OK)
    return status;
  Part *part = &partOf(session);
  part->ofVariant = (Entry **)(part->entries + room);
  part->entryRoom = room;
  Current current(device);
  CUresult error = current.error;
  if (error == CUDA_SUCCESS)
    error = device.cuda.cuStreamCreate(&part->stream, CU_STREAM_NON_BLOCKING);
  if (error == CUDA_SUCCESS)
    return MILLE_OK;
  return package.message().set(MILLE_NO_DEVICE, "%s gives no stream: %s",
                               device.info().name,
                               device.cuda.nameOf(error).text);
}

void plan(mille_session &session) {
  Part &part = partOf(session);
  part.regions.plan(session);
  const uint64_t in = inputBytesOf(session, part.regions),
                 out = outputBytesOf(session, part.regions);
  part.inputBytes = in > part.inputBytes ? in : part.inputBytes;
  part.outputBytes = out > part.outputBytes ? out : part.outputBytes;
  part.commands.plan(true);
  part.commands.copyIn(0, nullptr, 0); // the inputs
  part.tensorCount = 0;
}

static mille_status takeMemory(mille_session &session, Part &part) {
  Device &device = part.on();
  mille_package &package = *session.package;
  const uint64_t bytes = part.regions.bytes();
  CUresult error = device.cuda.cuMemAlloc(&part.memory, bytes);
  if (error != CUDA_SUCCESS)
    return refuseMemory(device,
                        session.deviceStates.bytes
                            ? "the session's states and activations need"
                            : "the session's activations need",
                        bytes, error, package.message());
  if (part.outputBytes > pinnedOutputs)
    part.outputBytes = 0;
  const uint64_t pinned =
      part.inputBytes + part.regions.givenMost() + part.outputBytes + 64;
  void *memory = nullptr;
  error = device.cuda.cuMemHostAlloc(&memory, pinned, 0);
  if (error != CUDA_SUCCESS)
    return package.message().set(MILLE_OUT_OF_MEMORY,
                                 "a session needs %llu bytes of pinned memory "
                                 "but the driver refused: %s",
                                 (ull)pinned, device.cuda.nameOf(error).text);
  part.pinned = (char *)memory;
  part.regions.setGiven(part.pinned + part.inputBytes);
  const uint64_t tensors = part.tensorMost * sizeof(KnownTensor);
  part.tensors = (KnownTensor *)package.memory.allocate(package.memory.user,
                                                        tensors + 64, 64);
  if (part.tensors)
    memset((void *)part.tensors, 0, tensors);
  if (part.tensors && part.commands.make(package.memory) &&
      part.graphs.make(package.memory, part.commands.planned()))
    return MILLE_OK;
  return package.message().set(MILLE_OUT_OF_MEMORY,
                               "the commands of runs need %llu bytes but "
                               "memory was refused",
                               (ull)(part.commands.planned() + tensors));
}

mille_status settle(mille_session &session) {
  Part &part = partOf(session);
  Device &device = part.on();
  part.commands.plan(false);
  part.regions.layOut(session.deviceStates);
  Current current(device);
  CUresult error = current.error;
  if (error == CUDA_SUCCESS)
    if (mille_status status = takeMemory(session, part))
      return status;
  for (uint32_t s = 0; s < DeviceRegions::stateRegions; ++s) {
    const Region &states = part.regions.states(s);
    if (error == CUDA_SUCCESS && states.bytes)
      error = device.cuda.cuMemsetD8Async(part.memory + states.offset, 0,
                                          states.bytes, part.stream);
  }
  if (error != CUDA_SUCCESS)
    return session.package->message().set(
        MILLE_NO_DEVICE, "%s takes no states: %s", device.info().name,
        device.cuda.nameOf(error).text);
  for (uint32_t t = 0; t < part.regions.tables() && error == CUDA_SUCCESS;
       ++t) {
    const Region &table = part.regions.table(t);
    error = device.cuda.cuMemcpyHtoD(part.memory + table.offset, table.begin,
                                     table.bytes);
  }
  if (error != CUDA_SUCCESS)
    return session.package->message().set(
        MILLE_NO_DEVICE, "%s takes no tables: %s", device.info().name,
        device.cuda.nameOf(error).text);
  session.package->log(
      "session on %s: %llu bytes of its memory, %u kernels, commands of a run "
      "take %llu bytes",
      device.info().name, (ull)part.regions.bytes(), part.entryCount,
      (ull)part.commands.planned());
  return MILLE_OK;
}

void leave(mille_session &session) {
  Part &part = partOf(session);
  const Memory &memory = session.package->memory;
  {
    Current current(part.on());
    const Library &cuda = part.cuda();
    part.graphs.release(memory, cuda);
    if (part.memory)
      cuda.cuMemFree(part.memory);
    if (part.pinned)
      cuda.cuMemFreeHost(part.pinned);
    while (Pinned *piece = part.lent) {
      part.lent = piece->next;
      cuda.cuMemFreeHost(piece);
    }
    if (part.stream)
      cuda.cuStreamDestroy(part.stream);
  }
  part.commands.release(memory);
  if (part.tensors)
    memory.release(memory.user, part.tensors);
  part.regions.release(memory);
  memory.release(memory.user, part.entries);
  memory.release(memory.user, &part);
  session.part = nullptr;
}

//===-- A run -------------------------------------------------------------===//

// Of an application's memory: a device's, the host's if it is pinned, or 0.
static int memoryTypeOf(const Part &part, const void *memory) {
  int type = 0, what = CU_POINTER_ATTRIBUTE_MEMORY_TYPE;
  void *value = &type;
  const CUresult error =
      part.cuda().cuPointerGetAttributes(1, &what, &value, (CUdeviceptr)memory);
  return error == CUDA_SUCCESS ? type : 0;
}

bool holds(const mille_session &session, const void *memory) {
  return memoryTypeOf(partOf(session), memory) == CU_MEMORYTYPE_DEVICE;
}

// Rows of removed padding are put back by the host, which cannot write there.
static int32_t checkOutputs(mille_session &session) {
  const Part &part = partOf(session);
  if (!session.memory->padding.found)
    return 0;
  for (uint32_t o = 0; o < session.entry->output_count; ++o)
    if (memoryTypeOf(part, session.run.outputs[o]) == CU_MEMORYTYPE_DEVICE)
      return failWith(session, MILLE_INVALID_ARGUMENT,
                      "output %s is in a device's memory but padding was "
                      "removed: call mille_session_keep_padding",
                      session.entry->outputs[o].name);
  return 0;
}

// Steps of the host that keep tables give them in some runs only. Who sees
// choices sees them between commands.
static RunKey keyOf(const mille_session &session) {
  RunKey key = {};
  if (session.profiling || session.seeChoice || session.memory->padding.found ||
      session.entry->table_count)
    return key;
  key.entry = session.entry;
  memcpy(key.sizes, session.sizes.of, sizeof key.sizes);
  return key;
}

int32_t begin(mille_session &session) {
  Part &part = partOf(session);
  part.regions.place(session);
  part.commands.clear();
  part.key = keyOf(session);
  part.replayed = part.graphs.find(part.key);
  part.tensorCount = 0;
  part.launchesApart = 0;
  part.flushed = false;
  if (int32_t code = checkOutputs(session))
    return code;
  const uint64_t bytes = inputBytesOf(session, part.regions);
  if (!bytes)
    return 0;
  const uint64_t first = part.regions[1].offset;
  for (uint32_t i = 1; i <= session.entry->input_count; ++i) {
    const Region &region = part.regions[i];
    memcpy(part.pinned + (region.offset - first), region.begin, region.bytes);
  }
  if (!part.replayed)
    part.commands.copyIn(part.memory + first, part.pinned, bytes);
  return 0;
}

// Enqueues a copy of each output that the device wrote. One that stays on the
// device is not the host's any more.
static CUresult readOutputs(Part &part, bool staged) {
  const Library &cuda = part.cuda();
  CUresult error = CUDA_SUCCESS;
  char *to = part.pinned + part.inputBytes + part.regions.givenMost();
  for (uint32_t r = 1; r < part.regions.count() && error == CUDA_SUCCESS; ++r) {
    Region &region = part.regions[r];
    if (!region.written || !region.bytes)
      continue;
    const CUdeviceptr from = part.memory + region.offset;
    const int type = memoryTypeOf(part, region.begin);
    region.staged = staged && type != CU_MEMORYTYPE_HOST;
    if (type == CU_MEMORYTYPE_DEVICE) {
      error = cuda.cuMemcpyDtoDAsync((CUdeviceptr)region.begin, from,
                                     region.bytes, part.stream);
      region.written = false;
      continue;
    }
    char *own = const_cast<char *>(region.begin);
    error = cuda.cuMemcpyDtoHAsync(region.staged ? to : own, from, region.bytes,
                                   part.stream);
    to += region.staged ? region.bytes : 0;
  }
  return error;
}

static void unstage(Part &part) {
  const char *from = part.pinned + part.inputBytes + part.regions.givenMost();
  for (uint32_t r = 1; r < part.regions.count(); ++r) {
    const Region &region = part.regions[r];
    if (!region.written || !region.bytes || !region.staged)
      continue;
    memcpy(const_cast<char *>(region.begin), from, region.bytes);
    from += region.bytes;
  }
}

int32_t submit(mille_session &session) {
  Part &part = partOf(session);
  if (const int32_t stopped = session.stopped()) // nothing more is executed
    return stopped;
  Current current(part.on());
  CUresult error = current.error;
  part.key.given = part.regions.givenNow();
  if (part.replayed && part.replayed->key.given != part.key.given)
    error = CUDA_ERROR_INVALID_VALUE; // it would read what others gave
  if (error == CUDA_SUCCESS)
    error = part.replayed
                ? part.graphs.launch(part.cuda(), *part.replayed, part.stream)
            : part.flushed ? part.commands.execute(part.cuda(), part.stream)
                           : part.graphs.run(part.cuda(), part.commands,
                                             part.stream, part.key);
  if (error == CUDA_SUCCESS)
    error = readOutputs(part, part.outputBytes != 0);
  return error == CUDA_SUCCESS ? 0 : fail(session, "a run", error);
}

int32_t finish(mille_session &session) {
  Part &part = partOf(session);
  Current current(part.on());
  const CUresult error = part.cuda().cuStreamSynchronize(part.stream);
  if (error != CUDA_SUCCESS)
    return fail(session, "a run", error);
  const int32_t stopped = session.stopped();
  if (!stopped && part.outputBytes)
    unstage(part);
  return stopped;
}

//===-- What the host does between kernels --------------------------------===//

int32_t give(mille_session &session, const void *memory, uint64_t bytes) {
  Part &part = partOf(session);
  const char *copy = part.regions.copyOf(session, memory, bytes);
  if (session.planning) {
    part.commands.copyIn(0, nullptr, 0);
    return 0;
  }
  if (!copy)
    return session.stopped();
  Region *region = part.regions.of(memory);
  if (!region)
    return noPlace(session, "writing activations");
  if (region != &part.regions[0])
    region->written = false; // an output whose values the host has already
  const CUdeviceptr to = addressOf(session, memory, 0);
  return appendBy(session,
                  [&] { return part.commands.copyIn(to, copy, bytes); });
}

// The rows go into the output's region, which the run's end reads.
int32_t keep(mille_session &session, const float *input, int64_t stride,
             int64_t rows, int64_t columns, float *out) {
  Part &part = partOf(session);
  if (session.planning) {
    part.commands.copyRows(0, 0, 0, 0, 0);
    return 0;
  }
  const CUdeviceptr from = addressOf(session, input, 0),
                    to = addressOf(session, out, 0);
  if (!from || !to)
    return noPlace(session, "keeping activations");
  return appendBy(session, [&] {
    return part.commands.copyRows(to, from, stride * 4, rows, columns * 4);
  });
}

int32_t fetch(mille_session &session, const void *address, uint64_t temporary,
              void *to, uint64_t bytes) {
  Part &part = partOf(session);
  const CUdeviceptr from = addressOf(session, address, temporary);
  if (!from)
    return noPlace(session, "reading activations");
  if (int32_t code = flush(session))
    return code;
  Current current(part.on());
  CUresult error = part.cuda().cuMemcpyDtoHAsync(to, from, bytes, part.stream);
  if (error == CUDA_SUCCESS)
    error = part.cuda().cuStreamSynchronize(part.stream);
  return error == CUDA_SUCCESS ? 0
                               : fail(session, "reading activations", error);
}

} // namespace mille::cuda
