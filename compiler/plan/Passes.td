// The passes of plan: element types, layouts and memory.
#ifndef MILLE_PLAN_PASSES
#define MILLE_PLAN_PASSES
include "mlir/Pass/PassBase.td"

def FindPadding : Pass<"find-padding", "::mlir::ModuleOp"> {
  let summary = "which rows of padding no other row looks at";
  let description = [{
    ```mlir
    func.func @forward(...) {
    ==>
    func.func @forward(...) attributes {kernel.padding_ends = 3, kernel.mask_input = 1} {
    ```
    Padding is what input number `mask_input` [batch, tokens], which is attention's
    key_mask, hides after (1) or before (2) the tokens of a sequence. Fires
    where every op on tokens works row by row or hides padding by that mask. Does
    not fire at the start of a sequence where positions in it are counted (chunks,
    prefixes, the pooled first token). Changes no op.
  }];
  let dependentDialects = ["::mille::kernel::KernelDialect"];
}

def NarrowTypes : Pass<"narrow-types", "::mlir::ModuleOp"> {
  let summary = "matmuls and attention on bf16, on bytes or on blocks";
  let description = [{
    With `dtype=bf16` weights and inputs of matmuls are bf16, with `dtype=int8` bytes:
    weights with a scale for each row, inputs quantised as they come.

    ```mlir
    %w = kernel.weight @w -> tensor<16x8xf32>
    %y = kernel.matmul %x, %w ... accumulators 1 { ^bb0(%acc: f32): ... }
    ==> dtype=int8
    %v, %p = kernel.quantize %x ... -> tensor<?x8xui8>, tensor<?x4xf32>
    %w = kernel.weight #transformer.quantized<@w> -> tensor<16x8xi8>
    %u = kernel.weight #transformer.row_sums<quantized<@w>> -> tensor<16x1xi32>
    %c = kernel.weight #transformer.row_scales<@w> -> tensor<16xf32>
    %y = kernel.matmul %v, %w parameters %p, %u extras(%c) ... accumulators 1 {
    ^bb0(%sum: f32, %column: f32):
      %acc = %sum * %column
      ...
    ```

    With `dtype=fp8` bytes are floats, which have no zero, sums and outlier; the row's scale is
    an extra:

    ```mlir
    %v, %p = kernel.quantize %x ... -> tensor<?x16xf8E4M3FN>, tensor<?x1xf32>
    %w = kernel.weight #transformer.quantized<@w, e4m3> -> tensor<32x16xf8E4M3FN>
    %c = kernel.weight #transformer.row_scales<@w, e4m3> -> tensor<32xf32>
    %y = kernel.matmul %v, %w extras(%c, %p) ... accumulators 1 {
    ^bb0(%sum: f32, %column: f32, %row: f32):
      %scaled = %sum * %row
      %acc = %scaled * %column
      ...
    ```

    With `dtype=q8_0`, `q4_k`, ... weights are blocks of that encoding, with `stored`
    of the smallest that holds what each is stored in; inputs are bytes in blocks of 32:

    ```mlir
    %v, %p = kernel.quantize %x ... -> tensor<?x32xi8>, tensor<?x3xf32>
    %w = kernel.weight #transformer.in_blocks<@w, q8_0> -> tensor<16x32xf32>
    %y = kernel.matmul %v, %w parameters %p ... accumulators 1 blocks q8_0
    ```

    A weight whose parameter has a `dtype` has that type in place of the pass's.

    In bf16, int8 and fp8 a value that only matmuls and attention read is bf16; with blocks
    values between kernels stay f32. In all of them keys and values that entries remember
    are bf16, with the queries that meet them; any other value keeps f32 (the residual
    stream, what norms read, outputs), and a matmul reads a rounded copy. Softmax and all
    scalar regions compute in f32. In a program that packs its weights as it runs, a
    training step, they are rounded as they are packed, and gradients of weights read bf16
    too; the weights, their gradients and the gradient of the stream stay f32. Does not fire on a matmul whose result chooses experts,
    on K > 65536 (int8), on K that is no multiple of 16 (fp8: bf16), on rows that are no whole blocks, on a weight that is stored in
    none (stored), or on linear attention. With `cache=f16` keys and values that entries
    remember, and their queries, stay f32, for lay-out-states to round.
  }];
  let options = [Option<"dtype", "dtype", "std::string", "\"bf16\"",
                        "f32, bf16, int8, fp8, stored, or blocks: q8_0, q4_k, ...">,
                 Option<"cache", "cache", "std::string", "\"\"",
                        "of keys and values: int8, f16, or as dtype says">];
  let dependentDialects = ["::mille::kernel::KernelDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::tensor::TensorDialect"];
}

