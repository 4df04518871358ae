// The loop over blocks of rows: what is wide, as logits over a vocabulary are, never
// has memory for all rows of a run.
#ifndef MILLE_KERNEL_ROW_BLOCKS_OP
#define MILLE_KERNEL_ROW_BLOCKS_OP
include "dialects/kernel/KernelTypes.td"

def Kernel_RowBlocksOp : Kernel_DestinationOp<"row_blocks",
    [RecursiveMemoryEffects, AttrSizedOperandSegments], "getOutsMutable()"> {
  let summary = "a loop over blocks of rows, the first rows first";
  let description = [{
    The body runs for `rows` rows at a time, and at last for those that are left. It takes
    their number, and these rows of the inputs. What it yields are rows of the results; on
    memrefs it also takes these rows of the outs, and writes them. Ops of the body work row
    by row, or add to gradients row after row, so that the blocks change no bit. A value of
    the body has memory for one block, a fixed buffer.

    Constraints:
    * (C1) rows >= 1; there is an input.
    * (C2) inputs and outs are [?] or [?, N], and have the same rows.
    * (C3) on tensors the body takes an index and values of the inputs' types, and yields
      values of the outs'; on memrefs it takes those of the outs too, and yields none.
    * (C4) results for the outs on tensors, none on memrefs.
    * (C5) the op is in no loop and in no launch.

    ```mlir
    %y = kernel.row_blocks rows 256 ins(%x : tensor<?x8xf32>) outs(%o : tensor<?x4xf32>) {
    ^bb0(%n: index, %block: tensor<?x8xf32>):
      ...
      kernel.yield %z : tensor<?x4xf32>
    } -> tensor<?x4xf32>
    ```
  }];
  let arguments = (ins I64Attr:$rows, Variadic<Kernel_Buffer>:$inputs,
                       Variadic<Kernel_Buffer>:$outs);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    `rows` $rows `ins` `(` $inputs `:` type($inputs) `)` `outs` `(` $outs `:` type($outs) `)`
    attr-dict-with-keyword $body (`->` type($results)^)?
  }];
  let hasVerifier = 1;
}
#endif
