// Runs the runtime's own steps on a device: enqueues them like kernels, in
// program order. Must not wait for the device.
#include "runtime/opencl/Device.h"

namespace mille::opencl {
namespace {

// While planning: makes the step's kernel, once per session. `items`,
// `localBytes`: of a work-group.
int32_t prepare(mille_session &session, Step step, uint64_t items,
                uint64_t localBytes = 0) {
  if (int32_t code = checkGroup(session, items, localBytes))
    return code;
  Part &part = partOf(session);
  cl_kernel &kernel = part.steps[(int)step];
  if (kernel)
    return 0;
  Message message;
  cl_program program;
  mille_status status =
      programOf(*part.on().shared, textOf(step), program, message);
  if (status != MILLE_OK) {
    session.failed.change(0, status);
    return mille_task_fail(&session.tasks[0], status, "%s", message.text);
  }
  cl_int error;
  kernel = part.on().library().clCreateKernel(program, nameOf(step), &error);
  return kernel ? 0 : fail(session, nameOf(step), error);
}

// Sets the arguments of a step, one after the other, and launches it.
class Call {
public:
  Call(mille_session &session, Step step)
      : session(session), cl(partOf(session).on().library()), step(step),
        kernel(partOf(session).steps[(int)step]) {}

  Call &at(const void *address, uint64_t temporary = 0) {
    if (error == CL_SUCCESS)
      error = setPlace(session, kernel, number, address, temporary);
    return *this;
  }
  Call &with(int64_t value) {
    const cl_int narrow = (cl_int)value;
    return put(sizeof narrow, &narrow);
  }
  Call &withReal(double value) {
    const cl_float narrow = (cl_float)value;
    return put(sizeof narrow, &narrow);
  }
  Call &withLocal(uint64_t bytes) { return put(bytes, nullptr); }

  // items: per work-group. across, down: the numbers of work-groups.
  int32_t run(size_t items, int64_t across, int64_t down = 1) {
    if (error != CL_SUCCESS)
      return fail(session, nameOf(step), error);
    const size_t global[3] = {items * (size_t)across, (size_t)down, 1};
    const size_t local[3] = {items, 1, 1};
    return enqueue(session, kernel, nameOf(step), global, local, nullptr);
  }

private:
  Call &put(size_t bytes, const void *value) {
    if (error == CL_SUCCESS)
      error = cl.clSetKernelArg(kernel, number++, bytes, value);
    return *this;
  }

  mille_session &session;
  const Library &cl;
  const Step step;
  cl_kernel kernel;
  cl_uint number = 0;
  cl_int error = CL_SUCCESS;
};

// While planning: says that the table must be on the device for every run.
int32_t addTable(mille_session &session, const void *table, uint64_t bytes) {
  if (partOf(session).regions.addTable(session.package->memory, table, bytes))
    return 0;
  return fail(session, "a list of tables", CL_OUT_OF_HOST_MEMORY);
}

} // namespace

int32_t gather(mille_session &session, const Gather &g) {
  if (session.planning) {
    if (int32_t code = prepare(session, Step::gather, elementItems))
      return code;
    return addTable(session, g.index, (uint64_t)g.count * 4);
  }
  return callGather(Call(session, Step::gather), g);
}

int32_t mean(mille_session &session, const Mean &m) {
  if (session.planning)
    return prepare(session, Step::mean, elementItems);
  return callMean(Call(session, Step::mean), m);
}

int32_t similarity(mille_session &session, const Similarity &s) {
  if (session.planning)
    return prepare(session, Step::similarity, elementItems);
  return callSimilarity(Call(session, Step::similarity), s);
}

int32_t remember(mille_session &session, const Remember &r) {
  if (session.planning)
    return prepare(session, Step::remember, elementItems);
  return callRemember(Call(session, Step::remember), r);
}

int32_t recur(mille_session &session, const Recurrence &r) {
  if (session.planning)
    return prepare(session, Step::recur, elementItems);
  return callRecur(Call(session, Step::recur), r);
}

int32_t route(mille_session &session, const Route &r) {
  const uint64_t perEntry = (uint64_t)r.entries * 4;
  DeviceRegions &regions = partOf(session).regions;
  regions.startKernel();
  const uint64_t experts = regions.reserve(session, (uint64_t)r.slots() * 4);
  if (!experts)
    return session.stopped();
  if (session.planning) {
    const uint64_t localBytes = 4 * perEntry + 3 * 4 * sortItems;
    if (int32_t code = prepare(session, Step::route, sortItems, localBytes))
      return code;
    return prepare(session, Step::sort, sortItems, localBytes);
  }
  if (int32_t code = callRoute(Call(session, Step::route), r, experts))
    return code;
  if (int32_t code = tellChoice(session, r, experts))
    return code;
  return callSort(Call(session, Step::sort), r, experts);
}

} // namespace mille::opencl
