// The ops that read an image or its sizes: patches, tables and rotations of their
// grid, windows. The runtime computes them without a generated kernel.
#ifndef MILLE_KERNEL_IMAGE_OPS
#define MILLE_KERNEL_IMAGE_OPS
include "dialects/kernel/KernelTypes.td"

def Kernel_PatchesOp : Kernel_PreparedOp<"patches"> {
  let summary = "pixels [batch, c * h * w] -> patches [batch * tokens, c * kh * kw]";
  let description = [{
    As transformer.patches; `image` is [c, h, w]. With `sides`, which are sizes of the
    run, h and w in `image` are 0, and pixels is [batch * c * h * w].

    Constraints:
    * (C1) image is three numbers > 0; pixels is [batch, c * h * w]. With two `sides`
      image is [c, 0, 0] and pixels is [?].
    * (C2) kernel, stride and padding are two numbers each, > 0 (padding >= 0);
      prefix >= 0.
    * (C3) the padded image holds a kernel; the out has c * kh * kw columns.
    * (C4) a result for each outs on tensors, none on memrefs.

    ```mlir
    %p = kernel.patches %x image [3, 8, 8] kernel [4, 4] stride [4, 4] padding [0, 0] prefix 1 outs(%o : tensor<?x48xf32>) : tensor<?x192xf32> -> tensor<?x48xf32>
    ```
  }];
  let arguments = (ins Kernel_Buffer:$pixels, Variadic<Index>:$sides, DenseI64ArrayAttr:$image,
    DenseI64ArrayAttr:$kernel, DenseI64ArrayAttr:$stride, DenseI64ArrayAttr:$padding,
    I64Attr:$prefix, Kernel_Buffer:$out);
  let results = (outs Optional<AnyRankedTensor>:$result);
  let assemblyFormat = "$pixels (`sides` $sides^)? `image` $image `kernel` $kernel `stride` $stride `padding` $padding `prefix` $prefix `outs` `(` $out `:` type($out) `)` attr-dict `:` type($pixels) (`->` type($result)^)?";
  let hasVerifier = 1;
}

def Kernel_MovePatchesOp : Kernel_PreparedOp<"move_patches"> {
  let summary = "an image's tokens into windows, back, or four side by side";
  let description = [{
    As transformer.move_patches; height and width are the image's.

    Constraints:
    * (C1) side is two numbers > 0; 0 <= shift < size, or both are 0 for merge; all are
      below 2^15.
    * (C2) the out has the input's columns, four times for merge.
    * (C3) a result for each outs on tensors, none on memrefs.

    ```mlir
    %y = kernel.move_patches %x height %h width %w move into_windows side [4, 4] size 7 shift 3 outs(%o : tensor<?x8xf32>) : tensor<?x8xf32> -> tensor<?x8xf32>
    ```
  }];
  let arguments = (ins Kernel_FloatRows:$input, Index:$height, Index:$width,
    Transformer_MoveWord:$move, DenseI64ArrayAttr:$side,
    DefaultValuedAttr<I64Attr, "0">:$size, DefaultValuedAttr<I64Attr, "0">:$shift,
    Kernel_FloatRows:$out);
  let results = (outs Optional<AnyRankedTensor>:$result);
  let assemblyFormat = "$input `height` $height `width` $width `move` $move `side` $side (`size` $size^)? (`shift` $shift^)? `outs` `(` $out `:` type($out) `)` attr-dict `:` type($input) (`->` type($result)^)?";
  let hasVerifier = 1;
}

