/* The machine's OpenCL library, but each queue that has launched kernels says
 * at its end how many, how often the host waited, and how many launches came
 * after the first wait. $FAIL_OPENCL=NAME:N: the N-th call of that function
 * from then on fails. $OPENCL_MEMORY: the bytes that each device says it has.
 * For $MILLE_OPENCL_LIBRARY: all other functions are the library's own. */
#define CL_TARGET_OPENCL_VERSION 120
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { most = 1000 };
typedef struct {
  cl_command_queue queue;
  int launches, late, waits;
} Counts;
static Counts counts[most];
static int queues, events; /* waited for */

static void *real(const char *name) {
  static void *library;
  if (!library)
    library = dlopen("libOpenCL.so.1", RTLD_NOW);
  void *function = library ? dlsym(library, name) : NULL;
  if (!function) {
    fprintf(stderr, "no %s in libOpenCL.so.1\n", name);
    exit(1);
  }
  return function;
}
#define REAL(name) ((__typeof__(&name))real(#name))

static int numberOf(cl_command_queue queue) {
  int i = 0;
  while (i < queues && counts[i].queue != queue)
    ++i;
  if (i == most) {
    fprintf(stderr, "more than %d queues\n", most);
    exit(1);
  }
  if (i == queues)
    counts[queues++] = (Counts){queue, 0, 0, 0};
  return i;
}

static void count(cl_command_queue queue, cl_bool waits) {
  counts[numberOf(queue)].waits += waits != CL_FALSE;
}

/* Whether this call is the one that fails. */
static int fails(const char *name) {
  static char last[64];
  static int calls;
  const char *wish = getenv("FAIL_OPENCL");
  if (!wish || strcmp(wish, last) != 0)
    calls = 0;
  snprintf(last, sizeof last, "%s", wish ? wish : "");
  const size_t length = strlen(name);
  if (!wish || strncmp(wish, name, length) != 0 || wish[length] != ':')
    return 0;
  return ++calls == atoi(wish + length + 1);
}
#define FAIL(name)                                                             \
  if (fails(name))                                                             \
  return CL_OUT_OF_RESOURCES
#define FAIL_NULL(name)                                                        \
  if (fails(name)) {                                                           \
    *error = CL_OUT_OF_RESOURCES;                                              \
    return NULL;                                                               \
  }

#define EXPORT __attribute__((visibility("default")))

EXPORT cl_int clFinish(cl_command_queue queue) {
  FAIL("clFinish");
  count(queue, CL_TRUE);
  return REAL(clFinish)(queue);
}

EXPORT cl_int clWaitForEvents(cl_uint number, const cl_event *list) {
  FAIL("clWaitForEvents");
  ++events;
  return REAL(clWaitForEvents)(number, list);
}

EXPORT cl_int clGetDeviceIDs(cl_platform_id platform, cl_device_type type,
                             cl_uint room, cl_device_id *devices,
                             cl_uint *number) {
  FAIL("clGetDeviceIDs");
  return REAL(clGetDeviceIDs)(platform, type, room, devices, number);
}

EXPORT cl_int clGetDeviceInfo(cl_device_id device, cl_device_info what,
                              size_t room, void *value, size_t *size) {
  const char *memory = getenv("OPENCL_MEMORY");
  const cl_int error = REAL(clGetDeviceInfo)(device, what, room, value, size);
  if (memory && error == CL_SUCCESS && what == CL_DEVICE_GLOBAL_MEM_SIZE &&
      room >= sizeof(cl_ulong))
    *(cl_ulong *)value = strtoull(memory, NULL, 10);
  return error;
}

EXPORT cl_int clBuildProgram(cl_program program, cl_uint number,
                             const cl_device_id *devices, const char *options,
                             void(CL_CALLBACK *notify)(cl_program, void *),
                             void *user) {
  FAIL("clBuildProgram");
  return REAL(clBuildProgram)(program, number, devices, options, notify, user);
}

EXPORT cl_int clEnqueueReadBuffer(cl_command_queue queue, cl_mem memory,
                                  cl_bool waits, size_t offset, size_t size,
                                  void *to, cl_uint number,
                                  const cl_event *list, cl_event *event) {
  FAIL("clEnqueueReadBuffer");
  count(queue, waits);
  return REAL(clEnqueueReadBuffer)(queue, memory, waits, offset, size, to,
                                   number, list, event);
}

EXPORT cl_int clEnqueueWriteBuffer(cl_command_queue queue, cl_mem memory,
                                   cl_bool waits, size_t offset, size_t size,
                                   const void *from, cl_uint number,
                                   const cl_event *list, cl_event *event) {
  FAIL("clEnqueueWriteBuffer");
  count(queue, waits);
  return REAL(clEnqueueWriteBuffer)(queue, memory, waits, offset, size, from,
                                    number, list, event);
}

EXPORT cl_int clEnqueueReadBufferRect(cl_command_queue queue, cl_mem memory,
                                      cl_bool waits, const size_t *from,
                                      const size_t *to, const size_t *region,
                                      size_t row, size_t slice, size_t hostRow,
                                      size_t hostSlice, void *out,
                                      cl_uint number, const cl_event *list,
                                      cl_event *event) {
  FAIL("clEnqueueReadBufferRect");
  count(queue, waits);
  return REAL(clEnqueueReadBufferRect)(queue, memory, waits, from, to, region,
                                       row, slice, hostRow, hostSlice, out,
                                       number, list, event);
}

EXPORT cl_int clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel,
                                     cl_uint dimensions, const size_t *offset,
                                     const size_t *global, const size_t *local,
                                     cl_uint number, const cl_event *list,
                                     cl_event *event) {
  int i = numberOf(queue);
  ++counts[i].launches;
  counts[i].late += counts[i].waits > 0;
  return REAL(clEnqueueNDRangeKernel)(queue, kernel, dimensions, offset, global,
                                      local, number, list, event);
}

EXPORT cl_int clReleaseCommandQueue(cl_command_queue queue) {
  int i = numberOf(queue);
  if (counts[i].launches)
    fprintf(stderr, "launches: %d, after a wait: %d, waits: %d, events: %d\n",
            counts[i].launches, counts[i].late, counts[i].waits, events);
  counts[i] = counts[--queues];
  return REAL(clReleaseCommandQueue)(queue);
}

EXPORT cl_command_queue
clCreateCommandQueue(cl_context context, cl_device_id device,
                     cl_command_queue_properties properties, cl_int *error) {
  FAIL_NULL("clCreateCommandQueue")
  return REAL(clCreateCommandQueue)(context, device, properties, error);
}

EXPORT cl_program clCreateProgramWithSource(cl_context context, cl_uint number,
                                            const char **texts,
                                            const size_t *sizes,
                                            cl_int *error) {
  FAIL_NULL("clCreateProgramWithSource")
  return REAL(clCreateProgramWithSource)(context, number, texts, sizes, error);
}

EXPORT cl_context clCreateContext(const cl_context_properties *properties,
                                  cl_uint number, const cl_device_id *devices,
                                  void(CL_CALLBACK *notify)(const char *,
                                                            const void *,
                                                            size_t, void *),
                                  void *user, cl_int *error) {
  FAIL_NULL("clCreateContext")
  return REAL(clCreateContext)(properties, number, devices, notify, user,
                               error);
}

EXPORT cl_mem clCreateBuffer(cl_context context, cl_mem_flags flags,
                             size_t size, void *host, cl_int *error) {
  FAIL_NULL("clCreateBuffer")
  return REAL(clCreateBuffer)(context, flags, size, host, error);
}
