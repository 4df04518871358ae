// Losses of numbers whose labels are numbers. Included by TrainOps.td only.
#ifndef MILLE_TRANSFORMER_NUMBER_LOSS_OPS
#define MILLE_TRANSFORMER_NUMBER_LOSS_OPS
include "dialects/transformer/TransformerTypes.td"

// A loss of each number, whose label is a number too.
class Transformer_NumberLossOp<string mnemonic> : Transformer_Op<mnemonic,
    [Pure, AllTypesMatch<["values", "labels", "losses", "gradient"]>]> {
  let arguments = (ins Transformer_Stream:$values, Transformer_Stream:$labels,
                       RankedTensorOf<[F32]>:$weight);
  let results = (outs Transformer_Stream:$losses, Transformer_Stream:$gradient);
  let assemblyFormat = [{
    $values `labels` $labels `weight` $weight attr-dict `:` type($values) `,` type($weight)
  }];
}

def Transformer_SquaredErrorOp : Transformer_NumberLossOp<"squared_error"> {
  let summary = "the squared error of each number, and its gradient";
  let description = [{
    losses = w (values - labels)^2 and gradient = 2 w (values - labels), w the one number of
    `weight`. With w = 1 / (the numbers of all parts of a batch) the sum of the losses is
    their mean.

    Constraints:
    * (C1) weight is [1].

    ```mlir
    %losses, %g = transformer.squared_error %x labels %y weight %w : tensor<?x1xf32>, tensor<1xf32>
    ```
  }];
  let hasVerifier = 1;
}

def Transformer_BinaryCrossEntropyOp : Transformer_NumberLossOp<"binary_cross_entropy"> {
  let summary = "the cross-entropy of each number as the logit of yes or no, and its gradient";
  let description = [{
    With p = 1 / (1 + exp(-values)) and w the one number of `weight`, losses = -w (labels log p +
    (1 - labels) log(1 - p)) and gradient = w (p - labels): labels are shares of yes, 1 or 0 as a
    rule. With w = 1 / (the numbers of all parts of a batch) the sum of the losses is their mean.

    Constraints:
    * (C1) weight is [1].

    ```mlir
    %losses, %g = transformer.binary_cross_entropy %x labels %y weight %w : tensor<?x4xf32>, tensor<1xf32>
    ```
  }];
  let hasVerifier = 1;
}
#endif
