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
    scales, the scale of an attention (which moves to `layer_scale`), `layer`, and
    `keep` indices that advance with the layer. With `by-encoding` what is stored in
    other blocks differs too, so that a body's matmuls read one kind; so do weights
    with another `dtype`. A `keep` of
    a layer's input moves into the layer.

    Does not fire across a value of the stream that something else reads: there
    the stretch ends and a new one begins.
  }];
  let options = [Option<"byEncoding", "by-encoding", "bool", "false",
                        "layers that are stored in other blocks are not equal">];
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
    Fuses nothing, but for rotations of query and key, alike, that only attention
    reads: these are in its prologue; others are a `kernel.rotate`. Values of
    different rows (batch * tokens, batch * decoder_tokens, batch * n, slots of
    experts) are not mixed: where an op reads two sorts, that is an error.
  }];
  let dependentDialects = ["::mille::kernel::KernelDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::math::MathDialect",
                           "::mlir::tensor::TensorDialect"];
}

// A fusion: writes the func attribute `kernel.fusions`; each one declined is also
// a remark of the category `fuse`.
class FusePass<string flag> : Pass<flag, "::mille::transformer::ModelOp"> {
  let dependentDialects = ["::mille::kernel::KernelDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::math::MathDialect",
                           "::mlir::tensor::TensorDialect"];
}

def FuseBiasActivation : FusePass<"fuse-bias-activation"> {
  let summary = "bias, scale and activation into the matmul's epilogue";
  let description = [{
    ```
    %0 = kernel.matmul %x, %w {acc}
    %1 = kernel.rows ins(%0, %bias) {f(x + bias)}
    ==>
    %1 = kernel.matmul %x, %w extras(%bias) {f(acc + bias)}
    ```
    Does not fire where the product has another reader. Saves a launch, and a
    write and a read of the product.
  }];
}

def FuseQkv : FusePass<"fuse-qkv"> {
  let summary = "the projections of query, key and value into one matmul";
  let description = [{
    ```
    %q = kernel.matmul %x, %wq extras(%bq) ...
    %k = kernel.matmul %x, %wk ...
    %v = kernel.matmul %x, %wv extras(%bv) ...
    kernel.attention %q, %k, %v ... offsets [0, 0, 0]
    ==>
    %qkv = kernel.matmul %x, concat<@wq, @wk, @wv> extras(concat<@bq, 0, @bv>) ...
    kernel.attention %qkv, %qkv, %qkv ... offsets [0, Q, Q + K]
    ```
    Two of them, where the third has another input, epilogue or norm. Norms of
    heads that are equal but for their weights become one. Does not fire where the
    inputs or epilogues differ, or a projection has another reader. Saves two
    launches and two reads of the input.
  }];
}

def FuseGateUp : FusePass<"fuse-gate-up"> {
  let summary = "gate and up and what joins them into one matmul with two accumulators";
  let description = [{
    ```
    %g = kernel.matmul %x, %wg ...
    %u = kernel.matmul %x, %wu ...
    %h = kernel.rows ins(%g, %u) {silu(g) * u}
    ==>
    %h = kernel.matmul %x, concat<@wg, @wu> accumulators 2 {silu(acc0) * acc1}
    ```
    Does not fire where a product has another reader. Saves two launches, a read
    of the input, and a write and a read of both products.
  }];
}

def FuseResidual : FusePass<"fuse-residual"> {
  let summary = "the residual sum with its scales into the kernel that makes the branch";
  let description = [{
    ```
    %0 = kernel.matmul %h, %w extras(%bias) {acc + bias}
    %1 = kernel.rows ins(%x, %0) {A * x + B * branch}
    ==>
    %1 = kernel.matmul %h, %w extras(%bias, %x) {A * x + B * (acc + bias)}
    ```
    Where a branch has a norm of its own, the sum goes into the norm's kernel; of
    several branches, into the one that is made last. Does not fire where the
    branch's value has another reader. Saves a launch, and a write and a read of
    the branch.
  }];
}

def CarryNorm : FusePass<"carry-norm"> {
  let summary = "norms that begin a layer move to the end of the layer before";
  let description = [{
    ```
    %y = kernel.layers %x slots [["n"]] table [[@n0], [@n1]] {
    ^bb0(%s):
      %u = norm(%s) by @n   ...   kernel.yield %t
    }
    %z = norm(%y) by @final
    ==>
    %u0 = norm(%x) by @n0
    %y, %z = kernel.layers %x, %u0 slots [["n", "next.n"]]
        table [[@n0, @n1], [@n1, @final]] {
    ^bb0(%s, %u):
      ...   %v = norm(%t) by @next.n   kernel.yield %t, %v
    }
    ```
    Then a norm is in the same body as the sum that it reads, so that
    fuse-add-norm can group them; the first norm follows the embedding, the last
    is the final norm. Without an equal final norm the last layer's is done for
    nothing. A stream that only norms read is not handed over. Fires where all
    layers begin with the same norms but for their parameters.
  }];
}

def FuseAddNorm : FusePass<"fuse-add-norm"> {
  let summary = "norms into the launch of the kernel that makes the sum they read";
  let description = [{
    ```
    %0 = kernel.matmul ... {A * x + B * branch}
    %1 = kernel.rows ins(%0, ...) norm <layer, ...>
    ==>
    %0, %1 = kernel.launch { matmul, then rows }
    ```
    A chain (branch norm and sum, then the next unit's norm) is one launch. Does
    not fire across the layer loop; see carry-norm. Saves a launch and a read of
    the sum from memory.
  }];
}

def FuseEmbedNorm : FusePass<"fuse-embed-norm"> {
  let summary = "the norm of an embedding into the launch that gathers it";
  let description = [{
    ```
    %0 = kernel.rows ins(%table) indices(%ids) gather [0]
    %1 = kernel.rows ins(%0, ...) norm <layer, ...>
    ==>
    %1 = kernel.launch { rows, then rows }
    ```
    Does not fire where the norm is in the layer loop.
  }];
}

def FuseSoftmaxScale : FusePass<"fuse-softmax-scale"> {
  let summary = "notes that attention scales its scores itself";
  let description = [{
    The scale is an attribute of `kernel.attention` and is folded with log2 e into
    the queries: it never is an op of its own, so this always holds.
  }];
}

def FuseRope : FusePass<"fuse-rope"> {
  let summary = "notes that attention rotates queries and keys itself";
  let description = [{
    The rotation is an operand of `kernel.attention`, applied in its prologue: it
    never is an op of its own, so this always holds where there is one.
  }];
}

def FuseUpdate : Pass<"fuse-update", "::mille::transformer::ModelOp"> {
  let summary = "parameters that a step may change when the loop back leaves a layer";
  let description = [{
    ```
    %g = kernel.layers %0 reverse slots [["w"]] ... { ... outs(kernel.gradient @w) ... }
    ==>
    %g = kernel.layers %0 reverse slots [["w"]] ... {kernel.updates = [@w]}
    ```
    The update of a layer's parameters then needs the gradients of one layer at a
    time, while they are in the cache, and memory for no more. Whether it is done
    there a trainer decides: not where it clips by the length of the whole gradient,
    nor where it accumulates several batches.

    Does not fire for a column that stands, in some layer, for a parameter whose
    gradient another layer or another op adds to, or that something reads after the
    layer.
  }];
}
#endif
