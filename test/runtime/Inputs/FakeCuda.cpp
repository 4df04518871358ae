// A CUDA driver without a device, for tests: its memory is the host's, its
// kernels are the test's own functions, and its streams do nothing until they
// are waited for, as late as a real one may.
// $FAKE_CUDA changes it: "version=11080", "devices=2", "capability=8.6",
// "memory=1000000", "shared=1024", "fail=cuMemAlloc_v2:2:2" (the second call
// answers 2), separated by spaces.
#include "FakeCuda.h"
#include "FakeMaps.h"
#include "FakeTypes.h"
#include "runtime/cuda/Driver.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <unistd.h>
#include <vector>

using namespace mille::cuda;

namespace {

fake_cuda_counts counts;
std::map<void *, size_t> device, pinned;
constexpr CUresult notInitialized = 3;

std::string wish(const std::string &name, const char *otherwise) {
  const char *all = getenv("FAKE_CUDA");
  const std::string text = std::string(" ") + (all ? all : "") + " ";
  const size_t at = text.find(" " + name + "=");
  if (at == std::string::npos)
    return otherwise;
  const size_t begin = at + name.size() + 2;
  return text.substr(begin, text.find(' ', begin) - begin);
}

// Counts a call, from where $FAKE_CUDA last changed; its code where that lets
// it fail.
CUresult called(const char *name) {
  // A fork has no driver, as with a real one.
  static const pid_t starter = getpid();
  if (getpid() != starter)
    return notInitialized;
  static std::map<std::string, int> calls;
  static std::string before;
  const std::string failing = wish("fail", "");
  if (failing != before)
    calls.clear();
  before = failing;
  const int number = ++calls[name];
  char function[64];
  int nth = 0, code = 0;
  if (sscanf(failing.c_str(), "%63[^:]:%d:%d", function, &nth, &code) == 3 &&
      strcmp(function, name) == 0 && nth == number)
    return code;
  return CUDA_SUCCESS;
}

#define CALLED()                                                               \
  if (CUresult code = called(__func__))                                        \
  return code

// The same of what needs a current context.
#define CALLED_INSIDE()                                                        \
  if (!counts.pushed)                                                          \
    return invalidContext;                                                     \
  CALLED()
constexpr CUresult invalidContext = 201;

} // namespace

namespace {
std::map<std::pair<CUmodule, std::string>, CUfunction> functions;
} // namespace

extern "C" {

fake_cuda_counts *fake_cuda(void) {
  counts.device_pieces = device.size();
  counts.pinned_pieces = pinned.size();
  return &counts;
}

CUresult cuInit(unsigned) { return called(__func__); }
CUresult cuDriverGetVersion(int *version) {
  *version = atoi(wish("version", "13000").c_str());
  return CUDA_SUCCESS;
}
CUresult cuGetErrorName(CUresult code, const char **name) {
  *name = code == 2     ? "CUDA_ERROR_OUT_OF_MEMORY"
          : code == 100 ? "CUDA_ERROR_NO_DEVICE"
          : code == 209 ? "CUDA_ERROR_NO_BINARY_FOR_GPU"
          : code == 218 ? "CUDA_ERROR_INVALID_PTX"
          : code == 500 ? "CUDA_ERROR_NOT_FOUND"
                        : nullptr;
  return *name ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
CUresult cuDeviceGetCount(int *count) {
  CALLED();
  *count = atoi(wish("devices", "1").c_str());
  return CUDA_SUCCESS;
}
CUresult cuDeviceGet(CUdevice *device, int number) {
  CALLED();
  *device = number;
  return CUDA_SUCCESS;
}
CUresult cuDeviceGetName(char *name, int size, CUdevice device) {
  CALLED();
  snprintf(name, size, "Fake GPU %c", 'A' + device);
  return CUDA_SUCCESS;
}
CUresult cuDeviceGetAttribute(int *value, int what, CUdevice) {
  CALLED();
  const std::string capability = wish("capability", "9.0");
  switch (what) {
  case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
    *value = atoi(capability.c_str());
    break;
  case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:
    *value = atoi(capability.c_str() + 2);
    break;
  case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
    *value = 1024;
    break;
  case CU_DEVICE_ATTRIBUTE_CLOCK_RATE:
    *value = 1980000;
    break;
  case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
    *value = 4;
    break;
  case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN:
    *value = atoi(wish("shared", "232448").c_str());
    break;
  default:
    *value = 0;
  }
  return CUDA_SUCCESS;
}
static size_t total() {
  return strtoull(wish("memory", "1000000000").c_str(), nullptr, 10);
}
CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice) {
  CALLED();
  *bytes = total();
  return CUDA_SUCCESS;
}
CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device) {
  CALLED();
  ++counts.contexts;
  *context = (CUcontext)(uintptr_t)(device + 1);
  return CUDA_SUCCESS;
}
CUresult cuDevicePrimaryCtxRelease_v2(CUdevice) {
  --counts.contexts;
  return CUDA_SUCCESS;
}
CUresult cuCtxPushCurrent_v2(CUcontext) {
  CALLED();
  ++counts.pushed;
  return CUDA_SUCCESS;
}
CUresult cuCtxPopCurrent_v2(CUcontext *) {
  --counts.pushed;
  return CUDA_SUCCESS;
}