def Kernel_WindowSegmentsOp : Kernel_PreparedOp<"window_segments"> {
  let summary = "which tokens of a window were neighbours before the shift";
  let description = [{
    As transformer.window_segments; height and width are the image's.

    Constraints:
    * (C1) side is two numbers > 0; 0 <= shift < size; all are below 2^15.
    * (C2) a result for each outs on tensors, none on memrefs.

    ```mlir
    %s = kernel.window_segments height %h width %w side [4, 4] size 7 shift 3 outs(%o : tensor<?xi32>) -> tensor<?xi32>
    ```
  }];
  let arguments = (ins Index:$height, Index:$width, DenseI64ArrayAttr:$side,
    I64Attr:$size, DefaultValuedAttr<I64Attr, "0">:$shift, Kernel_Integers:$out);
  let results = (outs Optional<AnyRankedTensor>:$result);
  let assemblyFormat = "`height` $height `width` $width `side` $side `size` $size (`shift` $shift^)? `outs` `(` $out `:` type($out) `)` attr-dict (`->` type($result)^)?";
  let hasVerifier = 1;
}

def Kernel_PatchTableOp : Kernel_PreparedOp<"patch_table", [AttrSizedOperandSegments]> {
  let summary = "rows of tables for the tokens of an image, [batch * tokens, N]";
  let description = [{
    As transformer.patch_table; height and width are the image's.

    Constraints:
    * (C1) patch is two numbers > 0; 0 <= placed <= prefix; all are below 2^31.
    * (C2) base or table is present; base is [prefix + 1, N] of the out.
    * (C3) own and resize go with table, which is [placed + own[0] * own[1], N];
      placed is 0 without it.
    * (C4) a result for each outs on tensors, none on memrefs.

    Accuracy: computed in double, rounded to f32 once.

    ```mlir
    %t = kernel.patch_table height %h width %w base %b : tensor<2x8xf32> table %p : tensor<10x8xf32> patch [4, 4] prefix 1
      own [3, 3] placed 1 resize bicubic outs(%o : tensor<?x8xf32>) -> tensor<?x8xf32>
    ```
  }];
  let arguments = (ins Index:$height, Index:$width, Optional<Kernel_Buffer>:$base,
    Optional<Kernel_Buffer>:$table, DenseI64ArrayAttr:$patch, I64Attr:$prefix,
    OptionalAttr<DenseI64ArrayAttr>:$own, DefaultValuedAttr<I64Attr, "0">:$placed,
    OptionalAttr<Transformer_ResizeWord>:$resize, Kernel_FloatRows:$out);
  let results = (outs Optional<AnyRankedTensor>:$result);
  let assemblyFormat = [{
    `height` $height `width` $width (`base` $base^ `:` type($base))?
    (`table` $table^ `:` type($table))? `patch` $patch `prefix` $prefix (`own` $own^)?
    (`placed` $placed^)? (`resize` $resize^)? `outs` `(` $out `:` type($out) `)` attr-dict
    (`->` type($result)^)?
  }];
  let hasVerifier = 1;
}

def Kernel_PatchRotationOp : Kernel_PreparedOp<"patch_rotation"> {
  let summary = "cosines | sines of the tokens of an image, [batch * tokens, 2n]";
  let description = [{
    As transformer.patch_rotation; height and width are the image's.

    Constraints:
    * (C1) patch is two numbers > 0; prefix >= 0; all are below 2^31.
    * (C2) theta is > 0 and finite; head_dim >= 4.
    * (C3) the out has 2n columns, n = 2 (head_dim / 4).
    * (C4) a result for each outs on tensors, none on memrefs.

    Accuracy: computed in double, rounded to f32 once.

    ```mlir
    %r = kernel.patch_rotation height %h width %w patch [4, 4] prefix 1 theta 100.0 head_dim 8 outs(%o : tensor<?x8xf32>) -> tensor<?x8xf32>
    ```
  }];
  let arguments = (ins Index:$height, Index:$width, DenseI64ArrayAttr:$patch,
    I64Attr:$prefix, F64Attr:$theta, I64Attr:$head_dim, Kernel_FloatRows:$out);
  let results = (outs Optional<AnyRankedTensor>:$result);
  let assemblyFormat = "`height` $height `width` $width `patch` $patch `prefix` $prefix `theta` $theta `head_dim` $head_dim `outs` `(` $out `:` type($out) `)` attr-dict (`->` type($result)^)?";
  let hasVerifier = 1;
}
#endif
