// Runs the runtime's own steps on a device: appends them like kernels, in
// program order. Must not wait for the device.
#include "runtime/cuda/Device.h"

namespace mille::cuda {
namespace {

// The step's text, and whether its kernel waits itself for those before it: the
// products of a token's step would wait for the whole device otherwise.
const char *textFor(const mille_session &session, Step step, bool &early) {
  const Device &device = partOf(session).on();
  early = device.cuda.overlapsKernels() &&
          attributeOf(device.cuda, device.found.device,
                      CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) >= 9 &&
          textOf(step, true);
  return textOf(step, early);
}

// While planning: loads the step's kernel, once per session, and counts its
// launch.
int32_t prepare(mille_session &session, Step step, uint64_t items) {
  Part &part = partOf(session);
  mille_package &package = *session.package;
  Current current(part.on());
  CUfunction &function = part.steps[(int)step];
  CUmodule module;
  if (!function) {
    bool early = false;
    mille_status status =
        moduleOf(package, part.on(), nullptr, textFor(session, step, early),
                 nameOf(step), module);
    if (status != MILLE_OK) {
      session.failed.change(0, status);
      return mille_task_fail(&session.tasks[0], status, "%s",
                             package.message().text);
    }
    int32_t code = functionOf(session, module, nameOf(step), items,
                              /*sharedBytes=*/0, function);
    if (!code && early)
      code = setCarveout(session, nameOf(step), function);
    if (code)
      return code;
  }
  Arguments most;
  most.end = Arguments::most * 8;
  return append(session, {}, most);
}

// Sets the arguments of a step, one after the other, and launches it.
class Call {
public:
  Call(mille_session &session, Step step)
      : session(session), step(step),
        function(partOf(session).steps[(int)step]) {}

  // An address has two arguments: a whole memory's, and the bytes in it.
  Call &at(const void *address, uint64_t temporary = 0) {
    const CUdeviceptr place = addressOf(session, address, temporary);
    fits = fits && place && arguments.add(place) && arguments.add(uint64_t(0));
    return *this;
  }
  Call &with(int64_t value) {
    fits = fits && arguments.add((int32_t)value);
    return *this;
  }
  Call &withReal(double value) {
    fits = fits && arguments.add((float)value);
    return *this;
  }
  // The texts for CUDA have room for the most experts.
  Call &withLocal(uint64_t) { return *this; }

  int32_t run(size_t items, int64_t across, int64_t down = 1) {
    if (!fits)
      return failWith(session, MILLE_INTERNAL,
                      "%s has an argument that is not in the device's memory",
                      nameOf(step));
    if (!across || !down)
      return 0;
    bool early;
    textFor(session, step, early);
    return append(session,
                  {function,
                   {(uint32_t)across, (uint32_t)down, 1},
                   {(uint32_t)items, 1, 1},
                   0,
                   early},
                  arguments);
  }

private:
  mille_session &session;
  const Step step;
  CUfunction function;
  Arguments arguments;
  bool fits = true;
};

} // namespace

int32_t gather(mille_session &session, const Gather &g) {
  if (!session.planning)
    return callGather(Call(session, Step::gather), g);
  if (!partOf(session).regions.addTable(session.package->memory, g.index,
                                        (uint64_t)g.count * 4))
    return fail(session, "a list of tables", CUDA_ERROR_OUT_OF_MEMORY);
  return prepare(session, Step::gather, elementItems);
}

int32_t mean(mille_session &session, const Mean &m) {
  return session.planning ? prepare(session, Step::mean, elementItems)
                          : callMean(Call(session, Step::mean), m);
}

int32_t similarity(mille_session &session, const Similarity &s) {
  return session.planning ? prepare(session, Step::similarity, elementItems)
                          : callSimilarity(Call(session, Step::similarity), s);
}

// Keys and values of a layer, one after the other, are one launch: a step of
// one token takes longer to begin a kernel than to copy.
int32_t remember(mille_session &session, const Remember &r) {
  if (session.planning)
    return prepare(session, Step::remember, elementItems);
  Part &part = partOf(session);
  const Kernel *last = part.commands.lastKernel();
  const bool joins =
      last && last->function == part.steps[(int)Step::remember] &&
      last->blocks[1] == 1 && !session.profiling && r.isBeside(part.remembered);
  if (!joins) {
    part.remembered = r;
    return callRemember(Call(session, Step::remember), r);
  }
  part.commands.dropLast();
  return callRemember(Call(session, Step::remember), part.remembered, &r);
}

int32_t recur(mille_session &session, const Recurrence &r) {
  return session.planning ? prepare(session, Step::recur, elementItems)
                          : callRecur(Call(session, Step::recur), r);
}

int32_t route(mille_session &session, const Route &r) {
  DeviceRegions &regions = partOf(session).regions;
  regions.startKernel();
  const uint64_t experts = regions.reserve(session, (uint64_t)r.slots() * 4);
  if (!experts)
    return session.stopped();
  if (session.planning) {
    const int32_t code = prepare(session, Step::route, routeItems);
    return code ? code : prepare(session, Step::sort, sortItems);
  }
  if (int32_t code = callRoute(Call(session, Step::route), r, experts))
    return code;
  if (int32_t code = tellChoice(session, r, experts))
    return code;
  return callSort(Call(session, Step::sort), r, experts);
}

} // namespace mille::cuda
