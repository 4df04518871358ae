// Loads kernels' code: the cubin, or else the text, which the driver compiles.
// Must be called while planning only, under the package's deviceLock.
#include "runtime/cuda/Device.h"

#include <string.h>

namespace mille::cuda {
namespace {

using ull = unsigned long long;

// What a text of PTX says that it is for, such as "sm_90a"; "" where it says
// nothing.
struct MadeFor {
  char text[16] = "";

  explicit MadeFor(const char *ptx) {
    constexpr char begin[] = ".target ";
    const char *from = ptx ? strstr(ptx, begin) : nullptr;
    if (!from)
      return;
    from += sizeof begin - 1;
    size_t length = strcspn(from, " ,\n");
    if (length < sizeof text)
      memcpy(text, from, length);
  }
};

// The driver's log goes into the message, cut to the message's length.
mille_status refuse(const Device &device, const char *name, const char *ptx,
                    CUresult error, const char *log, Message &message) {
  const MadeFor target(ptx);
  return message.set(MILLE_NO_DEVICE,
                     "%s (%s) cannot load kernel %s%s%s: %s%s%s",
                     device.info().name, device.info().version, name,
                     target.text[0] ? ", which is for " : "", target.text,
                     device.cuda.nameOf(error).text, log[0] ? ": " : "", log);
}

CUresult compile(const Library &cuda, const char *ptx, char *log, size_t size,
                 CUmodule &module) {
  int options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void *values[] = {log, (void *)size};
  return cuda.cuModuleLoadDataEx(&module, ptx, 2, options, values);
}

} // namespace

mille_status moduleOf(mille_package &package, Device &device, const void *cubin,
                      const char *ptx, const char *name, CUmodule &module) {
  const void *code = cubin ? cubin : ptx;
  for (Loaded *known = device.loaded; known; known = known->next)
    if (known->code == code) {
      module = known->module;
      return MILLE_OK;
    }
  Loaded *made = package.memory.make<Loaded>();
  if (!made)
    return package.message().set(
        MILLE_OUT_OF_MEMORY, "a module needs %zu bytes but memory was refused",
        sizeof(Loaded));
  char log[256] = "";
  CUresult error = CUDA_ERROR_NO_BINARY_FOR_GPU;
  if (cubin)
    error = device.cuda.cuModuleLoadDataEx(&module, cubin, 0, nullptr, nullptr);
  if (error == CUDA_ERROR_NO_BINARY_FOR_GPU && ptx)
    error = compile(device.cuda, ptx, log, sizeof log - 1, module);
  if (error != CUDA_SUCCESS) {
    package.memory.release(package.memory.user, made);
    return refuse(device, name, ptx, error, log, package.message());
  }
  *made = {code, module, device.loaded};
  device.loaded = made;
  return MILLE_OK;
}

void unloadModules(mille_package &package, Device &device) {
  while (Loaded *first = device.loaded) {
    device.loaded = first->next;
    device.cuda.cuModuleUnload(first->module);
    package.memory.release(package.memory.user, first);
  }
}

// What a kernel declares is a part of what it has.
int32_t functionOf(mille_session &session, CUmodule module, const char *name,
                   uint64_t threads, uint64_t sharedBytes,
                   CUfunction &function) {
  const Device &device = partOf(session).on();
  const Library &cuda = device.cuda;
  CUresult error = cuda.cuModuleGetFunction(&function, module, name);
  int fixed = 0, mostThreads = 0;
  if (error == CUDA_SUCCESS)
    error = cuda.cuFuncGetAttribute(&fixed, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES,
                                    function);
  if (error == CUDA_SUCCESS)
    error = cuda.cuFuncGetAttribute(
        &mostThreads, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, function);
  if (error != CUDA_SUCCESS)
    return fail(session, name, error);
  if (threads > (uint64_t)mostThreads)
    return failWith(session, MILLE_NO_DEVICE,
                    "kernel %s needs %llu threads in a block but runs with at "
                    "most %d",
                    name, (ull)threads, mostThreads);
  const uint64_t all = sharedBytes + (uint64_t)fixed;
  if (all > device.info().local_bytes)
    return failWith(session, MILLE_OUT_OF_MEMORY,
                    "kernel %s needs %llu bytes of shared memory but a block "
                    "has %llu",
                    name, (ull)all, (ull)device.info().local_bytes);
  constexpr uint64_t withoutAsking = 48 << 10;
  if (all > withoutAsking)
    error = cuda.cuFuncSetAttribute(
        function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
        (int)sharedBytes);
  return error == CUDA_SUCCESS ? 0 : fail(session, name, error);
}

int32_t setCarveout(mille_session &session, const char *name,
                    CUfunction function) {
  constexpr int mostShared = 100; // percent
  const CUresult error = partOf(session).cuda().cuFuncSetAttribute(
      function, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, mostShared);
  return error == CUDA_SUCCESS ? 0 : fail(session, name, error);
}

Entry *entryOf(Part &part, const char *name, uint32_t variant) {
  for (Entry *entry = part.ofVariant[variant]; entry; entry = entry->next)
    if (entry->name == name || strcmp(entry->name, name) == 0)
      return entry;
  return nullptr;
}

int32_t addEntry(mille_task &task, CUmodule module, const char *name,
                 uint64_t threads, uint64_t sharedBytes) {
  mille_session &session = *task.session;
  Part &part = partOf(session);
  if (part.entryCount == part.entryRoom)
    return failWith(session, MILLE_INTERNAL,
                    "a program has more than %u kernels", part.entryRoom);
  CUfunction function;
  if (int32_t code =
          functionOf(session, module, name, threads, sharedBytes, function))
    return code;
  Entry &entry = part.entries[part.entryCount++];
  entry = {name, task.variant, part.ofVariant[task.variant], function, module};
  part.ofVariant[task.variant] = &entry;
  return 0;
}

} // namespace mille::cuda
