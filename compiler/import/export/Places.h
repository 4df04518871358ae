// Where the elements of a parameter lie among tensors of files: the importer's
// expression of a parameter, read as a list of places. Must not read a number.
#pragma once
#include "dialects/transformer/Transformer.h"

#include <optional>
#include <vector>

namespace mille::import {

struct Places {
  llvm::SmallVector<int64_t> shape;
  std::vector<int64_t> at; // of each element, row-major; -1: a zero of no file
};

// The places of an expression's elements; those of a stored tensor follow each
// other from `begin` on. Nothing if the expression computes a number.
std::optional<Places>
placesOf(mlir::Attribute value,
         llvm::function_ref<int64_t(transformer::StoredAttr)> begin,
         transformer::ResolveSymbol resolve);

} // namespace mille::import
