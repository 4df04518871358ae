// Measures a device's peak: multiply-adds in registers, in enough work-items to
// keep it busy. Must not touch a session's memory.
#include "runtime/opencl/Device.h"

namespace mille::opencl {
namespace {

constexpr size_t items = 64;         // per work-group
constexpr size_t groupsOfUnit = 8;   // several groups hide latencies
constexpr uint64_t enough = 5000000; // a launch takes at least so many ns
constexpr int launches = 5;          // the fastest one counts

// Each item has eight sums of sixteen lanes (Peak.cl).
constexpr double operationsOfATime = 2.0 * 8 * 16;

// Makes OpenCL calls; after the first failure it makes no more.
struct Trial {
  const Library &cl;
  cl_command_queue queue;
  cl_int error = CL_SUCCESS;

  void argument(cl_kernel kernel, cl_uint number, size_t size,
                const void *value) {
    if (error == CL_SUCCESS)
      error = cl.clSetKernelArg(kernel, number, size, value);
  }
  // The time of one launch in nanoseconds, at least 1.
  uint64_t time(cl_kernel kernel, size_t global, cl_int times) {
    cl_event event = nullptr;
    cl_ulong begin = 0, end = 0;
    argument(kernel, 0, sizeof times, &times);
    if (error == CL_SUCCESS)
      error = cl.clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &global,
                                        &items, 0, nullptr, &event);
    if (error != CL_SUCCESS)
      return 1;
    error = cl.clWaitForEvents(1, &event);
    cl.clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof begin,
                               &begin, nullptr);
    cl.clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof end,
                               &end, nullptr);
    cl.clReleaseEvent(event);
    return end > begin ? end - begin : 1;
  }
  double best(cl_kernel kernel, size_t global) {
    constexpr cl_int mostTimes = 1 << 24;
    cl_int times = 64;
    while (error == CL_SUCCESS && times < mostTimes &&
           time(kernel, global, times) < enough)
      times *= 2;
    uint64_t least = time(kernel, global, times);
    for (int i = 1; i < launches && error == CL_SUCCESS; ++i) {
      uint64_t one = time(kernel, global, times);
      least = one < least ? one : least;
    }
    return operationsOfATime * times * global / least;
  }
};

double measureKernel(Trial &trial, cl_program program, const char *name,
                     cl_mem out, size_t global, const void *by,
                     const void *more) {
  if (trial.error != CL_SUCCESS)
    return 0;
  cl_kernel kernel = trial.cl.clCreateKernel(program, name, &trial.error);
  if (!kernel)
    return 0;
  trial.argument(kernel, 1, 4, by);
  trial.argument(kernel, 2, 4, more);
  trial.argument(kernel, 3, sizeof out, &out);
  double gigas = trial.best(kernel, global);
  trial.cl.clReleaseKernel(kernel);
  return gigas;
}

} // namespace

mille_status measure(mille_session &session, mille_device &info, double &f32,
                     double &i32) {
  Part &part = partOf(session);
  Device &device = part.on();
  Message &message = session.package->message();
  info = device.info();
  cl_program program;
  mille_status status = programOf(*device.shared, peakText(), program, message);
  if (status != MILLE_OK)
    return status;
  Trial trial{device.library(), part.queue};
  size_t global = (info.units ? info.units : 1) * groupsOfUnit * items;
  cl_mem out =
      trial.cl.clCreateBuffer(device.shared->context, CL_MEM_READ_WRITE,
                              global * 4, nullptr, &trial.error);
  if (!out)
    return refuseMemory(device, "a measurement's sums need", global * 4,
                        trial.error, message);
  const float by = 0.999f, more = 0.001f;
  const cl_int byInteger = 3, moreInteger = 5;
  f32 = measureKernel(trial, program, "peak_f32", out, global, &by, &more);
  i32 = measureKernel(trial, program, "peak_i32", out, global, &byInteger,
                      &moreInteger);
  trial.cl.clReleaseMemObject(out);
  return trial.error == CL_SUCCESS
             ? MILLE_OK
             : message.set(MILLE_NO_DEVICE, "%s cannot be measured: %s",
                           info.name, ErrorName(trial.error).text);
}

} // namespace mille::opencl
