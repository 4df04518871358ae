/* What Halide's errors read like, and that each returns its own code. This file
 * stands in for the runtime: mille_task_*. */
#include "FakeModel.h"

#include <stdarg.h>
#include <string.h>

static char text[512];

int32_t mille_task_fail(mille_task *task, int32_t code, const char *format,
                        ...) {
  CHECK(task == (mille_task *)text);
  va_list values;
  va_start(values, format);
  vsnprintf(text, sizeof text, format, values);
  va_end(values);
  return code;
}

void *mille_task_allocate(mille_task *task, size_t bytes) {
  return bytes == 96 ? task : NULL;
}

static void *released;
void mille_task_release(mille_task *task, void *memory) {
  CHECK(task == (mille_task *)text);
  released = memory;
}

void *halide_malloc(void *, size_t);
void halide_free(void *, void *);
void halide_error(void *, const char *);
int halide_error_explicit_bounds_too_small(void *, const char *, const char *,
                                           int, int, int, int);
int halide_error_bad_type(void *, const char *, uint32_t, uint32_t);
int halide_error_bad_dimensions(void *, const char *, int32_t, int32_t);
int halide_error_access_out_of_bounds(void *, const char *, int, int, int, int,
                                      int);
int halide_error_buffer_allocation_too_large(void *, const char *, uint64_t,
                                             uint64_t);
int halide_error_buffer_extents_negative(void *, const char *, int, int);
int halide_error_buffer_extents_too_large(void *, const char *, int64_t,
                                          int64_t);
int halide_error_constraints_make_required_region_smaller(void *, const char *,
                                                          int, int, int, int,
                                                          int);
int halide_error_constraint_violated(void *, const char *, int, const char *,
                                     int);
int halide_error_param_too_small_i64(void *, const char *, int64_t, int64_t);
int halide_error_param_too_small_u64(void *, const char *, uint64_t, uint64_t);
int halide_error_param_too_small_f64(void *, const char *, double, double);
int halide_error_param_too_large_i64(void *, const char *, int64_t, int64_t);
int halide_error_param_too_large_u64(void *, const char *, uint64_t, uint64_t);
int halide_error_param_too_large_f64(void *, const char *, double, double);
int halide_error_out_of_memory(void *);
int halide_error_buffer_argument_is_null(void *, const char *);
int halide_error_unaligned_host_ptr(void *, const char *, int);
int halide_error_host_is_null(void *, const char *);
int halide_error_bad_fold(void *, const char *, const char *, const char *);
int halide_error_bad_extern_fold(void *, const char *, int, int, int, int, int);
int halide_error_fold_factor_too_small(void *, const char *, const char *, int,
                                       const char *, int);
int halide_error_requirement_failed(void *, const char *, const char *);
int halide_error_specialize_fail(void *, const char *);
int halide_error_buffer_is_null(void *, const char *);
int halide_error_storage_bound_too_small(void *, const char *, const char *,
                                         int, int);
int halide_error_split_factor_not_positive(void *, const char *, const char *,
                                           const char *, const char *,
                                           const char *, int);
int halide_error_no_device_interface(void *);
int halide_error_device_interface_no_device(void *);
int halide_error_host_and_device_dirty(void *);
int halide_error_device_dirty_with_no_device_support(void *, const char *);

#define SAYS(code, sentence, function, ...)                                    \
  do {                                                                         \
    CHECK(halide_error_##function(text, ##__VA_ARGS__) == code);               \
    if (strcmp(text, sentence) != 0) {                                         \
      fprintf(stderr, "got \"%s\", expected \"%s\"\n", text, sentence);        \
      return 1;                                                                \
    }                                                                          \
  } while (0)

int main(void) {
  CHECK(halide_malloc(text, 96) == text && !halide_malloc(text, 97));
  halide_free(text, &released);
  CHECK(released == &released);
  halide_error(text, "something");
  CHECK(strcmp(text, "something") == 0);
  SAYS(-2, "bounds of x over f are 0 to 7 but 0 to 9 is needed",
       explicit_bounds_too_small, "f", "x", 0, 7, 0, 9);
  SAYS(-3, "f has type 0x12002 but must have 0x12001", bad_type, "f", 0x12002,
       0x12001);
  SAYS(-43, "f has 2 dimensions but must have 3", bad_dimensions, "f", 2, 3);
  SAYS(-4, "f is accessed at -1 to 7 in dimension 1 but holds 0 to 6",
       access_out_of_bounds, "f", 1, -1, 7, 0, 6);
  SAYS(-5, "f needs 8589934592 bytes but at most 2147483647 are possible",
       buffer_allocation_too_large, "f", 8589934592u, 2147483647);
  SAYS(-28, "f has extent -2 in dimension 1", buffer_extents_negative, "f", 1,
       -2);
  SAYS(-6, "f has 5000000000 elements but at most 2147483647 are possible",
       buffer_extents_too_large, "f", 5000000000, 2147483647);
  SAYS(-7, "f is constrained to 0 of 4 in dimension 1 but needs 0 of 8",
       constraints_make_required_region_smaller, "f", 1, 0, 4, 0, 8);
  SAYS(-8, "f.stride.0 is 2 but 1 is 1", constraint_violated, "f.stride.0", 2,
       "1", 1);
  SAYS(-9, "p is -3 but must be at least 1", param_too_small_i64, "p", -3, 1);
  SAYS(-9, "p is 0 but must be at least 1", param_too_small_u64, "p", 0, 1);
  SAYS(-9, "p is 0.5 but must be at least 1", param_too_small_f64, "p", 0.5, 1);
  SAYS(-10, "p is 9 but must be at most 8", param_too_large_i64, "p", 9, 8);
  SAYS(-10, "p is 9 but must be at most 8", param_too_large_u64, "p", 9, 8);
  SAYS(-10, "p is 8.5 but must be at most 8", param_too_large_f64, "p", 8.5, 8);
  SAYS(-11, "a kernel's scratch is used up", out_of_memory);
  SAYS(-12, "f is null", buffer_argument_is_null, "f");
  SAYS(-24, "f is not aligned to 64 bytes", unaligned_host_ptr, "f", 64);
  SAYS(-34, "f has no memory", host_is_null, "f");
  SAYS(-25, "f folded over x is not walked in order by y", bad_fold, "f", "x",
       "y");
  SAYS(-35, "f needs 4 of 8 in dimension 1, which a fold by 8 from 0 lacks",
       bad_extern_fold, "f", 1, 4, 8, 0, 8);
  SAYS(-26, "f folded over x by 4 in y but needs 6", fold_factor_too_small, "f",
       "x", 4, "y", 6);
  SAYS(-27, "a does not hold: b", requirement_failed, "a", "b");
  SAYS(-31, "no specialization fits: b", specialize_fail, "b");
  SAYS(-38, "f got a null buffer", buffer_is_null, "f");
  SAYS(-45, "f has room for 4 over x but needs 8", storage_bound_too_small, "f",
       "x", 4, 8);
  SAYS(-46, "f splits x into o and i by n, which is 0",
       split_factor_not_positive, "f", "x", "o", "i", "n", 0);
  SAYS(-22, "a buffer has no device interface", no_device_interface);
  SAYS(-22, "a buffer has a device interface but no device",
       device_interface_no_device);
  SAYS(-22, "a buffer is changed on host and device", host_and_device_dirty);
  SAYS(-22, "f is changed on a device but there is none",
       device_dirty_with_no_device_support, "f");
  return 0;
}
