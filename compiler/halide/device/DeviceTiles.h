// Chooses the tiles of a matmul on a device by a model of it: registers of a
// work-item, local memory, multiply-adds and words per cycle.
// Must not measure: a kernel is made before its device is known.
#pragma once
#include "compiler/kernels/Spec.h"

#include <string>

namespace mille {

// The model's description of one unit of a device.
struct DeviceDescription {
  const char *name;
  int groupItems;     // in a work-group, at most
  int itemsTogether;  // run in lockstep; a group has twice as many
  int registers;      // f32 that an item holds
  int64_t localBytes; // of a group; 0: local memory is no faster than other
  double multiplies;  // multiply-adds of f32 started in a cycle
  double localWords;  // read from local memory in a cycle
  double globalBytes; // read from far memory's caches in a cycle
  double barrier;     // cycles
};

// A unit of a GPU, and a core of a CPU, which runs a group's items one after
// another.
DeviceDescription gpuDescription();
DeviceDescription coreDescription();

// The part of a matmul that one work-item computes, and the items of a
// work-group.
struct DeviceTile {
  int rows, columns;          // of an item, in every accumulator
  int itemsAcross, itemsDown; // in a group
  int steps;                  // of K in local memory at a time; 0: not used
};
DeviceTile deviceTileOf(const MatmulSpec &matmul,
                        const DeviceDescription &device);

// Cycles of a unit for one step of K of a group, by what is busy.
struct GroupCost {
  double multiplies, local, global, barriers;
  double cycles() const;
};
GroupCost costOf(const MatmulSpec &matmul, const DeviceDescription &device,
                 const DeviceTile &tile);

// The tile and why, as a sentence.
std::string explainTile(const MatmulSpec &matmul,
                        const DeviceDescription &device);

} // namespace mille
