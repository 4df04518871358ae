// What a training step has of experts: gradients of their choice, and the loss that
// balances them. Included by TrainOps.td only.
#ifndef MILLE_TRANSFORMER_EXPERT_TRAIN_OPS
#define MILLE_TRANSFORMER_EXPERT_TRAIN_OPS
include "dialects/transformer/TransformerTypes.td"

def Transformer_RouteGradientOp : Transformer_Op<"route_gradient",
    [Pure, AllTypesMatch<["logits", "result"]>]> {
  let summary = "gradient of the router's logits from that of the weights it gave";
  let description = [{
    `experts` are those that `route` has chosen; the choice has no gradient. Its other
    attributes say how the weights follow from the logits of these.

    Constraints:
    * (C1) gradient and experts are [.., k] of the logits' leading shape, k fixed.
    * (C2) factor and epsilon are finite.

    ```mlir
    %gl = transformer.route_gradient %g at %logits to %e score softmax renormalised true
      : tensor<?x?x2xf32>, tensor<?x?x4xf32>, tensor<?x?x2xi32>
    ```
  }];
  let arguments = (ins Transformer_Stream:$gradient, Transformer_Stream:$logits,
    Transformer_Ids:$experts, Transformer_RouterScoreWord:$score,
    DefaultValuedAttr<BoolAttr, "false">:$renormalised,
    DefaultValuedAttr<BoolAttr, "false">:$softmax_chosen,
    DefaultValuedAttr<F64Attr, "0.0">:$epsilon, DefaultValuedAttr<F64Attr, "1.0">:$factor);
  let results = (outs Transformer_Stream:$result);
  let assemblyFormat = [{
    $gradient `at` $logits `to` $experts `score` $score
    (`renormalised` $renormalised^)? (`softmax_chosen` $softmax_chosen^)?
    (`epsilon` $epsilon^)? (`factor` $factor^)? attr-dict
    `:` type($gradient) `,` type($logits) `,` type($experts)
  }];
  let hasVerifier = 1;
}

def Transformer_SlotProductsOp : Transformer_Op<"slot_products", [Pure]> {
  let summary = "slots . row for each slot of a row: the gradient of experts' weights";
  let description = [{
    [batch, tokens, k, channels] . [batch, tokens, channels] -> [batch, tokens, k].

    Constraints:
    * (C1) these are the shapes.

    ```mlir
    %gw = transformer.slot_products %y, %g : tensor<?x?x2x8xf32>, tensor<?x?x8xf32> -> tensor<?x?x2xf32>
    ```
  }];
  let arguments = (ins Transformer_Stream:$slots, Transformer_Stream:$row);
  let results = (outs Transformer_Stream:$result);
  let assemblyFormat = "$slots `,` $row attr-dict `:` type($slots) `,` type($row) `->` type($result)";
  let hasVerifier = 1;
}

def Transformer_RouteSharesOp : Transformer_Op<"route_shares", [Pure]> {
  let summary = "which experts a row has chosen, and the softmax of its logits";
  let description = [{
    Of E experts the first E channels are 1 for those that the row has chosen and else 0; the
    others are softmax(logits). The choice has no gradient.

    Constraints:
    * (C1) experts is [.., k] of the logits' leading shape, k fixed.
    * (C2) the result is [.., 2 E].

    ```mlir
    %s = transformer.route_shares %logits to %e : tensor<?x?x4xf32>, tensor<?x?x2xi32> -> tensor<?x?x8xf32>
    ```
  }];
  let arguments = (ins Transformer_Stream:$logits, Transformer_Ids:$experts);
  let results = (outs Transformer_Stream:$result);
  let assemblyFormat = "$logits `to` $experts attr-dict `:` type($logits) `,` type($experts) `->` type($result)";
  let hasVerifier = 1;
}

def Transformer_SharesGradientOp : Transformer_Op<"shares_gradient",
    [Pure, AllTypesMatch<["logits", "result"]>]> {
  let summary = "gradient of the logits from that of route_shares";
  let description = [{
    With p = softmax(logits) and g the last E channels of gradient: p (g - sum(p g)).

    Constraints:
    * (C1) gradient is [.., 2 E] of the logits' leading shape.

    ```mlir
    %gl = transformer.shares_gradient %g at %logits : tensor<?x?x8xf32>, tensor<?x?x4xf32>
    ```
  }];
  let arguments = (ins Transformer_Stream:$gradient, Transformer_Stream:$logits);
  let results = (outs Transformer_Stream:$result);
  let assemblyFormat = "$gradient `at` $logits attr-dict `:` type($gradient) `,` type($logits)";
  let hasVerifier = 1;
}

def Transformer_BalanceLossOp : Transformer_Op<"balance_loss",
    [Pure, AllTypesMatch<["losses", "total"]>, AllTypesMatch<["shares", "gradient"]>]> {
  let summary = "adds the loss that balances experts to each row's loss, and gives its gradient";
  let description = [{
    `shares` are sums over layers of `route_shares` of E experts. Over the rows that key_mask
    does not hide let c[e] and P[e] be the sums of channels e and E + e, and R = sum(c) / k,
    the number of such rows times that of layers. The loss is factor E sum_e c[e]/R P[e]/R
    (Fedus et al., Switch Transformers, 2021, equations 4 to 6), of which a row gets
    factor E / R^2 sum_e c[e] shares[E + e]; so the gradient's channel E + e is factor E c[e] /
    R^2, and its first E are 0. Hidden rows get nothing.

    Constraints:
    * (C1) losses has the leading shape of shares.
    * (C2) key_mask has it too.
    * (C3) shares has 2 E channels and k is from 1 to E.
    * (C4) factor is finite and >= 0.

    ```mlir
    %t, %g = transformer.balance_loss %losses, %shares k 2 factor 0.01 : tensor<?x?xf32>, tensor<?x?x8xf32>
    ```
  }];
  let arguments = (ins RankedTensorOf<[F32]>:$losses, Transformer_Stream:$shares,
    Optional<Transformer_Ids>:$key_mask, I64Attr:$k, F64Attr:$factor);
  let results = (outs RankedTensorOf<[F32]>:$total, Transformer_Stream:$gradient);
  let assemblyFormat = "$losses `,` $shares (`key_mask` $key_mask^ `:` type($key_mask))? `k` $k `factor` $factor attr-dict `:` type($losses) `,` type($shares)";
  let hasVerifier = 1;
}
#endif