static size_t left() {
  size_t all = total();
  for (auto &piece : device)
    all -= piece.second < all ? piece.second : all;
  return all;
}
CUresult cuMemGetInfo_v2(size_t *free, size_t *all) {
  CALLED_INSIDE();
  *free = left();
  *all = total();
  return CUDA_SUCCESS;
}
CUresult cuMemAlloc_v2(CUdeviceptr *address, size_t bytes) {
  CALLED_INSIDE();
  if (bytes > left())
    return CUDA_ERROR_OUT_OF_MEMORY;
  void *memory = aligned_alloc(256, (bytes + 255) / 256 * 256);
  memset(memory, 0xff, bytes); // NaN
  device[memory] = bytes;
  *address = (CUdeviceptr)memory;
  return CUDA_SUCCESS;
}
CUresult cuMemFree_v2(CUdeviceptr address) {
  device.erase((void *)address);
  free((void *)address);
  return CUDA_SUCCESS;
}
CUresult cuMemHostAlloc(void **memory, size_t bytes, unsigned) {
  CALLED_INSIDE();
  *memory = malloc(bytes);
  pinned[*memory] = bytes;
  return CUDA_SUCCESS;
}
CUresult cuMemFreeHost(void *memory) {
  pinned.erase(memory);
  free(memory);
  return CUDA_SUCCESS;
}
CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void *from, size_t bytes) {
  CALLED_INSIDE();
  memcpy((void *)to, from, bytes);
  return CUDA_SUCCESS;
}
CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *from, size_t bytes,
                              CUstream stream) {
  CALLED_INSIDE();
  stream->add([=] { memcpy((void *)to, from, bytes); });
  return CUDA_SUCCESS;
}
CUresult cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from, size_t bytes,
                              CUstream stream) {
  CALLED_INSIDE();
  counts.read_to = to;
  stream->add([=] { memcpy(to, (const void *)from, bytes); });
  return CUDA_SUCCESS;
}
CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes,
                              CUstream stream) {
  CALLED_INSIDE();
  ++counts.device_copies;
  stream->add([=] { memcpy((void *)to, (const void *)from, bytes); });
  return CUDA_SUCCESS;
}
// Memory that the driver does not know is of no type, and no error.
CUresult cuPointerGetAttributes(unsigned, int *, void **values,
                                CUdeviceptr address) {
  CALLED();
  *(int *)values[0] = 0;
  for (auto &piece : device)
    if (address - (CUdeviceptr)piece.first < piece.second)
      *(int *)values[0] = CU_MEMORYTYPE_DEVICE;
  for (auto &piece : pinned)
    if (address - (CUdeviceptr)piece.first < piece.second)
      *(int *)values[0] = CU_MEMORYTYPE_HOST;
  return CUDA_SUCCESS;
}
CUresult cuMemcpy2DAsync_v2(const CUDA_MEMCPY2D *what, CUstream stream) {
  CALLED_INSIDE();
  const CUDA_MEMCPY2D copy = *what;
  stream->add([=] {
    for (size_t row = 0; row < copy.Height; ++row)
      memcpy((char *)copy.dstDevice + row * copy.dstPitch,
             (const char *)copy.srcDevice + row * copy.srcPitch,
             copy.WidthInBytes);
  });
  return CUDA_SUCCESS;
}
CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t bytes,
                         CUstream stream) {
  CALLED_INSIDE();
  stream->add([=] { memset((void *)to, value, bytes); });
  return CUDA_SUCCESS;
}

