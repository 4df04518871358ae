// Multiply-adds in registers. Each item has eight sums of sixteen lanes, which a
// CPU keeps in vectors and a GPU in 128 registers. The factors are arguments, so
// that the compiler cannot compute anything in advance.
#define PEAK(NAME, T, TV, MULTIPLY_ADD) \
__kernel void NAME(const int times, const T by, const T more, __global T *out) { \
  TV x[8]; \
  _Pragma("unroll") \
  for (int i = 0; i < 8; i++) x[i] = (TV)((T)get_global_id(0) + (T)i); \
  for (int t = 0; t < times; t++) { \
    x[0] = MULTIPLY_ADD(x[0]); x[1] = MULTIPLY_ADD(x[1]); \
    x[2] = MULTIPLY_ADD(x[2]); x[3] = MULTIPLY_ADD(x[3]); \
    x[4] = MULTIPLY_ADD(x[4]); x[5] = MULTIPLY_ADD(x[5]); \
    x[6] = MULTIPLY_ADD(x[6]); x[7] = MULTIPLY_ADD(x[7]); \
  } \
  TV sum = x[0] + x[1] + x[2] + x[3] + x[4] + x[5] + x[6] + x[7]; \
  T all[16]; \
  vstore16(sum, 0, all); \
  T one = 0; \
  for (int i = 0; i < 16; i++) one += all[i]; \
  out[get_global_id(0)] = one; \
}
#define OF_FLOATS(X) fma(X, (float16)(by), (float16)(more))
#define OF_INTEGERS(X) (X * (int16)(by) + (int16)(more))
PEAK(peak_f32, float, float16, OF_FLOATS)
PEAK(peak_i32, int, int16, OF_INTEGERS)