def TurnHeadsFirst : Pass<"turn-heads-first", "::mlir::ModuleOp"> {
  let summary = "RoPE before attention, as a launch of its own";
  let description = [{
    ```mlir
    %y = kernel.attention %qkv, %qkv, %qkv rotation %r : tensor<?x4xf32> ...
      heads 4 kv_heads 2 head_dim 4 value_dim 4 offsets [0, 16, 24] ...
    ==>
    %t = kernel.rotate %qkv by %r outs(%u : tensor<?x24xbf16>) heads 6 head_dim 4 ...
    %y = kernel.attention %t, %t, %qkv ... offsets [0, 16, 24] ...
    ```
    For kernels that turn a key again for each tile of queries. Fires where query
    and key are of one type, and the first columns of one buffer, in this order, or each of its
    own. Costs a launch, and a write and a read of queries and keys.
  }];
  let dependentDialects = ["::mille::kernel::KernelDialect",
                           "::mlir::tensor::TensorDialect"];
}

def LayOutStates : Pass<"lay-out-states", "::mlir::ModuleOp"> {
  let summary = "remembered keys and values in panels";
  let description = [{
    ```mlir
    %k = kernel.remember %new past %past rows %rows outs(%held : tensor<?x192xbf16>) ...
    %y = kernel.attention %q, %k, %v past %past ... kv_heads 3
    ==>
    %k = kernel.remember %new past %past rows %rows panels keys heads 3 outs(%held : tensor<?x192xbf16>) ...
    %y = kernel.attention %q, %k, %v past %past ... kv_heads 3 panels
    ```
    A sequence then holds one head after another, keys with rows in lanes, so that a
    decode step reads memory in order and sums without shuffles. Does not fire on a
    state that any entry reads otherwise.

    With `cache=int8` a row of a head is integers and a step in f32:

    ```mlir
    %k = kernel.remember %new past %past rows %rows panels keys heads 3 outs(%held : tensor<?x204xi8>) ...
    ```
    It is an error where a head of keys has columns that are no multiple of 4. With
    `cache=f16` elements are f16, rounded from the input's.

    The state says how it is held, so that a session may share and move its rows. Where
    all queries that read an entry of it see a window of keys, it says that too, and a
    session may drop its first rows:

    ```mlir
    %keys: tensor<2x?x192xbf16> {kernel.panel_heads = 3 : i64, kernel.panels = #kernel<state_panels keys>, kernel.windows = array<i64: 512, 0>, ...}
    ```
  }];
  let options = [Option<"cache", "cache", "std::string", "\"\"",
                        "int8, f16, or as narrow-types has chosen">];
  let dependentDialects = ["::mille::kernel::KernelDialect"];
}

def CarryCopies : Pass<"carry-copies", "::mlir::ModuleOp"> {
  let summary = "the bf16 copy that every layer begins with, made by the layer before";
  let description = [{
    ```mlir
    %y = kernel.layers %x ... {
    ^bb0(%s: tensor<?x8xf32>):
      %c = kernel.rows ins(%s : tensor<?x8xf32>) outs(%e : tensor<?x8xbf16>) gather [-1] { ... }
      ...
      kernel.yield %z : tensor<?x8xf32>
    ==>
    %c0 = kernel.rows ins(%x : tensor<?x8xf32>) ...
    %y:2 = kernel.layers %x, %c0 ... {
    ^bb0(%s: tensor<?x8xf32>, %c: tensor<?x8xbf16>):
      ...
      %next = kernel.rows ins(%z : tensor<?x8xf32>) ...
      kernel.yield %z, %next : tensor<?x8xf32>, tensor<?x8xbf16>
    ```
    The copy is in the launch that makes the value, so that one kernel can make both
    (join-kernels). Does not fire where a body begins without a copy. The copy of the
    last layer is made and not read.
  }];
  let dependentDialects = ["::mille::kernel::KernelDialect",
                           "::mlir::tensor::TensorDialect"];
}

def JoinKernels : Pass<"join-kernels", "::mlir::ModuleOp"> {
  let summary = "rows that the kernel before them in their launch computes too";
  let description = [{
    ```mlir
    kernel.launch {
      kernel.rows ins(%x : ...) outs(%y : memref<?x8xf32>) gather [-1] norm <layer, 1.0e-12> { ... }
      kernel.rows ins(%y : ...) outs(%z : memref<?x8xbf16>) gather [-1] { ... }
    ==>
    kernel.launch {
      kernel.rows ins(%x : ...) outs(%y : memref<?x8xf32>) gather [-1] norm <layer, 1.0e-12> { ... }
      kernel.rows ins(%y : ...) outs(%z : memref<?x8xbf16>) gather [-1] attributes {kernel.joined} { ... }
    ```
    One launch of a device in place of two, and what the second reads stays in registers;
    an out that nothing else reads is not written. Fires where the generators of all
    targets make such a kernel; mille-opt joins all that may be. Does not fire on rows
    that gather, or that read nothing of the kernel before.
  }];
  let dependentDialects = ["::mille::kernel::KernelDialect"];
}

