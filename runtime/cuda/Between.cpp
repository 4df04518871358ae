// What happens between runs: bytes of states move, and an application gets
// memory that outputs come to at once. Must not execute a run's commands.
#include "runtime/cuda/Device.h"

namespace mille::cuda {

void *pin(mille_session &session, uint64_t bytes) {
  Part &part = partOf(session);
  if (bytes > pinnedOutputs)
    return nullptr;
  Current current(part.on());
  void *memory = nullptr;
  if (part.cuda().cuMemHostAlloc(&memory, sizeof(Pinned) + bytes, 0) !=
      CUDA_SUCCESS)
    return nullptr;
  Pinned *piece = (Pinned *)memory;
  piece->next = part.lent;
  part.lent = piece;
  return piece + 1;
}

// Copies and zeros that stay on the device are in order with the runs that
// follow; what comes or goes is waited for, as it is the application's.
mille_status moveState(mille_session &session, const StateMove &what) {
  Part &part = partOf(session);
  const Library &cuda = part.cuda();
  Current current(part.on());
  CUresult error = current.error;
  const CUdeviceptr state = addressOf(session, what.state, 0);
  if (error == CUDA_SUCCESS)
    switch (what.kind) {
    case StateMove::read:
      error =
          cuda.cuMemcpyDtoHAsync(what.other, state, what.bytes, part.stream);
      break;
    case StateMove::write:
      error =
          cuda.cuMemcpyHtoDAsync(state, what.other, what.bytes, part.stream);
      break;
    case StateMove::copy:
      error = cuda.cuMemcpyDtoDAsync(state, addressOf(session, what.other, 0),
                                     what.bytes, part.stream);
      break;
    case StateMove::clear:
      error = cuda.cuMemsetD8Async(state, 0, what.bytes, part.stream);
      break;
    }
  if (error == CUDA_SUCCESS && what.kind <= StateMove::write)
    error = cuda.cuStreamSynchronize(part.stream);
  if (error == CUDA_SUCCESS)
    return MILLE_OK;
  return session.message.set(MILLE_NO_DEVICE, "%s: moving states: %s",
                             part.on().info().name, cuda.nameOf(error).text);
}

} // namespace mille::cuda
