// What is added to the scores of one attention: its biases, sorted by how the
// kernel reads them. Private to ConvertAttention and ConvertBias.
#pragma once
#include "compiler/fuse/Converter.h"

namespace mille {

struct Converter::Biases {
  mlir::DenseF64ArrayAttr slopes;
  mlir::Value keyHeadBias, contentQuery, contentKey;
  mlir::Attribute table; // the value of `bias`, null: none
  kernel::BiasBy by = kernel::BiasBy::distance;
};

} // namespace mille
