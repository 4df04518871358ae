// The biases of one attention's scores, sorted by how the kernel reads them.
// Must be used by ConvertAttention and ConvertBias only.
#pragma once
#include "compiler/fuse/Converter.h"

namespace mille {

struct Converter::Biases {
  mlir::DenseF64ArrayAttr slopes;
  mlir::Value keyHeadBias, contentQuery, contentKey;
  mlir::Attribute table;              // the value of `bias`, null: none
  mlir::Operation *trained = nullptr; // distance_bias or pair_bias instead of a
                                      // table: it changes
  kernel::BiasBy by = kernel::BiasBy::distance;
};

} // namespace mille