def PackWeights : Pass<"pack-weights", "::mlir::ModuleOp"> {
  let summary = "weights of matmuls in panels of columns";
  let description = [{
    ```mlir
    %w = kernel.weight @w -> tensor<16x8xf32>
    %y = kernel.matmul %x, %w ... accumulators 1
    ==>
    %w = kernel.weight #transformer.pack<@w, panel = 48, accumulators = 1> -> tensor<1x8x48xf32>
    %y = kernel.matmul %x, %w ... accumulators 1
    ```
    Blocks (`transformer.in_blocks`) become `transformer.pack_blocks`, in panels of 16
    columns. Does not fire on a weight that is packed already, nor, with `in-rows`, on
    one whose K is a multiple of 8, of bytes of 16: it stays in rows of whole 16 bytes, as a
    tensor map of Hopper needs them. A weight that another op
    reads too (a tied embedding) is read in both layouts: the weights file then
    holds both. Panels have as many columns as the first of `widths`, unless that
    fills up more than one column in 32 more than another does: which widths there
    are, the generators of the package's kernels say.
  }];
  let options = [ListOption<"widths", "widths", "int64_t",
                            "columns of a panel, of one accumulator">,
                 ListOption<"ofMore", "widths-of-more", "int64_t",
                            "the same of more accumulators">,
                 Option<"inRows", "in-rows", "bool", "false",
                        "weights of numbers and of bytes stay in rows">];
  let dependentDialects = ["::mille::kernel::KernelDialect"];
}

def BlockLoss : Pass<"block-loss", "::mlir::ModuleOp"> {
  let summary = "a loss over a vocabulary in blocks of rows";
  let description = [{
    ```mlir
    %z = kernel.matmul %x, %head ... -> tensor<?x32000xf32>
    %l, %g = kernel.cross_entropy %z labels %y ...
    %w = kernel.weight_gradient %g, %x outs(%gradient) ...
    %gx = kernel.matmul %g, %turned ... -> tensor<?x64xf32>
    ==>
    %l, %gx = kernel.row_blocks rows 256 ins(%x, %y) outs(...) {
    ^bb0(%n: index, %x: tensor<?x64xf32>, %y: tensor<?xi32>):
      ... the same ops ...
      kernel.yield %l, %gx
    }
    ```
    Fires where logits have `columns` columns or more, and takes in all ops that read or
    write as wide rows. No bit changes, since ops work row by row or add row after row.
    The gradient of the head's weight is read and written once for each block, which costs
    a fiftieth of the head's time at 256 rows; more rows would cost memory. Does not fire
    where other ops read or write such rows, as in a stack that is as wide.
  }];
  let options = [Option<"rows", "rows", "int64_t", "256", "of a block">,
                 Option<"columns", "columns", "int64_t", "1024",
                        "the fewest that logits in blocks have">];
  let dependentDialects = ["::mille::kernel::KernelDialect",
                           "::mlir::tensor::TensorDialect"];
}

def PlanMemory : Pass<"plan-memory", "::mlir::ModuleOp"> {
  let summary = "kernel ops on tensors become kernel ops on memrefs in one arena";
  let description = [{
    ```mlir
    func.func @forward(%b: index, %t: index, %x: tensor<?x8xf32>) -> tensor<?x16xf32> {
      %o = tensor.empty(%rows) : tensor<?x16xf32>
      %y = kernel.matmul %x, %w outs(%o : ...) ... -> tensor<?x16xf32>
      return %y
    ==>
    func.func @forward(%b: index, %t: index, %x: memref<?x8xf32>,
                       %out: memref<?x16xf32> {kernel.output}) {
      kernel.matmul %x, %w outs(%out : memref<?x16xf32>) ...
      return
    ```
    Every other value gets a `kernel.arena` buffer, first fit by size over its
    life; an op's out never shares bytes with what it reads. Ops of one `launch`
    live together. Bodies of a layer loop overlay each other. The outcome of a
    loop, and a value that is read again, is copied to its output by
    `kernel.keep`. Does not fire on functions that are planned already.
  }];
  let dependentDialects = ["::mille::kernel::KernelDialect",
                           "::mlir::arith::ArithDialect"];
}
#endif
