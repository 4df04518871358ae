// The passes of this room: from unrolled `transformer` ops to fused `kernel` ops.
#ifndef MILLE_FUSE_PASSES
#define MILLE_FUSE_PASSES
include "mlir/Pass/PassBase.td"

def Roll : Pass<"roll", "::mille::transformer::ModelOp"> {
  let summary = "equal layers become one body and a table";
  let description = [{
    ```
    %1 = transformer.residual %0 ... layer 0   // @layers.0.w
    %2 = transformer.residual %1 ... layer 1   // @layers.1.w
    ==>
    %2 = transformer.layers %0 slots [["layers.*.w"]] bodies [0, 0]
        table [[@layers.0.w], [@layers.1.w]] { ... @"layers.*.w" ... }
    ```
    Layers are equal when their ops are, but for parameter symbols (which must
    repeat in the same pattern and have the same types), the values of constant
    scales, `layer`, and `keep` indices that advance with the layer. A `keep` of
    a layer's input moves into the layer.

    Does not fire across a value of the stream that something else reads: there
    the stretch ends and a new one begins.
  }];
  let dependentDialects = ["::mille::transformer::TransformerDialect"];
}

def ConvertToKernel : Pass<"convert-to-kernel", "::mille::transformer::ModelOp"> {
  let summary = "one kernel op per transformer op, on [rows, channels]";
  let description = [{
    ```
    func.func @forward(%ids: tensor<?x?xi32>) { ... transformer.linear ... }
    ==>
    func.func @forward(%batch: index, %tokens: index, %ids: tensor<?xi32>) {
      ... kernel.matmul ... kernel.rows ...
    }
    ```
    Fuses nothing, but for `rotate`, which only `kernel.attention` can do: both
    the query and the key must be rotated, alike, and read by that attention
    only; anything else is an error that names the rotate.
  }];
  let dependentDialects = ["::mille::kernel::KernelDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::math::MathDialect",
                           "::mlir::tensor::TensorDialect"];
}
#endif
