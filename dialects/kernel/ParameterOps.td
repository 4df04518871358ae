// The memory of a training step beside its arena: gradients of parameters, and
// values that the backward loop finds where the forward loop left them.
#ifndef MILLE_KERNEL_PARAMETER_OPS
#define MILLE_KERNEL_PARAMETER_OPS
include "dialects/kernel/KernelTypes.td"

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
