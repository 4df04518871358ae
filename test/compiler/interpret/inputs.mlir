// What is wrong with inputs is said with names, values and places.
// RUN: rm -rf %t && mkdir %t
// RUN: python3 %tensors make %t/in attention_mask:i32:1x2=1
// RUN: %refuses 1 %mille run %s --target=reference --inputs %t/in --outputs %t/out 2>&1 | FileCheck %s --check-prefix=MISSING
// MISSING: error: input input_ids is missing
// RUN: python3 %tensors make %t/in input_ids:i64:1x2=1 attention_masks:i32:1x2=1
// RUN: %refuses 1 %mille run %s --target=reference --inputs %t/in --outputs %t/out 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: error: input attention_masks is given but the model has none of that name
// UNKNOWN: note: its inputs are input_ids, attention_mask
// RUN: python3 %tensors make %t/in input_ids:i64:2x3=1 attention_mask:i32:2x4=1
// RUN: %refuses 1 %mille run %s --target=reference --inputs %t/in --outputs %t/out 2>&1 | FileCheck %s --check-prefix=SIZES
// SIZES: error: input attention_mask is [2, 4] but input_ids is [2, 3]
// RUN: python3 %tensors make %t/in input_ids:i64:6=1
// RUN: %refuses 1 %mille run %s --target=reference --inputs %t/in --outputs %t/out 2>&1 | FileCheck %s --check-prefix=RANK
// RANK: error: input input_ids is [6] but must have rank 2
// RUN: python3 %tensors make %t/in input_ids:f32:1x2=1
// RUN: %refuses 1 %mille run %s --target=reference --inputs %t/in --outputs %t/out 2>&1 | FileCheck %s --check-prefix=FLOATS
// FLOATS: error: input input_ids holds floats but must hold integers
// RUN: python3 %tensors make %t/in input_ids:i64:2x0=1
// RUN: %refuses 1 %mille run %s --target=reference --inputs %t/in --outputs %t/out 2>&1 | FileCheck %s --check-prefix=EMPTY
// EMPTY: error: input input_ids is [2, 0] but a run needs at least one sequence and one token
// RUN: python3 %tensors make %t/in input_ids:i64:2x3=1,1,1,1,-1,1
// RUN: %refuses 1 %mille run %s --target=reference --inputs %t/in --outputs %t/out 2>&1 | FileCheck %s --check-prefix=NEGATIVE
// NEGATIVE: error: input input_ids is -1 at [1, 1] but must be from 0 to 1
// RUN: python3 %tensors make %t/in input_ids:i64:1x3=0,1,0
// RUN: %mille run %s --target=reference --inputs %t/in --outputs %t/out
transformer.model @m {
  transformer.parameter @word : tensor<2x1xf32> = #transformer.drawn<fixed, mean = 1.0, std = 0.0, seed = 1, stream = "", tensor<2x1xf32>>
  func.func @forward(
      %ids: tensor<?x?xi32> {transformer.name = "input_ids", transformer.below = 2 : i64},
      %mask: tensor<?x?xi32> {transformer.name = "attention_mask", transformer.default = "ones"})
      -> (tensor<?x?x1xf32> {transformer.name = "last_hidden_state"}) {
    %x = transformer.embed(%ids) tables [@word] offsets [0] : (tensor<?x?xi32>) -> tensor<?x?x1xf32>
    return %x : tensor<?x?x1xf32>
  }
}