CUresult cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned count,
                            int *, void **values) {
  CALLED_INSIDE();
  const auto *kernel = (const fake_cuda_kernel *)image;
  const bool cubin = memcmp(image, FAKE_CUDA_MAGIC, sizeof kernel->magic) == 0;
  if (cubin && wish("capability", "9.0") != "9.0")
    return CUDA_ERROR_NO_BINARY_FOR_GPU;
  if (!cubin && !strstr((const char *)image, ".version")) {
    if (count == 2)
      snprintf((char *)values[0], (size_t)values[1], "fatal: no .version");
    return 218;
  }
  ++counts.modules;
  *module =
      new CUmod_st{cubin ? kernel : nullptr, cubin ? "" : (const char *)image};
  return CUDA_SUCCESS;
}
CUresult cuModuleUnload(CUmodule module) {
  for (auto at = functions.begin(); at != functions.end();)
    if (at->first.first == module) {
      delete at->second;
      at = functions.erase(at);
    } else {
      ++at;
    }
  delete module;
  --counts.modules;
  return CUDA_SUCCESS;
}
CUresult cuModuleGetFunction(CUfunction *function, CUmodule module,
                             const char *name) {
  CALLED_INSIDE();
  const bool found = module->kernel
                         ? strcmp(module->kernel->name, name) == 0
                         : module->text.find(".entry " + std::string(name)) !=
                               std::string::npos;
  if (!found)
    return CUDA_ERROR_NOT_FOUND;
  CUfunction &known = functions[{module, name}];
  if (!known)
    known = new CUfunc_st{strcmp(name, fake_cuda_remember.name)
                              ? module->kernel
                              : &fake_cuda_remember,
                          48 << 10};
  *function = known;
  return CUDA_SUCCESS;
}
CUresult cuFuncSetAttribute(CUfunction function, int what, int value) {
  CALLED_INSIDE();
  if (what == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES)
    function->sharedMost = value;
  return CUDA_SUCCESS;
}
CUresult cuFuncGetAttribute(int *value, int what, CUfunction) {
  CALLED_INSIDE();
  *value = what == CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK ? 512 : 0;
  return CUDA_SUCCESS;
}
// A map says what it was made of.
CUresult cuTensorMapEncodeTiled(CUtensorMap *map, int type, uint32_t rank,
                                void *address, const uint64_t *extents,
                                const uint64_t *strides, const uint32_t *boxes,
                                const uint32_t *, int, int, int, int) {
  CALLED_INSIDE();
  if (!hasWholeLines(type, extents[0], boxes[0]))
    return CUDA_ERROR_INVALID_VALUE;
  ++counts.maps;
  memset(map, 0, sizeof *map);
  map->words[0] = (uint64_t)address;
  map->words[1] = (uint64_t)type << 32 | rank;
  for (uint32_t d = 0; d < rank; ++d) {
    map->words[2 + d] = extents[d];
    map->words[7 + d] = d ? strides[d - 1] : 0;
    ((uint32_t *)(map->words + 12))[d] = boxes[d];
  }
  return CUDA_SUCCESS;
}
static CUresult launch(CUfunction function, unsigned x, unsigned y, unsigned z,
                       unsigned threadsX, unsigned threadsY, unsigned threadsZ,
                       unsigned shared, CUstream stream, void **arguments) {
  if (!x || !y || !z || threadsX * threadsY * threadsZ > 512 ||
      (int)shared > function->sharedMost)
    return CUDA_ERROR_INVALID_VALUE;
  const fake_cuda_kernel *kernel = function->kernel;
  if (!kernel) {
    stream->endsInKernel = true;
    return CUDA_SUCCESS;
  }
  // Arguments are copied at the launch.
  struct alignas(64) Argument {
    char bytes[128];
  };
  auto values = std::make_shared<std::vector<Argument>>(kernel->arguments);
  for (uint32_t a = 0; a < kernel->arguments; ++a)
    memcpy((*values)[a].bytes, arguments[a], kernel->argument_bytes[a]);
  stream->add(
      [=] {
        std::vector<void *> pointers;
        for (Argument &value : *values)
          pointers.push_back(value.bytes);
        ++counts.launches;
        counts.wide += shared > 114 << 10;
        const unsigned blocks[] = {x, y, z};
        kernel->function(pointers.data(), blocks, shared);
      },
      true);
  return CUDA_SUCCESS;
}
CUresult cuLaunchKernel(CUfunction function, unsigned x, unsigned y, unsigned z,
                        unsigned threadsX, unsigned threadsY, unsigned threadsZ,
                        unsigned shared, CUstream stream, void **arguments,
                        void **) {
  CALLED_INSIDE();
  return launch(function, x, y, z, threadsX, threadsY, threadsZ, shared, stream,
                arguments);
}
CUresult cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction function,
                          void **arguments, void **) {
  CALLED_INSIDE();
  const CUlaunchConfig &of = *config;
  if (of.numAttrs != 1 || of.attrs->value[0] != 1 ||
      of.attrs->id != CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION)
    return CUDA_ERROR_INVALID_VALUE;
  // The driver lets it wait for kernels alone.
  if (!of.hStream->endsInKernel)
    return CUDA_ERROR_INVALID_VALUE;
  ++counts.overlapping;
  return launch(function, of.gridDimX, of.gridDimY, of.gridDimZ, of.blockDimX,
                of.blockDimY, of.blockDimZ, of.sharedMemBytes, of.hStream,
                arguments);
}

