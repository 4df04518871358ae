// The functions that Halide's code calls, in terms of the runtime's. link
// merges this file into each model's object and makes it local there.
// Must not be in the runtime itself, or a program that uses Halide would find
// two.
#include "runtime/abi.h"

namespace {
// Halide's codes (halide_error_code_t), which kernels return.
enum : int32_t {
  generic = -1,
  explicitBoundsTooSmall = -2,
  badType = -3,
  outOfBounds = -4,
  allocationTooLarge = -5,
  extentsTooLarge = -6,
  constraintsTooSmall = -7,
  constraintViolated = -8,
  paramTooSmall = -9,
  paramTooLarge = -10,
  outOfMemory = -11,
  argumentIsNull = -12,
  internal = -22,
  unalignedHost = -24,
  badFold = -25,
  foldFactorTooSmall = -26,
  requirementFailed = -27,
  extentsNegative = -28,
  specializeFail = -31,
  hostIsNull = -34,
  badExternFold = -35,
  bufferIsNull = -38,
  badDimensions = -43,
  storageBoundTooSmall = -45,
  splitFactor = -46
};

mille_task *taskOf(void *context) { return static_cast<mille_task *>(context); }
using ll = long long;
using ull = unsigned long long;
} // namespace

#define FAIL(...) return mille_task_fail(taskOf(context), __VA_ARGS__)

