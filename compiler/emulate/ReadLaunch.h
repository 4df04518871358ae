// The launch of a kernel as an attribute of its gpu.module, for kernels that no
// generator made:
//
//   gpu.module @m attributes {launch = {
//     shared = 2048, tiles = [4], blocks_per_unit = 1, overlaps, apart,
//     buffers = [memref<64x64xbf16>,
//                {type = memref<4xi32>, value = 7 : i32},
//                {type = memref<64x64xbf16>, out}],
//     arguments = [{tensor = 0, box = [64, 64]}, {address = 1}, {tensor = 2,
//       box = [64, 64], extent = [64, [rows, 1, 1]], stride = [0, 128]},
//       {value = 1.5 : f32}, {amount = ["rows", 1, 64]}, {zeros = 4}]}} { ... }
//
// A number of the launch is an integer, or [COUNT, times, per] with COUNT one
// of "rows", "sequences", "queries", "keys".
#pragma once
#include "compiler/emulate/Run.h"
#include "mlir/IR/BuiltinTypes.h"

namespace mille::emulate {

struct WrittenLaunch {
  struct Slot {
    mlir::MemRefType type;
    mlir::Attribute value; // null: drawn
    bool out = false;
  };
  std::vector<Slot> buffers;
  std::vector<mille_launch_argument> arguments;
  std::vector<uint32_t> scalars;
  mille_device_kernel description{}; // its arguments: those above
};

// Failure: an error at the module.
mlir::FailureOr<std::unique_ptr<WrittenLaunch>>
readLaunch(mlir::Operation *kernels);

} // namespace mille::emulate