CUresult cuStreamCreate(CUstream *stream, unsigned) {
  CALLED_INSIDE();
  ++counts.streams;
  *stream = new CUstream_st;
  return CUDA_SUCCESS;
}
CUresult cuStreamDestroy_v2(CUstream stream) {
  --counts.streams;
  delete stream;
  return CUDA_SUCCESS;
}
CUresult cuStreamSynchronize(CUstream stream) {
  CALLED_INSIDE();
  ++counts.waits;
  stream->wait();
  return CUDA_SUCCESS;
}
CUresult cuEventCreate(CUevent *event, unsigned) {
  CALLED_INSIDE();
  ++counts.events;
  *event = new CUevent_st{nullptr};
  return CUDA_SUCCESS;
}
CUresult cuEventDestroy_v2(CUevent event) {
  --counts.events;
  delete event;
  return CUDA_SUCCESS;
}
CUresult cuEventRecord(CUevent event, CUstream stream) {
  CALLED_INSIDE();
  event->stream = stream;
  return CUDA_SUCCESS;
}
CUresult cuEventSynchronize(CUevent event) {
  CALLED_INSIDE();
  event->stream->wait();
  return CUDA_SUCCESS;
}
CUresult cuEventElapsedTime(float *milliseconds, CUevent, CUevent) {
  CALLED();
  *milliseconds = 8;
  return CUDA_SUCCESS;
}
CUresult cuStreamBeginCapture_v2(CUstream stream, int) {
  CALLED_INSIDE();
  stream->captured = std::make_unique<Work>();
  return CUDA_SUCCESS;
}
// The capture ends though it fails.
CUresult cuStreamEndCapture(CUstream stream, CUgraph *graph) {
  std::unique_ptr<Work> captured = std::move(stream->captured);
  CALLED_INSIDE();
  *graph = new CUgraph_st{std::move(*captured)};
  ++counts.graphs;
  return CUDA_SUCCESS;
}
CUresult cuGraphInstantiateWithFlags(CUgraphExec *exec, CUgraph graph,
                                     unsigned long long) {
  CALLED_INSIDE();
  ++counts.instances;
  ++counts.live_instances;
  *exec = new CUgraphExec_st{graph->work};
  return CUDA_SUCCESS;
}
CUresult cuGraphLaunch(CUgraphExec exec, CUstream stream) {
  CALLED_INSIDE();
  ++counts.graph_launches;
  for (auto &one : exec->work)
    stream->add(one);
  return CUDA_SUCCESS;
}
CUresult cuGraphExecDestroy(CUgraphExec exec) {
  --counts.live_instances;
  delete exec;
  return CUDA_SUCCESS;
}
CUresult cuGraphDestroy(CUgraph graph) {
  --counts.graphs;
  delete graph;
  return CUDA_SUCCESS;
}
}
