// The pass of this room: from an entry to its training step.
#ifndef MILLE_DIFFERENTIATE_PASSES
#define MILLE_DIFFERENTIATE_PASSES
include "mlir/Pass/PassBase.td"

def Differentiate : Pass<"differentiate", "::mille::transformer::ModelOp"> {
  let summary = "a training step of the first entry: forward, loss, backward";
  let description = [{
    ```
    func.func @forward(%ids) -> logits {
      %y = transformer.layers %x ... { ^bb0(%s): ... }
      ...
    }
    ==>
    func.func @train_step(%ids, %labels, %loss_weight) -> losses {
      %y = transformer.layers %x ... saves ["x", ...] { ^bb0(%s): transformer.save %s as "x" ... }
      ...
      %losses, %g = transformer.cross_entropy %logits labels %labels weight %loss_weight
      ...
      %gx = transformer.layers %gy reverse ... { ^bb0(%g): %s = transformer.saved "x" ... }
      transformer.embed_gradient %gx ...
    }
    func.func @eval(%ids, %labels, %loss_weight) -> losses
    ```
    The gradients of parameters are effects of ops; the program is as long as that of
    the forward pass, however deep the stack is. Works on unrolled models too. An output
    of one channel, or of which the model's `train` says so, is compared by squared errors
    (`squared_error`), with labels that are numbers. With
    `loss=given` the gradient of the output `of` is an input, and no `eval` is made.

    What adjoints read is saved, or computed anew in the backward pass (`recompute`):
    `none` saves all of it; `cheap` computes norms, activations and sums anew; `layer`
    saves the input of each layer only. `segment:K` cuts the stack into loops over K
    layers and saves the input of each loop; in the backward pass the loop comes again,
    saves what `cheap` saves, and its reverse follows. The last loop comes once. Only
    then the program is longer for a deeper stack: by two loops for each K layers.

    With `keep-units` the entry also gives the gradients at unit N of those outside of
    layers, counted from 0, as outputs: `gradient.unit.N` at its input and
    `gradient.unit.N.result` at its result.

    Fails where an op has no adjoint, or where layers read a value from outside that
    needs a gradient; the error names the op.
  }];
  let options = [
    Option<"of", "of", "std::string", "\"logits\"", "the output that the loss reads">,
    Option<"loss", "loss", "std::string", "\"trained\"", "trained or given">,
    Option<"recompute", "recompute", "std::string", "\"cheap\"", "none, cheap, layer or segment:K">,
    Option<"keepUnits", "keep-units", "bool", "false", "give the gradients at units">];
  let dependentDialects = ["::mille::transformer::TransformerDialect"];
}
#endif
