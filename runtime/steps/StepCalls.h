// The kernels of the runtime's own steps, the texts of this folder: their
// names, their arguments in order, and their work-groups. A back end's Call
// sets arguments (at, with, withReal, withLocal) and launches (run).
// Must not know a kind of device.
#pragma once
#include "runtime/Steps.h"

#include <stddef.h>

namespace mille {

enum class Step : uint8_t {
  gather,
  mean,
  similarity,
  route,
  sort,
  remember,
  recur
};
constexpr int stepCount = (int)Step::recur + 1;

inline const char *nameOf(Step step) {
  constexpr const char *names[stepCount] = {
      "mille_gather", "mille_mean",     "mille_similarity", "mille_route",
      "mille_sort",   "mille_remember", "mille_recur"};
  return names[(int)step];
}

// Items per work-group: of steps that have an item per element, ...
constexpr size_t elementItems = 64;
// ... and of those whose text has the number (ITEMS).
constexpr size_t routeItems = 32, sortItems = 64;

inline int64_t groupsOf(int64_t elements) {
  return (elements + (int64_t)elementItems - 1) / (int64_t)elementItems;
}

template <typename Call> int32_t callGather(Call call, const Gather &g) {
  const int64_t columns = g.group * g.columns;
  return call.at(g.input)
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

template <typename Call> int32_t callMean(Call call, const Mean &m) {
  // An argument that the step does not read gets any valid address.
  const bool masked = m.mask && m.tokens;
  const void *input = m.tokens ? m.input : m.out;
  const void *mask = masked ? (const void *)m.mask : m.out;
  return call.at(input)
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

template <typename Call>
int32_t callSimilarity(Call call, const Similarity &s) {
  return call.at(s.left)
      .at(s.right)
      .at(s.out)
      .with(s.leftStride)
      .with(s.rightStride)
      .with(s.columns)
      .with(s.batch)
      .run(elementItems, groupsOf(s.batch), s.batch);
}

// `experts`: a temporary of slots() numbers.
template <typename Call>
int32_t callRoute(Call call, const Route &r, uint64_t experts) {
  const uint64_t perEntry = (uint64_t)r.entries * 4;
  const void *bias = r.bias ? r.bias : r.logits;
  return call.at(r.logits)
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
      .run(routeItems, r.rows);
}

template <typename Call>
int32_t callSort(Call call, const Route &r, uint64_t experts) {
  return call.at(nullptr, experts)
      .at(r.order)
      .at(r.place)
      .at(r.starts)
      .with(r.slots())
      .with(r.k)
      .with(r.entries)
      .run(sortItems, r.entries);
}

// `other`: of as many rows behind as many, in the same launch; or null.
template <typename Call>
int32_t callRemember(Call call, const Remember &r,
                     const Remember *other = nullptr) {
  const Remember &second = other ? *other : r;
  return call.at(r.input)
      .at(r.past ? (const void *)r.past : r.input)
      .at(r.entry)
      .at(second.input)
      .at(second.entry)
      .with(r.past != nullptr)
      .with(r.tokens)
      .with(r.stateRows)
      .with(r.inputStride)
      .with(r.rowBytes)
      .with(r.unit())
      .with(second.inputStride)
      .with(second.rowBytes)
      .with(second.unit())
      .run(elementItems, r.rows(), other ? 2 : 1);
}

template <typename Call> int32_t callRecur(Call call, const Recurrence &r) {
  return call.at(r.query)
      .at(r.key)
      .at(r.value)
      .at(r.mask ? (const void *)r.mask : r.past)
      .at(r.decay)
      .at(r.past)
      .at(r.entry)
      .at(r.out)
      .with(r.queryStride)
      .with(r.keyStride)
      .with(r.valueStride)
      .with(r.outStride)
      .with(r.mask != nullptr)
      .with(r.heads)
      .with(r.kvHeads)
      .with(r.headDim)
      .with(r.valueDim)
      .with(r.tokens)
      .with(r.ends)
      .withReal(r.scale)
      .run(elementItems, r.sequences * r.heads);
}

} // namespace mille
