// Exact rewrites of norms and scales on unrolled `transformer` ops, each a law.
#ifndef MILLE_REWRITE_PASSES
#define MILLE_REWRITE_PASSES
include "mlir/Pass/PassBase.td"

// Writes the func attribute `transformer.rewrites`; each one declined is also a
// remark of the category `rewrite`.
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
    Law: a(t) = a(steps) for t >= steps. Bound: 0 from the schedule's end on. The
    input `step` goes where nothing reads it any more. Only where it is asked for
    by --fold-schedules: before the end it is another model.
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
    Law: N2(A N1(x) + B F1(N1(x))) is the same expression read from the other end
    of the unit. Bound: 0, the same operations in the same order.

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
    Law: N_e(A x + B F) = N_{e/c^2}((A/c) x + (B/c) F) for c > 0; of an l2_norm, with
    e/c. c is the skip scale, so that the skip's becomes 1; where a branch cannot
    take a factor (see fold-branch-scales) and all branches have one scale, c is
    that. Bound: A/c and B/c are rounded once each: 2 * 2^-24 of |A x| + |B F|,
    divided by the norm's divisor; 0 where c is a power of two.

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
    Law: B (W h + b) = (B W) h + B b, B a number, a learned scalar, or a learned
    channel vector (B W scales rows); under a branch norm, B (n w + b) = n (B w) + B b.
    Learned ones for inference only. Bound: each folded weight is rounded once
    more: 2^-24 of sum |B W| |h| + |B b|; 0 for a power of two.

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
    Law: s (W h) = (s W) h: NTK parametrisation, muP and logit scales. Bound: 2^-24
    of sum |s W| |h|; 0 for a power of two. By cost, does not fire where a shared
    weight would need a copy.
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
    Law: W (g n + c) + b = (W diag g) n + (W c + b). Bound: each folded weight is
    rounded once more, 2^-24 of sum |W| |g n|, and the bias once.

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
    Law: (s q) . k = s (q . k), exactly where s is a power of two; through
    rotations, and into the weight of a norm on the queries. Bound: 0. Any other
    scale stays in the constant of exp2. By cost never fires: attention multiplies
    queries by scale * log2 e, one constant, whatever the scale is.
  }];
}

def FindDeadScales : RewritePass<"find-dead-scales"> {
  let summary = "scales that the norm which alone reads them undoes";
  let description = [{
    Law: N_e(c x) = N_{e/c^2}(x) for c > 0: but for eps, a scale on what only a norm
    reads has no effect. Notes each; changes nothing.
  }];
}
#endif
