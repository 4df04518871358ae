// Measures a device's peak: multiply-adds in registers, in enough threads to
// keep it busy. Must not touch a session's memory.
#include "runtime/cuda/Device.h"

namespace mille::cuda {
namespace {

constexpr uint32_t threads = 128;    // of a block
constexpr uint32_t blocksOfUnit = 4; // several blocks hide latencies
constexpr double enough = 5;         // a launch takes at least so many ms
constexpr int launches = 5;          // the fastest one counts
// A thread has eight sums of sixteen lanes (Peak.cl).
constexpr double operationsOfATime = 2.0 * 8 * 16;

// Makes calls of the driver; after the first failure it makes no more.
struct Trial {
  const Library &cuda;
  CUstream stream;
  uint32_t blocks;
  CUdeviceptr out = 0;
  CUevent before = nullptr, after = nullptr;
  CUresult error = CUDA_SUCCESS;

  template <typename Function> void call(Function function) {
    if (error == CUDA_SUCCESS)
      error = function();
  }
  // Milliseconds of one launch.
  double time(CUfunction kernel, int32_t times, const void *by,
              const void *more) {
    void *arguments[] = {&times, (void *)by, (void *)more, &out};
    float milliseconds = 1;
    call([&] { return cuda.cuEventRecord(before, stream); });
    call([&] {
      return cuda.cuLaunchKernel(kernel, blocks, 1, 1, threads, 1, 1, 0, stream,
                                 arguments, nullptr);
    });
    call([&] { return cuda.cuEventRecord(after, stream); });
    call([&] { return cuda.cuEventSynchronize(after); });
    call([&] { return cuda.cuEventElapsedTime(&milliseconds, before, after); });
    return milliseconds > 0 ? milliseconds : 1;
  }
  // 10^9 operations a second.
  double best(CUfunction kernel, const void *by, const void *more) {
    constexpr int32_t mostTimes = 1 << 24;
    int32_t times = 64;
    while (error == CUDA_SUCCESS && times < mostTimes &&
           time(kernel, times, by, more) < enough)
      times *= 2;
    double least = time(kernel, times, by, more);
    for (int i = 1; i < launches; ++i) {
      const double one = time(kernel, times, by, more);
      least = one < least ? one : least;
    }
    return operationsOfATime * times * blocks * threads / least / 1e6;
  }
};

double measureKernel(Trial &trial, CUmodule module, const char *name,
                     const void *by, const void *more) {
  CUfunction kernel = nullptr;
  trial.call(
      [&] { return trial.cuda.cuModuleGetFunction(&kernel, module, name); });
  return trial.error == CUDA_SUCCESS ? trial.best(kernel, by, more) : 0;
}

} // namespace

mille_status measure(mille_session &session, mille_device &info, double &f32,
                     double &i32) {
  Part &part = partOf(session);
  Device &device = part.on();
  mille_package &package = *session.package;
  const Library &cuda = device.cuda;
  info = device.info();
  Current current(device);
  CUmodule module;
  pthread_mutex_lock(&package.deviceLock);
  mille_status status =
      moduleOf(package, device, nullptr, peakText(), "peak", module);
  pthread_mutex_unlock(&package.deviceLock);
  if (status != MILLE_OK)
    return status;
  Trial trial{cuda, part.stream, info.units * blocksOfUnit};
  const uint64_t bytes = (uint64_t)trial.blocks * threads * 4;
  trial.call([&] { return cuda.cuMemAlloc(&trial.out, bytes); });
  trial.call([&] { return cuda.cuEventCreate(&trial.before, 0); });
  trial.call([&] { return cuda.cuEventCreate(&trial.after, 0); });
  const float by = 0.999f, more = 0.001f;
  const int32_t byInteger = 3, moreInteger = 5;
  f32 = measureKernel(trial, module, "peak_f32", &by, &more);
  i32 = measureKernel(trial, module, "peak_i32", &byInteger, &moreInteger);
  if (trial.out)
    cuda.cuMemFree(trial.out);
  if (trial.before)
    cuda.cuEventDestroy(trial.before);
  if (trial.after)
    cuda.cuEventDestroy(trial.after);
  return trial.error == CUDA_SUCCESS
             ? MILLE_OK
             : package.message().set(MILLE_NO_DEVICE,
                                     "%s cannot be measured: %s", info.name,
                                     cuda.nameOf(trial.error).text);
}

} // namespace mille::cuda
