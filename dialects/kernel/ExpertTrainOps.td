// What a training step has of experts, computed by the runtime. Included by TrainOps.td only.
#ifndef MILLE_KERNEL_EXPERT_TRAIN_OPS
#define MILLE_KERNEL_EXPERT_TRAIN_OPS
include "dialects/kernel/PreparedOps.td"

def Kernel_RouteGradientOp : Kernel_PreparedOp<"route_gradient"> {
  let summary = "gradient of the router's logits from that of the weights it gave";
  let description = [{
    As transformer.route_gradient: gradient is [rows, k], place and starts are those of `route`,
    which say what expert each slot has. A number of an expert that a row has not chosen has a
    gradient where the softmax is over all of them.

    Constraints:
    * (C1) logits and out are [?, entries], gradient [?, k], place i32 [?], starts
      i32 [entries + 1]; k <= entries.
    * (C2) factor and epsilon are finite, epsilon >= 0.
    * (C3) a result for each outs on tensors, none on memrefs.

    Accuracy: computed in double, rounded to f32 once.

    ```mlir
    %l = kernel.route_gradient %gw at %logits place %p : tensor<?xi32> starts %s : tensor<5xi32> outs(%o : tensor<?x4xf32>)
      score softmax renormalised true softmax_chosen false epsilon 0.0 factor 1.0 : tensor<?x2xf32>, tensor<?x4xf32> -> tensor<?x4xf32>
    ```
  }];
  let arguments = (ins Kernel_Buffer:$gradient, Kernel_Buffer:$logits, Kernel_Buffer:$place,
    Kernel_Buffer:$starts, Kernel_Buffer:$out, Transformer_RouterScoreWord:$score,
    BoolAttr:$renormalised, BoolAttr:$softmax_chosen, F64Attr:$epsilon, F64Attr:$factor);
  let results = (outs Optional<AnyRankedTensor>:$result);
  let assemblyFormat = [{
    $gradient `at` $logits `place` $place `:` type($place) `starts` $starts `:` type($starts)
    `outs` `(` $out `:` type($out) `)` `score` $score `renormalised` $renormalised
    `softmax_chosen` $softmax_chosen `epsilon` $epsilon `factor` $factor attr-dict
    `:` type($gradient) `,` type($logits) (`->` type($result)^)?
  }];
  let hasVerifier = 1;
}

def Kernel_SlotProductsOp : Kernel_PreparedOp<"slot_products"> {
  let summary = "slots . row for each slot of a row: the gradient of experts' weights";
  let description = [{
    out[m, j] = sum over n of slots[place[m * k + j], n] row[m, n].

    Constraints:
    * (C1) slots and row have the same columns; place is i32 [?].
    * (C2) the out is [?, k], k > 0.
    * (C3) a result for each outs on tensors, none on memrefs.

    Accuracy: as if summed in double, rounded to f32 once.

    ```mlir
    %w = kernel.slot_products %y, %g place %p : tensor<?xi32> outs(%o : tensor<?x2xf32>) : tensor<?x8xf32>, tensor<?x8xf32> -> tensor<?x2xf32>
    ```
  }];
  let arguments = (ins Kernel_Buffer:$slots, Kernel_Buffer:$row, Kernel_Buffer:$place,
                       Kernel_Buffer:$out);
  let results = (outs Optional<AnyRankedTensor>:$result);
  let assemblyFormat = "$slots `,` $row `place` $place `:` type($place) `outs` `(` $out `:` type($out) `)` attr-dict `:` type($slots) `,` type($row) (`->` type($result)^)?";
  let hasVerifier = 1;
}

def Kernel_ExpertsOp : Kernel_PreparedOp<"experts"> {
  let summary = "the expert of each row that is sorted by expert, i32 [rows]";
  let description = [{
    out[p] = e where starts[e] <= p < starts[e + 1].

    Constraints:
    * (C1) starts is i32 [entries + 1].
    * (C2) a result for each outs on tensors, none on memrefs.

    ```mlir
    %e = kernel.experts %s outs(%o : tensor<?xi32>) : tensor<5xi32> -> tensor<?xi32>
    ```
  }];
  let arguments = (ins Kernel_Buffer:$starts, Kernel_Integers:$out);
  let results = (outs Optional<AnyRankedTensor>:$result);
  let assemblyFormat = "$starts `outs` `(` $out `:` type($out) `)` attr-dict `:` type($starts) (`->` type($result)^)?";
  let hasVerifier = 1;
}

