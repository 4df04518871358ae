// Says where things lie in a session's memory on a device: the regions of a
// run, then tables, states, and temporaries of kernels. Must not call a device:
// a back end takes the memory and copies.
#pragma once
#include "runtime/Session.h"

namespace mille {

// A piece of the session's memory on the device, and the host's memory that it
// mirrors.
struct Region {
  const char *begin;
  uint64_t bytes, offset;
  bool written;        // the device's copy is newer than the host's
  bool staged = false; // it comes by way of the session's pinned memory
};

// Where the bytes are for which an address stands.
struct DevicePlace {
  enum { nowhere, ofSession, ofWeights } in;
  uint64_t offset; // in the session's memory, or in the weights' data
};

// The bytes of a kernel's temporary.
uint64_t temporaryBytes(const mille_buffer &buffer);

class DeviceRegions {
public:
  // False where memory was refused; `bytes` says how much.
  bool make(const mille_model &model, const Memory &memory, uint64_t &bytes);
  void release(const Memory &memory);

  // Makes a region of the run's arena and of each input and output: of a run
  // that begins, or, while planning, of an entry's largest run.
  void place(mille_session &session);
  void plan(mille_session &session);
  // While planning: says that a constant table of the model's code must be on
  // the device for every run. False where memory was refused.
  bool addTable(const Memory &memory, const void *table, uint64_t bytes);
  // After planning: places tables, states and temporaries behind the largest
  // run.
  void layOut(const DeviceStates &states);
  uint64_t bytes() const { return all; } // of the session's memory

  // The arena is region 0; then inputs; then outputs.
  uint32_t count() const { return regionCount; }
  Region &operator[](uint32_t r) { return regions[r]; }
  uint32_t tables() const { return tableCount; }
  const Region &table(uint32_t t) const { return tableList[t]; }
  // What begins as 0: the states of the device alone, those that the host has
  // too, and what is 0 between kernels.
  static constexpr uint32_t stateRegions = 3;
  const Region &states(uint32_t s) const { return stateList[s]; }
  // The region that an address lies in. Null for an address of the weights, or
  // of host memory that has no copy on the device.
  Region *of(const void *address);
  // `temporary`: the handle of a temporary, else 0.
  DevicePlace placeOf(const mille_session &session, const void *address,
                      uint64_t temporary);

  // Memory for a temporary of the kernel that is called now; `startKernel`
  // forgets those of the kernel before, which is safe as a device runs kernels
  // in order. Returns a handle for mille_buffer.device; 0 if there is no room
  // and the run has failed.
  void startKernel() { used = 0; }
  uint64_t reserve(mille_session &session, uint64_t bytes);
  // Memory that is 0 between kernels. While planning: there must be so much.
  void needZeros(uint64_t bytes) {
    zeroBytes = bytes > zeroBytes ? bytes : zeroBytes;
  }
  const Region &zeros() const { return stateList[2]; }

  // What the host writes into activations between kernels is copied first,
  // because the next step may overwrite it before the device has read it. The
  // copies of a run lie one after the other in `given`, memory of the back
  // end's. While planning it only counts; null where the run has failed.
  void setGiven(char *memory) { given = memory; }
  uint64_t givenMost() const { return givenBytes; }
  uint64_t givenNow() const { return givenUsed; } // of this run
  char *copyOf(mille_session &session, const void *from, uint64_t bytes);

private:
  Region *regions = nullptr; // of a run
  uint32_t regionCount = 0;
  uint64_t regionBytes = 0; // of all regions in the largest run
  Region *tableList = nullptr;
  uint32_t tableCount = 0, tableRoom = 0;
  Region stateList[stateRegions] = {};
  uint64_t all = 0, temporaries = 0, used = 0, most = 0;
  char *given = nullptr;
  uint64_t givenBytes = 0, givenUsed = 0, zeroBytes = 0;
};

} // namespace mille
