// What is not finite after a step, in words: a parameter, a gradient, or the
// launch whose result is the first, which a second run of the step looks for.
// Must not change weights.
#include "runtime/LaunchTask.h"
#include "runtime/train/Trainer.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

using ll = long long;

namespace {

// Whether element `at` of a buffer is a number of f32 or bf16 that is finite;
// numbers of other types are.
bool isFinite(const mille_buffer &buffer, int64_t at) {
  if (buffer.type_code == MILLE_CODE_FLOAT && buffer.type_bits == 32)
    return isfinite(((const float *)buffer.host)[at]);
  constexpr uint16_t exponent = 0x7f80; // of a bf16
  return buffer.type_code != MILLE_CODE_BFLOAT ||
         (((const uint16_t *)buffer.host)[at] & exponent) != exponent;
}

bool areFinite(const mille_buffer &buffer, int32_t dimension, int64_t at) {
  if (dimension < 0)
    return isFinite(buffer, at);
  const mille_dimension &d = buffer.dimension[dimension];
  for (int64_t i = 0; i < d.extent; ++i)
    if (!areFinite(buffer, dimension - 1, at + i * d.stride))
      return false;
  return true;
}

// The out of a stage. The entries of experts without rows may hold anything.
bool isOutFinite(const mille_stage &stage) {
  const mille_buffer &out = mille::outOf(stage);
  const int32_t last = out.dimensions - 1;
  if (!mille::isOutStacked(stage))
    return areFinite(out, last, 0);
  for (int64_t e = 0; e < stage.entries; ++e)
    if (stage.starts[e + 1] > stage.starts[e] &&
        !areFinite(out, last - 1, e * out.dimension[last].stride))
      return false;
  return true;
}

// Looks at the launches of a step in their order.
struct Search {
  const mille_trainer *trainer;
  uint64_t parameter; // that a launch has read last
  bool found;

  void read(const void *address) {
    const char *weights = trainer->weights, *at = (const char *)address;
    if (at < weights || at >= weights + trainer->extent)
      return;
    for (uint64_t p = 0; p < trainer->parameters(); ++p) {
      const char *begin = (const char *)trainer->at(trainer->weights, p);
      if (at >= begin &&
          at < begin + trainer->training->parameters[p].elements * 4)
        parameter = p;
    }
  }

  static int32_t see(void *context, const mille_stage &stage) {
    Search &self = *(Search *)context;
    const mille_buffer &out = mille::outOf(stage);
    for (const mille_buffer *buffer = stage.buffers; buffer != &out; ++buffer)
      self.read(buffer->host);
    self.found = !isOutFinite(stage);
    return self.found ? MILLE_INVALID_INPUT : 0;
  }
};

// The length of a parameter's unit in its name: "layers.3.ffn" of
// "layers.3.ffn.in.weight".
int unitOf(const char *name) {
  const char *end = strstr(name, "layers.");
  for (int dots = 0; end && *end; ++end)
    if (*end == '.' && ++dots == 3)
      return (int)(end - name);
  end = strrchr(name, '.');
  return (int)(end ? end - name : strlen(name));
}

} // namespace

bool mille_trainer::describeNumbers(double loss, char *text,
                                    size_t size) const {
  for (uint64_t p = 0; p < parameters(); ++p) {
    const float *values = at(weights, p);
    for (uint64_t i = 0; i < training->parameters[p].elements; ++i)
      if (!isfinite(values[i])) {
        snprintf(text, size, "parameter %s has the value %g", nameOf(p),
                 values[i]);
        return true;
      }
  }
  // The loop back goes from the last layer to the first: the last parameter in
  // the model's order whose gradient is not finite is the first that it met.
  for (uint64_t p = parameters(); isfinite(loss) && p-- > 0;)
    if (!isfinite(numbers[p])) {
      snprintf(text, size, "the gradient of %s is not finite", nameOf(p));
      return torn;
    }
  return false;
}

// The weights must be those that the step began with.
bool mille_trainer::findPlace(const mille_size *sizes, size_t count,
                              const void *const *given, bool forward,
                              char *text, size_t size) {
  Search search = {this, parameters(), false};
  int32_t (*const update)(void *) = session->update;
  session->update = nullptr;
  session->watch = Search::see;
  session->watchContext = &search;
  clearGradients();
  double loss = 0;
  int64_t labels = 0;
  runParts(training->step_entry, sizes, count, given, loss, labels);
  session->watch = nullptr;
  session->update = update;
  dirty = true;
  if (!search.found || search.parameter == parameters())
    return false;
  const char *name = nameOf(search.parameter);
  snprintf(text, size,
           "all parameters are finite, and the first number that is not comes "
           "on the way %s, in %.*s behind %s",
           forward ? "forward" : "back", unitOf(name), name, name);
  return true;
}

mille_status mille_trainer::failStep(const mille_size *sizes, size_t count,
                                     const void *const *given, double loss,
                                     double norm) {
  char why[384] = "all parameters are finite";
  torn = updatesDone > 0;
  if (!describeNumbers(loss, why, sizeof why))
    findPlace(sizes, count, given, !isfinite(loss), why, sizeof why);
  return message.set(MILLE_INVALID_INPUT,
                     "the loss of step %lld is %g and its gradient's length "
                     "%g: %s; %s",
                     (ll)step + 1, loss, norm, why,
                     torn ? "layers above it have changed: load a checkpoint"
                          : "the weights are as before the step");
}
