// What a device can do without Mille: multiply-adds in registers, reading, and
// a plain tiled matmul, written by hand as tutorials have it.
//   opencl-benchmarks DEVICE M,K,N...      a line of JSON for each
#include "runtime/opencl/Devices.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

using namespace mille::opencl;

namespace {

// Tiles of 32 x 32 in local memory, 8 results of a column to each work-item.
const char *source = R"(
#define TILE 32
#define EACH 8
__kernel void matmul(const int M, const int N, const int K,
                     __global const float *a, __global const float *b,
                     __global float *c) {
  const int n = get_local_id(0), m = get_local_id(1);
  const int column = TILE * get_group_id(0) + n, row = TILE * get_group_id(1) + m;
  __local float as[TILE][TILE], bs[TILE][TILE];
  float sum[EACH];
  for (int w = 0; w < EACH; w++) sum[w] = 0.0f;
  for (int t = 0; t < K / TILE; t++) {
    for (int w = 0; w < EACH; w++) {
      as[m + w * (TILE / EACH)][n] = a[(row + w * (TILE / EACH)) * K + t * TILE + n];
      bs[m + w * (TILE / EACH)][n] = b[(t * TILE + m + w * (TILE / EACH)) * N + column];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < TILE; k++)
      for (int w = 0; w < EACH; w++)
        sum[w] += as[m + w * (TILE / EACH)][k] * bs[k][n];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  for (int w = 0; w < EACH; w++)
    c[(row + w * (TILE / EACH)) * N + column] = sum[w];
}
__kernel void peak(const int times, __global float *out) {
  float16 x[8];
  for (int i = 0; i < 8; i++) x[i] = (float16)(get_global_id(0) + i);
  for (int t = 0; t < times; t++)
    for (int i = 0; i < 8; i++) x[i] = fma(x[i], (float16)(0.999f), (float16)(0.001f));
  float16 sum = 0;
  for (int i = 0; i < 8; i++) sum += x[i];
  out[get_global_id(0)] = sum.s0 + sum.s5 + sum.sa + sum.sf;
}
)";

void check(cl_int error, const char *what) {
  if (error == CL_SUCCESS)
    return;
  fprintf(stderr, "%s: %s\n", what, ErrorName(error).text);
  std::exit(3);
}

struct Bench {
  Library cl;
  Devices devices;
  const Found *found = nullptr;
  cl_context context = nullptr;
  cl_command_queue queue = nullptr;
  cl_program program = nullptr;

  bool open(const char *wish) {
    mille::Message message;
    if (cl.load(message) != MILLE_OK || devices.find(cl, message) != MILLE_OK ||
        !(found = devices.choose(wish, message))) {
      fprintf(stderr, "%s\n", message.text);
      return false;
    }
    cl_int error;
    context = cl.clCreateContext(nullptr, 1, &found->device, nullptr, nullptr,
                                 &error);
    check(error, "context");
    queue = cl.clCreateCommandQueue(context, found->device, 0, &error);
    check(error, "queue");
    program =
        cl.clCreateProgramWithSource(context, 1, &source, nullptr, &error);
    check(error, "program");
    check(cl.clBuildProgram(program, 1, &found->device, "", nullptr, nullptr),
          "build");
    return true;
  }
  cl_mem buffer(size_t floats) {
    cl_int error;
    std::vector<float> numbers(floats, 0.5f);
    cl_mem made =
        cl.clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR,
                          floats * 4, numbers.data(), &error);
    check(error, "buffer");
    return made;
  }
  // The median of seven, in seconds; twice before that to warm up.
  double time(cl_kernel kernel, cl_uint dimensions, const size_t *global,
              const size_t *local) {
    std::vector<double> seconds;
    for (int i = 0; i < 9; ++i) {
      auto begin = std::chrono::steady_clock::now();
      check(cl.clEnqueueNDRangeKernel(queue, kernel, dimensions, nullptr,
                                      global, local, 0, nullptr, nullptr),
            "launch");
      check(cl.clFinish(queue), "finish");
      std::chrono::duration<double> taken =
          std::chrono::steady_clock::now() - begin;
      if (i > 1)
        seconds.push_back(taken.count());
    }
    std::sort(seconds.begin(), seconds.end());
    return seconds[seconds.size() / 2];
  }

  void peak() {
    cl_int error, times = 20000;
    size_t global = found->info.units * 512, local = 64;
    cl_kernel kernel = cl.clCreateKernel(program, "peak", &error);
    check(error, "peak");
    cl_mem out = buffer(global);
    cl.clSetKernelArg(kernel, 0, sizeof times, &times);
    cl.clSetKernelArg(kernel, 1, sizeof out, &out);
    double flops = 2.0 * 16 * 8 * times * global;
    printf("{\"device\": \"%s\", \"peak_gflops\": %.1f}\n", found->info.name,
           flops / time(kernel, 1, &global, &local) * 1e-9);
  }
  void matmul(int m, int k, int n) {
    cl_int error;
    cl_kernel kernel = cl.clCreateKernel(program, "matmul", &error);
    check(error, "matmul");
    int rows = (m + 31) / 32 * 32; // whole tiles
    cl_mem a = buffer(size_t(rows) * k), b = buffer(size_t(k) * n),
           c = buffer(size_t(rows) * n);
    cl.clSetKernelArg(kernel, 0, 4, &rows);
    cl.clSetKernelArg(kernel, 1, 4, &n);
    cl.clSetKernelArg(kernel, 2, 4, &k);
    cl.clSetKernelArg(kernel, 3, sizeof a, &a);
    cl.clSetKernelArg(kernel, 4, sizeof b, &b);
    cl.clSetKernelArg(kernel, 5, sizeof c, &c);
    size_t global[] = {size_t(n), size_t(rows) / 8}, local[] = {32, 4};
    double seconds = time(kernel, 2, global, local);
    printf(
        "{\"m\": %d, \"k\": %d, \"n\": %d, \"ms\": %.3f, \"gflops\": %.1f}\n",
        m, k, n, seconds * 1e3, 2.0 * m * k * n / seconds * 1e-9);
    for (cl_mem memory : {a, b, c})
      cl.clReleaseMemObject(memory);
  }
};

} // namespace

int main(int count, char **arguments) {
  Bench bench;
  if (count < 2 || !bench.open(arguments[1]))
    return 3;
  bench.peak();
  for (int i = 2; i < count; ++i) {
    int m, k, n;
    if (sscanf(arguments[i], "%d,%d,%d", &m, &k, &n) == 3 && k % 32 == 0 &&
        n % 32 == 0)
      bench.matmul(m, k, n);
  }
  return 0;
}
