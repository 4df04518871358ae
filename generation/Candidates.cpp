// Sorts, weighs and cuts the candidates of a draw, in double.
// Must not know how a logit came about.
#include "generation/Drawing.h"

#include <math.h>

namespace mille::generation {

namespace {

bool isLikelier(const Candidate &a, const Candidate &b) {
  return a.logit > b.logit || (a.logit == b.logit && a.id < b.id);
}

bool isNearer(const Candidate &a, const Candidate &b) {
  return a.order < b.order || (a.order == b.order && isLikelier(a, b));
}

using IsBefore = bool (*)(const Candidate &, const Candidate &);

void swap(Candidate &a, Candidate &b) {
  const Candidate held = a;
  a = b;
  b = held;
}

// A heap whose first item is after all others, from `at` down.
template <IsBefore isBefore>
void sift(Candidate *list, int64_t count, int64_t at) {
  for (int64_t child; (child = 2 * at + 1) < count; at = child) {
    if (child + 1 < count && isBefore(list[child], list[child + 1]))
      ++child;
    if (!isBefore(list[at], list[child]))
      return;
    swap(list[child], list[at]);
  }
}

// The first `most` in order, before all others. A heap has those that are first
// of what was seen: with few of many, most items are compared once.
template <IsBefore isBefore>
void order(Candidate *list, int64_t count, int64_t most) {
  for (int64_t at = most / 2; at-- > 0;)
    sift<isBefore>(list, most, at);
  for (int64_t i = most; i < count; ++i)
    if (isBefore(list[i], list[0])) {
      swap(list[0], list[i]);
      sift<isBefore>(list, most, 0);
    }
  for (int64_t left = most; left > 1;) {
    swap(list[0], list[--left]);
    sift<isBefore>(list, left, 0);
  }
}

double sum(const Candidate *list, int64_t count) {
  double all = 0;
  for (int64_t i = 0; i < count; ++i)
    all += list[i].weight;
  return all;
}

} // namespace

void Candidates::keepLikeliest(int64_t most) {
  most = most < count ? most : count;
  order<isLikelier>(list, count, most);
  count = most;
}

void Candidates::weigh(double temperature) {
  const double largest = list[0].logit;
  for (int64_t i = 0; i < count; ++i)
    list[i].weight = list[i].logit == largest // infinite ones differ by none
                         ? 1
                         : exp((list[i].logit - largest) / temperature);
}

void Candidates::keepShare(double share) {
  const double enough = share * sum(list, count);
  double kept = 0;
  int64_t most = 0;
  while (most < count && (most == 0 || kept < enough))
    kept += list[most++].weight;
  count = most;
}

void Candidates::keepTypical(double share) {
  const double all = sum(list, count);
  double expected = 0;
  for (int64_t i = 0; i < count; ++i) {
    const double p = list[i].weight / all;
    list[i].order = -log(p); // its surprise; infinite where p is 0
    expected += p > 0 ? p * list[i].order : 0;
  }
  for (int64_t i = 0; i < count; ++i)
    list[i].order = fabs(list[i].order - expected);
  order<isNearer>(list, count, count);
  keepShare(share);
  order<isLikelier>(list, count, count);
}

void Candidates::keepOver(double weight) {
  while (count > 1 && list[count - 1].weight < weight)
    --count;
}

int32_t Candidates::at(double share) const {
  double left = share * sum(list, count);
  for (int64_t i = 0; i < count; ++i)
    if ((left -= list[i].weight) < 0)
      return list[i].id;
  return list[count - 1].id;
}

// SplitMix64 of each.
double drawnNumber(uint64_t seed, uint64_t counter) {
  const auto mix = [](uint64_t x) {
    x += 0x9e3779b97f4a7c15;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
  };
  return (double)(mix(mix(seed) ^ counter) >> 11) * 0x1p-53;
}

} // namespace mille::generation
