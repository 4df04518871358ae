// Exact rewrites of norms and scales on unrolled `transformer` ops, each a law.
#ifndef MILLE_REWRITE_PASSES
#define MILLE_REWRITE_PASSES
include "mlir/Pass/PassBase.td"

// A pass whose law and bound are a row of the table in Pipeline.cpp. It writes
// the func attribute `transformer.rewrites`; each rewrite that it declines is
// also a remark of the category `rewrite`.
class RewritePass<string flag> : Pass<flag, "::mille::transformer::ModelOp"> {
  let dependentDialects = ["::mille::transformer::TransformerDialect"];
  let options = [
    Option<"bitExact", "bit-exact", "bool", "false",
           "decline what moves a rounding">,
    Option<"byCost", "by-cost", "bool", "false",
           "decline what saves nothing at run time">];
}

def FoldSchedules : RewritePass<"fold-schedules"> {
  let summary = "scales that follow a schedule become the number at its end";
  let description = [{
    ```
    residual branch_scale [scheduled from 0 to 1 over 1000]  ==>  residual
    ```
    The input `step` goes where nothing reads it any more. Runs only where
    --fold-schedules asks for it: before the schedule's end it is another model.
  }];
}

def RotateNorms : RewritePass<"rotate-norms"> {
  let summary = "pre-norm units with a normed skip become post-norm units";
  let description = [{
    ```
    %1 = residual %0 in_norm [N1] tap normed { F1 }
    %2 = residual %1 in_norm [N2] tap normed { F2 }
    %3 = norm %2 by N3
    ==>
    %n = norm %0 by N1
    %1 = residual %n out_norm N2 { F1 }
    %3 = residual %1 out_norm N3 { F2 }
    ```
    Does not fire where a unit has a stream scale or an out_norm, where the
    stream between units has another reader, or where no norm closes the stack.
    By cost, fires only where a scale exchange follows.
  }];
}

def ExchangeScales : RewritePass<"exchange-scales"> {
  let summary = "a constant common to skip and branches leaves the norm, by its eps";
  let description = [{
    ```
    residual out_norm <layer_norm, eps = e> skip_scale A branch_scale [B]
    ==>
    residual out_norm <layer_norm, eps = e/c^2> skip_scale A/c branch_scale [B/c]
    ```
    c > 0 is the skip scale, so that the skip's becomes 1; where a branch cannot
    take a factor (see fold-branch-scales) and all branches have one scale, c is
    that. An l2_norm takes e/c. A/c and B/c are rounded once each; where c is a
    power of two nothing is.

    Does not fire where a scale is not constant, c <= 0, or e/c^2 is no normal
    number of f32. By cost, fires where a multiplication is saved, and not where
    eps would differ from layer to layer.
  }];
}

def FoldBranchScales : RewritePass<"fold-branch-scales"> {
  let summary = "constant and learned branch scales into what ends the branch";
  let description = [{
    ```
    residual branch_scale [B] { ... linear %h weight @w bias @b }
    ==>
    residual { ... linear %h weight times<@w, B> bias times<@b, B> }
    ```
    B is a number, a learned scalar, or a learned channel vector (B W scales
    rows); under a branch norm, B (n w + b) = n (B w) + B b. Learned ones fold for
    inference only. Each folded weight is rounded once more, unless B is a power
    of two.

    Does not fire for a schedule, where the branch does not end in a linear that
    it alone reads, or, by cost, where a shared weight would need a copy.
  }];
}

def FoldLinearScales : RewritePass<"fold-linear-scales"> {
  let summary = "a linear's constant multiplier into its weight";
  let description = [{
    ```
    linear %h weight @w bias @b scale s  ==>  linear %h weight times<@w, s> bias @b
    ```
    NTK parametrisation, muP and logit scales have such multipliers. By cost, does
    not fire where a shared weight would need a copy.
  }];
}

def FoldNormWeights : RewritePass<"fold-norm-weights"> {
  let summary = "a norm's weight and bias into the linears that alone read it";
  let description = [{
    ```
    %u = norm %x weight @g bias @c;  linear %u weight @w bias @b
    ==>
    %u = norm %x;  linear %u weight (W diag g) bias (W c + b)
    ```
    Does not fire where something else than linears reads the normed rows, for
    norms of groups, under a linear's scale with a norm's bias, or, by cost, where
    a shared weight would need a copy.
  }];
}

def FoldSoftmaxScale : RewritePass<"fold-softmax-scale"> {
  let summary = "a power of two that scales scores into the query's projection";
  let description = [{
    ```
    %q = linear %u weight @w bias @b;  attend %q, %k, %v scale 0.125
    ==>
    %q = linear %u weight times<@w, 0.125> bias times<@b, 0.125>;  attend ... scale 1
    ```
    s is a power of two; it also goes through rotations, and into the weight of a
    norm on the queries. Any other scale stays in the constant of exp2. By cost
    never fires: attention multiplies queries by scale * log2 e, one constant,
    whatever the scale is.
  }];
}

def FindDeadScales : RewritePass<"find-dead-scales"> {
  let summary = "scales that the norm which alone reads them undoes";
  let description = [{
    But for eps, a positive scale on what only a norm reads has no effect. Notes
    each; changes nothing.
  }];
}
#endif
