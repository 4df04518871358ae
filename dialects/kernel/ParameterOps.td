// The memory of a program: the arena, gradients of parameters, and values that
// the loop back finds where the loop over layers left them.
#ifndef MILLE_KERNEL_PARAMETER_OPS
#define MILLE_KERNEL_PARAMETER_OPS
include "dialects/kernel/KernelTypes.td"

def Kernel_ArenaOp : Kernel_Op<"arena", [Pure]> {
  let summary = "a buffer in the arena: `rows` rows from `offset` bytes per row";
  let description = [{
    The buffer starts at byte offset * padded rows of the arena, where padded rows
    is the run's number of rows, rounded up (runtime/abi.h). Every size is a number
    of bytes per row, so one plan serves every batch and token count. With
    `per_layer`, inside `kernel.layers`, the buffer of layer l starts at byte
    (offset + l * per_layer) * padded rows: each layer has its own. A `fixed` buffer
    has a size that no run changes, and starts at byte offset of a part of the arena of
    its own.

    Constraints:
    * (C1) offset >= 0 and a multiple of 64; per_layer > 0 and a multiple of 64.
    * (C2) per_layer is in a body of `kernel.layers` only, and not of a fixed buffer.

    ```mlir
    %b = kernel.arena offset 4096 rows %rows : memref<?x768xf32, strided<[784, 1]>>
    ```
  }];
  let arguments = (ins Index:$rows, I64Attr:$offset, OptionalAttr<I64Attr>:$per_layer,
                       UnitAttr:$fixed);
  let results = (outs AnyMemRef:$result);
  let assemblyFormat = "(`fixed` $fixed^)? `offset` $offset (`per_layer` $per_layer^)? `rows` $rows attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Kernel_GradientOp : Kernel_Op<"gradient",
    [Pure, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "the memory of a parameter's gradient";
  let description = [{
    A destination, as `kernel.recall` gives one: an op of the trait `Adds` that has it as
    its outs adds to what is there, so that a parameter may be read in several places and
    a step may have several batches. The memory is zero when a step begins. `parameter` is
    a parameter or, inside `kernel.layers`, a column of the layer table.

    Constraints:
    * (C1) `parameter` is a parameter of the result's shape.
    * (C2) the result is f32.

    ```mlir
    %g = kernel.gradient @out.weight -> tensor<16x8xf32>
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$parameter);
  let results = (outs Kernel_Buffer:$result);
  let assemblyFormat = "$parameter attr-dict `->` type($result)";
  let hasVerifier = 1;
}

def Kernel_SaveOp : Kernel_Op<"save", [MemoryEffects<[MemWrite]>]> {
  let summary = "keeps rows of a layer, under a name, for the loop back";
  let description = [{
    `kernel.saved` of that name, in a layer loop that comes later in the program, gives in
    layer l what layer l of this loop saved.

    Constraints:
    * (C1) name is not empty.
    * (C2) the op is in `kernel.layers`; a name belongs to one loop, and to one op of a body.
    * (C3) the input is f32 or bf16 [rows, columns].

    ```mlir
    kernel.save %x as "qkv" : tensor<?x24xf32>
    ```
  }];
  let arguments = (ins Kernel_Buffer:$input, StrAttr:$name);
  let assemblyFormat = "$input `as` $name attr-dict `:` type($input)";
  let hasVerifier = 1;
}

def Kernel_SavedOp : Kernel_Op<"saved", [MemoryEffects<[MemRead]>]> {
  let summary = "rows that a layer of an earlier loop saved";
  let description = [{
    Constraints:
    * (C1) `kernel.save` of that name is in a `kernel.layers` of the same function that
      comes before this one and has as many layers.
    * (C2) what is saved has the result's type.
    * (C3) the op is in `kernel.layers`.

    ```mlir
    %x = kernel.saved "qkv" rows %rows -> tensor<?x24xf32>
    ```
  }];
  let arguments = (ins StrAttr:$name, Index:$rows);
  let results = (outs Kernel_Buffer:$result);
  let assemblyFormat = "$name `rows` $rows attr-dict `->` type($result)";
  let hasVerifier = 1;
}
#endif
