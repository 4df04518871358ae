// Lets attention read the few channels that keys and values are made of.
// Must not know a family, nor which states hold them.
#pragma once
#include "compiler/entries/DeriveEntries.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mille::entries {

// Where the keys of all heads are a sum of linears of narrow rows x_i, and
// their values a linear of one of these, a query meets a key in x_i as well:
//
//   q_h . (A_h x_1 + B_h x_2) = (A_h^T q_h) . x_1 + (B_h^T q_h) . x_2
//   sum_j w_j (V_h x_1j)      = V_h (sum_j w_j x_1j)
//
// So all heads share one key, x_1 and x_2 side by side, and one value, x_1:
// with LatentRows::one the first columns of the key itself. The weights A_h,
// B_h and V_h go to the query and to the out, by head. Done where key and value
// have fewer columns so than before.
void attendLatent(mlir::func::FuncOp entry, LatentRows rows);

} // namespace mille::entries
