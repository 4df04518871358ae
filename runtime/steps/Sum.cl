// Compensated sums (Neumaier): `lost` collects the rounding error of each
// addition, which makes them as exact as sums in double.
typedef struct { float sum, lost; } Sum;
Sum plus(Sum s, const float x) {
  const float next = s.sum + x;
  s.lost += fabs(s.sum) >= fabs(x) ? s.sum - next + x : x - next + s.sum;
  s.sum = next;
  return s;
}
float of(const Sum s) { return isfinite(s.sum) ? s.sum + s.lost : s.sum; }
