// What an entry remembers between runs: tokens written behind those before.
#ifndef MILLE_TRANSFORMER_STATE_OPS
#define MILLE_TRANSFORMER_STATE_OPS
include "dialects/transformer/TransformerTypes.td"

def Transformer_RememberOp : Transformer_Op<"remember", []> {
  let summary = "the run's tokens behind those that a state holds; all of them";
  let description = [{
    A state is an argument of the entry with the unit attribute `transformer.state`:
    [entries, batch, rows, columns], memory of the session that outlives a run. Row
    past[b] + t of entry `index` and sequence b becomes row t of the input, and the
    result is that entry: [batch, rows, columns], of ids [batch, rows], where columns
    is 1. Rows after the last written one hold anything. Without `past` the run's
    tokens are the first rows. In a body of `layers` the index counts from layer 0:
    entry index + layer.

    Constraints:
    * (C1) the state has rank 4, the input's elements, and its columns; the result is
      an entry of it.
    * (C2) 0 <= index, and below the entries where the op is in no `layers`.
    * (C3) past, if there is one, is i32 [batch].
    * (C4) the state is an argument of the entry, with `transformer.state`.

    ```mlir
    %all = transformer.remember %k in %keys index 1 past %past
      : tensor<?x?x8xf32>, tensor<2x?x?x8xf32>, tensor<?xi32> -> tensor<?x?x8xf32>
    ```
  }];
  let arguments = (ins AnyTypeOf<[Transformer_Stream, Transformer_Ids]>:$input,
    AnyRankedTensor:$state, I64Attr:$index, Optional<Transformer_Ids>:$past);
  let results = (outs AnyTypeOf<[Transformer_Stream, Transformer_Ids]>:$result);
  let assemblyFormat = [{
    $input `in` $state `index` $index (`past` $past^)? attr-dict
    `:` type($input) `,` type($state) (`,` type($past)^)? `->` type($result)
  }];
  let hasVerifier = 1;
}

def Transformer_RecallOp : Transformer_Op<"recall", [Pure]> {
  let summary = "an entry of a state that another entry of the model remembered";
  let description = [{
    The result is entry `index` of the state: [batch, rows, columns], of ids [batch,
    rows]. The function remembers nothing in this state. In a body of `layers` the
    index counts from layer 0, as that of `remember`.

    Constraints:
    * (C1) the state has rank 4; the result is an entry of it, of ids without the one
      column.
    * (C2) 0 <= index, and below the entries where the op is in no `layers`.
    * (C3) the state is an argument of the entry, with `transformer.state`.

    ```mlir
    %k = transformer.recall %keys index 1 : tensor<2x?x?x8xf32> -> tensor<?x?x8xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$state, I64Attr:$index);
  let results = (outs AnyTypeOf<[Transformer_Stream, Transformer_Ids]>:$result);
  let assemblyFormat = "$state `index` $index attr-dict `:` type($state) `->` type($result)";
  let hasVerifier = 1;
}

def Transformer_PositionsOp : Transformer_Op<"positions", [Pure]> {
  let summary = "past[b] + t: the place of each token of the run in its sequence";
  let description = [{
    Constraints:
    * (C1) past is i32 [batch]; the result is i32 [batch, tokens] of the tokens of
      `like`.

    ```mlir
    %p = transformer.positions %past like %ids : tensor<?xi32>, tensor<?x?xi32> -> tensor<?x?xi32>
    ```
  }];
  let arguments = (ins Transformer_Ids:$past, AnyRankedTensor:$like);
  let results = (outs Transformer_Ids:$result);
  let assemblyFormat = "$past `like` $like attr-dict `:` type($past) `,` type($like) `->` type($result)";
  let hasVerifier = 1;
}
#endif