extern "C" {

void *halide_malloc(void *context, size_t bytes) {
  return mille_task_allocate(taskOf(context), bytes);
}

void halide_free(void *context, void *memory) {
  mille_task_release(taskOf(context), memory);
}

void halide_error(void *context, const char *text) {
  mille_task_fail(taskOf(context), generic, "%s", text);
}

int halide_error_explicit_bounds_too_small(void *context, const char *func,
                                           const char *var, int low, int high,
                                           int lowNeeded, int highNeeded) {
  FAIL(explicitBoundsTooSmall,
       "bounds of %s over %s are %d to %d but %d to %d is needed", var, func,
       low, high, lowNeeded, highNeeded);
}

int halide_error_bad_type(void *context, const char *func, uint32_t given,
                          uint32_t correct) {
  FAIL(badType, "%s has type 0x%x but must have 0x%x", func, given, correct);
}

int halide_error_bad_dimensions(void *context, const char *func, int32_t given,
                                int32_t correct) {
  FAIL(badDimensions, "%s has %d dimensions but must have %d", func, given,
       correct);
}

int halide_error_access_out_of_bounds(void *context, const char *func,
                                      int dimension, int low, int high,
                                      int lowValid, int highValid) {
  FAIL(outOfBounds,
       "%s is accessed at %d to %d in dimension %d but holds %d "
       "to %d",
       func, low, high, dimension, lowValid, highValid);
}

int halide_error_buffer_allocation_too_large(void *context, const char *buffer,
                                             uint64_t size, uint64_t most) {
  FAIL(allocationTooLarge, "%s needs %llu bytes but at most %llu are possible",
       buffer, (ull)size, (ull)most);
}

int halide_error_buffer_extents_negative(void *context, const char *buffer,
                                         int dimension, int extent) {
  FAIL(extentsNegative, "%s has extent %d in dimension %d", buffer, extent,
       dimension);
}

int halide_error_buffer_extents_too_large(void *context, const char *buffer,
                                          int64_t size, int64_t most) {
  FAIL(extentsTooLarge, "%s has %lld elements but at most %lld are possible",
       buffer, (ll)size, (ll)most);
}

int halide_error_constraints_make_required_region_smaller(
    void *context, const char *buffer, int dimension, int low, int extent,
    int lowNeeded, int extentNeeded) {
  FAIL(constraintsTooSmall,
       "%s is constrained to %d of %d in dimension %d but needs %d of %d",
       buffer, low, extent, dimension, lowNeeded, extentNeeded);
}

int halide_error_constraint_violated(void *context, const char *var, int value,
                                     const char *constrained, int expected) {
  FAIL(constraintViolated, "%s is %d but %s is %d", var, value, constrained,
       expected);
}

int halide_error_param_too_small_i64(void *context, const char *param,
                                     int64_t value, int64_t least) {
  FAIL(paramTooSmall, "%s is %lld but must be at least %lld", param, (ll)value,
       (ll)least);
}

int halide_error_param_too_small_u64(void *context, const char *param,
                                     uint64_t value, uint64_t least) {
  FAIL(paramTooSmall, "%s is %llu but must be at least %llu", param, (ull)value,
       (ull)least);
}

int halide_error_param_too_small_f64(void *context, const char *param,
                                     double value, double least) {
  FAIL(paramTooSmall, "%s is %g but must be at least %g", param, value, least);
}

int halide_error_param_too_large_i64(void *context, const char *param,
                                     int64_t value, int64_t most) {
  FAIL(paramTooLarge, "%s is %lld but must be at most %lld", param, (ll)value,
       (ll)most);
}

int halide_error_param_too_large_u64(void *context, const char *param,
                                     uint64_t value, uint64_t most) {
  FAIL(paramTooLarge, "%s is %llu but must be at most %llu", param, (ull)value,
       (ull)most);
}

int halide_error_param_too_large_f64(void *context, const char *param,
                                     double value, double most) {
  FAIL(paramTooLarge, "%s is %g but must be at most %g", param, value, most);
}

int halide_error_out_of_memory(void *context) {
  FAIL(outOfMemory, "a kernel's scratch is used up");
}

int halide_error_buffer_argument_is_null(void *context, const char *buffer) {
  FAIL(argumentIsNull, "%s is null", buffer);
}

int halide_error_unaligned_host_ptr(void *context, const char *func,
                                    int alignment) {
  FAIL(unalignedHost, "%s is not aligned to %d bytes", func, alignment);
}

int halide_error_host_is_null(void *context, const char *func) {
  FAIL(hostIsNull, "%s has no memory", func);
}

int halide_error_bad_fold(void *context, const char *func, const char *var,
                          const char *loop) {
  FAIL(badFold, "%s folded over %s is not walked in order by %s", func, var,
       loop);
}

int halide_error_bad_extern_fold(void *context, const char *func, int dimension,
                                 int low, int extent, int valid, int factor) {
  FAIL(badExternFold,
       "%s needs %d of %d in dimension %d, which a fold by %d from %d lacks",
       func, low, extent, dimension, factor, valid);
}

int halide_error_fold_factor_too_small(void *context, const char *func,
                                       const char *var, int factor,
                                       const char *loop, int needed) {
  FAIL(foldFactorTooSmall, "%s folded over %s by %d in %s but needs %d", func,
       var, factor, loop, needed);
}

int halide_error_requirement_failed(void *context, const char *condition,
                                    const char *text) {
  FAIL(requirementFailed, "%s does not hold: %s", condition, text);
}

int halide_error_specialize_fail(void *context, const char *text) {
  FAIL(specializeFail, "no specialization fits: %s", text);
}

int halide_error_buffer_is_null(void *context, const char *routine) {
  FAIL(bufferIsNull, "%s got a null buffer", routine);
}

int halide_error_storage_bound_too_small(void *context, const char *func,
                                         const char *var, int given,
                                         int needed) {
  FAIL(storageBoundTooSmall, "%s has room for %d over %s but needs %d", func,
       given, var, needed);
}

int halide_error_split_factor_not_positive(void *context, const char *func,
                                           const char *original,
                                           const char *outer, const char *inner,
                                           const char *text, int factor) {
  FAIL(splitFactor, "%s splits %s into %s and %s by %s, which is %d", func,
       original, outer, inner, text, factor);
}

// Never called on the CPU, but Halide's code for buffers refers to it.
int halide_error_no_device_interface(void *context) {
  FAIL(internal, "a buffer has no device interface");
}

int halide_error_device_interface_no_device(void *context) {
  FAIL(internal, "a buffer has a device interface but no device");
}

int halide_error_host_and_device_dirty(void *context) {
  FAIL(internal, "a buffer is changed on host and device");
}

int halide_error_device_dirty_with_no_device_support(void *context,
                                                     const char *buffer) {
  FAIL(internal, "%s is changed on a device but there is none", buffer);
}
}
