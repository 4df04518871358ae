// Which keys a query sees, and that nothing of the others leaks. Scores are
// equal, so a row is the mean of what it sees of 1, 3, NaN. Sequences are a
// run's; in `halves` each row is one.
// RUN: rm -rf %t && mkdir %t && cp %s %t/m.mlir
// RUN: python3 %tensors make %t/w decay:f32:1=0.6931471805599453
// RUN: python3 %tensors make %t/in q:f32:1x3x1=1 k:f32:1x3x1=0,0,nan v:f32:1x3x1=1,3,nan mask:i32:1x3=1,1,0 segments:i32:1x3=0,0,1 prefix:i32:1=2
// RUN: %mille run %t/m.mlir --target=reference --inputs %t/in --outputs %t/out
// RUN: python3 %tensors print %t/out | FileCheck %s
// CHECK-DAG: window [1, 3, 1] 1 3 nan{{$}}
// CHECK-DAG: chunk [1, 3, 1] 2 2 nan{{$}}
// CHECK-DAG: segments [1, 3, 1] 2 2 nan{{$}}
// CHECK-DAG: prefixed [1, 3, 1] 2 2 nan{{$}}
// CHECK-DAG: halves [1, 3, 1] 1 3 nan{{$}}
// a query one further sees one key more: the masked one, which is not there
// CHECK-DAG: later [1, 3, 1] 2 2 2{{$}}
// q . v is 1 and 3: 1; 1 / 2 + 9; 1 / 4 + 9 / 2
// CHECK-DAG: linear [1, 3, 1] 1 9.5 4.75{{$}}
transformer.model @m {
  transformer.parameter @decay : tensor<1xf32> = #transformer.stored<"w", "decay", tensor<1xf32>>
  func.func @forward(%batch: index {kernel.size = "batch"}, %tokens: index {kernel.size = "tokens"},
      %q: tensor<?x1xf32> {transformer.name = "q", transformer.shape = #transformer.shape<batch, tokens, 1>},
      %k: tensor<?x1xf32> {transformer.name = "k", transformer.shape = #transformer.shape<batch, tokens, 1>},
      %v: tensor<?x1xf32> {transformer.name = "v", transformer.shape = #transformer.shape<batch, tokens, 1>},
      %mask: tensor<?xi32> {transformer.name = "mask", transformer.shape = #transformer.shape<batch, tokens>},
      %s: tensor<?xi32> {transformer.name = "segments", transformer.shape = #transformer.shape<batch, tokens>},
      %p: tensor<?xi32> {transformer.name = "prefix", transformer.shape = #transformer.shape<batch>})
      -> (tensor<?x1xf32> {transformer.name = "window", transformer.shape = #transformer.shape<batch, tokens, 1>},
          tensor<?x1xf32> {transformer.name = "chunk", transformer.shape = #transformer.shape<batch, tokens, 1>},
          tensor<?x1xf32> {transformer.name = "segments", transformer.shape = #transformer.shape<batch, tokens, 1>},
          tensor<?x1xf32> {transformer.name = "prefixed", transformer.shape = #transformer.shape<batch, tokens, 1>},
          tensor<?x1xf32> {transformer.name = "halves", transformer.shape = #transformer.shape<batch, tokens, 1>},
          tensor<?x1xf32> {transformer.name = "later", transformer.shape = #transformer.shape<batch, tokens, 1>},
          tensor<?x1xf32> {transformer.name = "linear", transformer.shape = #transformer.shape<batch, tokens, 1>}) {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %rows = arith.muli %batch, %tokens : index
    %decay = kernel.weight @decay -> tensor<1xf32>
    %o = tensor.empty(%rows) : tensor<?x1xf32>
    %0 = kernel.attention %q, %k, %v queries %tokens keys %tokens first %zero outs(%o : tensor<?x1xf32>)
      heads 1 kv_heads 1 head_dim 1 value_dim 1 offsets [0, 0, 0] scale 1.0 causal false window [1, 1]
      : tensor<?x1xf32>, tensor<?x1xf32>, tensor<?x1xf32> -> tensor<?x1xf32>
    %1 = kernel.attention %q, %k, %v queries %tokens keys %tokens first %zero outs(%o : tensor<?x1xf32>)
      heads 1 kv_heads 1 head_dim 1 value_dim 1 offsets [0, 0, 0] scale 1.0 causal false chunk 2
      : tensor<?x1xf32>, tensor<?x1xf32>, tensor<?x1xf32> -> tensor<?x1xf32>
    %2 = kernel.attention %q, %k, %v segments %s : tensor<?xi32> queries %tokens keys %tokens first %zero outs(%o : tensor<?x1xf32>)
      heads 1 kv_heads 1 head_dim 1 value_dim 1 offsets [0, 0, 0] scale 1.0 causal false
      : tensor<?x1xf32>, tensor<?x1xf32>, tensor<?x1xf32> -> tensor<?x1xf32>
    %3 = kernel.attention %q, %k, %v prefix %p : tensor<?xi32> queries %tokens keys %tokens first %zero outs(%o : tensor<?x1xf32>)
      heads 1 kv_heads 1 head_dim 1 value_dim 1 offsets [0, 0, 0] scale 1.0 causal true
      : tensor<?x1xf32>, tensor<?x1xf32>, tensor<?x1xf32> -> tensor<?x1xf32>
    %4 = kernel.attention %q, %k, %v queries %one keys %one first %zero outs(%o : tensor<?x1xf32>)
      heads 1 kv_heads 1 head_dim 1 value_dim 1 offsets [0, 0, 0] scale 1.0 causal false
      : tensor<?x1xf32>, tensor<?x1xf32>, tensor<?x1xf32> -> tensor<?x1xf32>
    %5 = kernel.attention %q, %k, %v key_mask %mask : tensor<?xi32> queries %tokens keys %tokens first %one outs(%o : tensor<?x1xf32>)
      heads 1 kv_heads 1 head_dim 1 value_dim 1 offsets [0, 0, 0] scale 1.0 causal true
      : tensor<?x1xf32>, tensor<?x1xf32>, tensor<?x1xf32> -> tensor<?x1xf32>
    %6 = kernel.linear_attention %q, %v, %v key_mask %mask : tensor<?xi32> decay %decay : tensor<1xf32> tokens %tokens outs(%o : tensor<?x1xf32>)
      heads 1 kv_heads 1 head_dim 1 value_dim 1 offsets [0, 0, 0] scale 1.0
      : tensor<?x1xf32>, tensor<?x1xf32>, tensor<?x1xf32> -> tensor<?x1xf32>
    return %0, %1, %2, %3, %4, %5, %6 : tensor<?x1xf32>, tensor<?x1xf32>, tensor<?x1xf32>, tensor<?x1xf32>, tensor<?x1xf32>, tensor<?x1xf32>, tensor<?x1xf32>
  }
}