def Kernel_RouteSharesOp : Kernel_PreparedOp<"route_shares", [Kernel_TokenLocal]> {
  let summary = "which experts a row has chosen, and the softmax of its logits";
  let description = [{
    As transformer.route_shares; place and starts are those of `route`, k its experts of a row.

    Constraints:
    * (C1) logits is [?, entries], place i32 [?], starts i32 [entries + 1], the out
      [?, 2 entries]; k is from 1 to entries.
    * (C2) a result for each outs on tensors, none on memrefs.

    Accuracy: computed in double, rounded to f32 once.

    ```mlir
    %s = kernel.route_shares %logits place %p : tensor<?xi32> starts %s : tensor<5xi32> k 2 outs(%o : tensor<?x8xf32>) : tensor<?x4xf32> -> tensor<?x8xf32>
    ```
  }];
  let arguments = (ins Kernel_Buffer:$logits, Kernel_Buffer:$place, Kernel_Buffer:$starts,
                       I64Attr:$k, Kernel_Buffer:$out);
  let results = (outs Optional<AnyRankedTensor>:$result);
  let assemblyFormat = [{
    $logits `place` $place `:` type($place) `starts` $starts `:` type($starts) `k` $k
    `outs` `(` $out `:` type($out) `)` attr-dict `:` type($logits) (`->` type($result)^)?
  }];
  let hasVerifier = 1;
}

def Kernel_SharesGradientOp : Kernel_PreparedOp<"shares_gradient", [Kernel_TokenLocal]> {
  let summary = "gradient of the logits from that of route_shares";
  let description = [{
    As transformer.shares_gradient.

    Constraints:
    * (C1) logits and out are [?, entries], gradient [?, 2 entries].
    * (C2) a result for each outs on tensors, none on memrefs.

    Accuracy: computed in double, rounded to f32 once.

    ```mlir
    %l = kernel.shares_gradient %g at %logits outs(%o : tensor<?x4xf32>) : tensor<?x8xf32>, tensor<?x4xf32> -> tensor<?x4xf32>
    ```
  }];
  let arguments = (ins Kernel_Buffer:$gradient, Kernel_Buffer:$logits, Kernel_Buffer:$out);
  let results = (outs Optional<AnyRankedTensor>:$result);
  let assemblyFormat = "$gradient `at` $logits `outs` `(` $out `:` type($out) `)` attr-dict `:` type($gradient) `,` type($logits) (`->` type($result)^)?";
  let hasVerifier = 1;
}

def Kernel_BalanceLossOp : Kernel_PreparedOp<"balance_loss", [AttrSizedOperandSegments],
    "getOutsMutable()"> {
  let summary = "adds the loss that balances experts to each row's loss, and gives its gradient";
  let description = [{
    As transformer.balance_loss; the outs are the losses and the gradient of the shares.

    Constraints:
    * (C1) losses and the first out are f32 [?, 1], shares and the second out f32 [?, 2 E].
    * (C2) k is from 1 to E; factor is finite and >= 0.
    * (C3) key_mask is i32 [?].
    * (C4) results for both outs on tensors, none on memrefs.

    Accuracy: computed in double, rounded to f32 once.

    ```mlir
    %t, %g = kernel.balance_loss %l, %s outs(%a, %b : tensor<?x1xf32>, tensor<?x8xf32>) k 2 factor 0.01
      : tensor<?x1xf32>, tensor<?x8xf32> -> tensor<?x1xf32>, tensor<?x8xf32>
    ```
  }];
  let arguments = (ins Kernel_Buffer:$losses, Kernel_Buffer:$shares,
    Optional<Kernel_Buffer>:$key_mask, Variadic<Kernel_Buffer>:$outs, I64Attr:$k,
    F64Attr:$factor);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{
    $losses `,` $shares (`key_mask` $key_mask^ `:` type($key_mask))?
    `outs` `(` $outs `:` type($outs) `)` `k` $k `factor` $factor attr-dict
    `:` type($losses) `,` type($shares) (`->` type($results)^)?
  }];
  let hasVerifier = 1;
}
#endif
