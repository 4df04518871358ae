// Dot products of rows. Each item makes that of one pair, by a compensated sum
// (Neumaier), as exact as one in double.
typedef struct { float sum, lost; } Sum;
Sum plus(Sum s, const float x) {
  const float next = s.sum + x;
  s.lost += fabs(s.sum) >= fabs(x) ? s.sum - next + x : x - next + s.sum;
  s.sum = next;
  return s;
}
float of(const Sum s) { return isfinite(s.sum) ? s.sum + s.lost : s.sum; }
__kernel void mille_similarity(
  __global const char *left_object, const ulong left_first,
  __global const char *right_object, const ulong right_first,
  __global char *out_object, const ulong out_first,
  const int left_stride, const int right_stride, const int columns,
  const int batch) {
  __global const float *left =
    (__global const float *)(left_object + left_first);
  __global const float *right =
    (__global const float *)(right_object + right_first);
  __global float *out = (__global float *)(out_object + out_first);
  const int j = get_global_id(0), i = get_global_id(1);
  if (j >= batch)
    return;
  Sum s = {0.0f, 0.0f};
  for (int c = 0; c < columns; ++c)
    s = plus(s, left[(long)i * left_stride + c] *
                right[(long)j * right_stride + c]);
  out[(long)i * batch + j] = of(s);
}
