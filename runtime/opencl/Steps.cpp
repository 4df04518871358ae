// Runs the runtime's own steps on a device: enqueues them like kernels, in
// program order. Must not wait for the device.
#include "runtime/opencl/Device.h"

namespace mille::opencl {
namespace {

// Items per work-group: of steps that have an item per element, ...
constexpr size_t elementItems = 64;
// ... and of those whose text has the number (ITEMS).
constexpr size_t routeItems = 32, sortItems = 64;

// While planning: makes the step's kernel, once per session.
int32_t prepare(mille_session &session, Step step) {
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

int64_t groupsOf(int64_t elements) {
  return (elements + (int64_t)elementItems - 1) / (int64_t)elementItems;
}

// While planning: says that the table must be on the device for every run.
int32_t addTable(mille_session &session, const void *table, uint64_t bytes) {
  Part &part = partOf(session);
  const Memory &memory = session.package->memory;
  for (uint32_t t = 0; t < part.tableCount; ++t)
    if (part.tables[t].begin == table && part.tables[t].bytes >= bytes)
      return 0;
  if (part.tableCount == part.tableRoom) {
    const uint32_t room = part.tableRoom ? part.tableRoom * 2 : 8;
    auto *more =
        (Region *)memory.allocate(memory.user, room * sizeof(Region), 64);
    if (!more)
      return fail(session, "a list of tables", CL_OUT_OF_HOST_MEMORY);
    for (uint32_t t = 0; t < part.tableCount; ++t)
      more[t] = part.tables[t];
    if (part.tables)
      memory.release(memory.user, part.tables);
    part.tables = more;
    part.tableRoom = room;
  }
  part.tables[part.tableCount++] = {(const char *)table, bytes, 0, false};
  return 0;
}

} // namespace

int32_t gather(mille_session &session, const Gather &g) {
  if (session.planning) {
    if (int32_t code = checkGroup(session, elementItems, 0))
      return code;
    if (int32_t code = addTable(session, g.index, (uint64_t)g.count * 4))
      return code;
    return prepare(session, Step::gather);
  }
  const int64_t columns = g.group * g.columns;
  return Call(session, Step::gather)
      .at(g.input)
      .at(g.index)
      .at(g.out)
      .with(g.inputStride)
      .with(g.columns)
      .with(g.group)
      .with(g.perSequence())
      .with(g.tokens)
      .with(g.outStride)
      .run(elementItems, groupsOf(columns), g.rows());
}

int32_t mean(mille_session &session, const Mean &m) {
  if (session.planning) {
    const int32_t code = checkGroup(session, elementItems, 0);
    return code ? code : prepare(session, Step::mean);
  }
  // An argument that the step does not read gets any valid address.
  const bool masked = m.mask && m.tokens;
  const void *input = m.tokens ? m.input : m.out;
  const void *mask = masked ? (const void *)m.mask : m.out;
  return Call(session, Step::mean)
      .at(input)
      .at(mask)
      .at(m.out)
      .with(masked)
      .with(m.inputStride)
      .with(m.columns)
      .with(m.tokens)
      .with(m.first)
      .with(m.outStride)
      .run(elementItems, groupsOf(m.columns), m.sequences);
}

int32_t similarity(mille_session &session, const Similarity &s) {
  if (session.planning) {
    const int32_t code = checkGroup(session, elementItems, 0);
    return code ? code : prepare(session, Step::similarity);
  }
  return Call(session, Step::similarity)
      .at(s.left)
      .at(s.right)
      .at(s.out)
      .with(s.leftStride)
      .with(s.rightStride)
      .with(s.columns)
      .with(s.batch)
      .run(elementItems, groupsOf(s.batch), s.batch);
}

int32_t route(mille_session &session, const Route &r) {
  const uint64_t perEntry = (uint64_t)r.entries * 4;
  partOf(session).used = 0;
  const uint64_t experts = reserve(session, (uint64_t)r.slots() * 4);
  if (!experts)
    return session.stopped();
  if (session.planning) {
    int32_t code =
        checkGroup(session, sortItems, 4 * perEntry + 3 * 4 * sortItems);
    if (code == 0)
      code = prepare(session, Step::route);
    return code ? code : prepare(session, Step::sort);
  }
  const void *bias = r.bias ? r.bias : r.logits;
  if (int32_t code = Call(session, Step::route)
                         .at(r.logits)
                         .at(bias)
                         .at(nullptr, experts)
                         .at(r.weights)
                         .with(r.logitsStride)
                         .with(r.weightsStride)
                         .with(r.entries)
                         .with(r.k)
                         .with(r.sigmoid)
                         .with(r.bias != nullptr)
                         .with(r.groups)
                         .with(r.topGroups)
                         .with(r.sumOfTwo)
                         .with(r.renormalised)
                         .with(r.softmaxChosen)
                         .withReal(r.epsilon)
                         .withReal(r.factor)
                         .withLocal(perEntry)
                         .withLocal(perEntry)
                         .withLocal(perEntry)
                         .withLocal(perEntry)
                         .run(routeItems, r.rows))
    return code;
  return Call(session, Step::sort)
      .at(nullptr, experts)
      .at(r.order)
      .at(r.place)
      .at(r.starts)
      .with(r.slots())
      .with(r.k)
      .with(r.entries)
      .run(sortItems, r.entries);
}

} // namespace mille::opencl
