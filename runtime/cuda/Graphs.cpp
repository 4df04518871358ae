// Captures graphs from a stream. Graphs hold addresses, which are a part of the
// commands' bytes, so a graph is right wherever the bytes are equal.
#include "runtime/cuda/Graphs.h"

#include <string.h>

namespace mille::cuda {

bool Graphs::make(const Memory &of, uint64_t commandBytes) {
  room = commandBytes;
  memory = (char *)of.allocate(of.user, room * slots + 64, 64);
  for (int s = 0; memory && s < slots; ++s)
    known[s].bytes = memory + s * room;
  return memory;
}

void Graphs::release(const Memory &of, const Library &cuda) {
  for (Slot &slot : known) {
    if (slot.graph)
      cuda.cuGraphExecDestroy(slot.graph);
    slot = Slot();
  }
  if (memory)
    of.release(of.user, memory);
  memory = nullptr;
}

Graphs::Slot *Graphs::find(const Commands &commands) {
  for (Slot &slot : known)
    if (slot.size && slot.size == commands.size() &&
        memcmp(slot.bytes, commands.bytes(), slot.size) == 0)
      return &slot;
  return nullptr;
}

Graphs::Slot *Graphs::find(const RunKey &key) {
  for (Slot &slot : known)
    if (slot.graph && key.entry && slot.key.entry == key.entry &&
        memcmp(slot.key.sizes, key.sizes, sizeof key.sizes) == 0)
      return &slot;
  return nullptr;
}

Graphs::Slot &Graphs::oldest() {
  Slot *found = &known[0];
  for (Slot &slot : known)
    if (slot.lastRun < found->lastRun)
      found = &slot;
  return *found;
}

CUresult Graphs::capture(const Library &cuda, const Commands &commands,
                         CUstream stream, Slot &slot) {
  CUgraph graph = nullptr;
  CUresult error =
      cuda.cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
  if (error != CUDA_SUCCESS)
    return error;
  error = commands.execute(cuda, stream);
  const CUresult ended = cuda.cuStreamEndCapture(stream, &graph);
  error = error == CUDA_SUCCESS ? ended : error;
  if (error == CUDA_SUCCESS)
    error = cuda.cuGraphInstantiate(&slot.graph, graph, 0);
  if (graph)
    cuda.cuGraphDestroy(graph);
  return error;
}

CUresult Graphs::launch(const Library &cuda, Slot &slot, CUstream stream) {
  slot.lastRun = ++runs;
  return cuda.cuGraphLaunch(slot.graph, stream);
}

CUresult Graphs::run(const Library &cuda, const Commands &commands,
                     CUstream stream, const RunKey &key) {
  Slot *slot = find(commands);
  if (!slot) {
    slot = &oldest();
    if (slot->graph)
      cuda.cuGraphExecDestroy(slot->graph);
    slot->graph = nullptr;
    slot->key = {};
    slot->size = commands.size();
    slot->lastRun = ++runs;
    memcpy(slot->bytes, commands.bytes(), slot->size);
    return commands.execute(cuda, stream);
  }
  if (!slot->graph)
    if (CUresult error = capture(cuda, commands, stream, *slot))
      return error;
  slot->key = key;
  return launch(cuda, *slot, stream);
}

} // namespace mille::cuda
