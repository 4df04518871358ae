// What attention reads beside query, key and value; numbers as in
// attend-sight.mlir, attend-scales.mlir and biases.mlir.
// RUN: rm -rf %t && mkdir %t && cp %s %t/m.mlir
// RUN: python3 %tensors make %t/w ones:f32:1=2 sink:f32:2=1.3862943611198906,0 heads:f32:2=1,2 distance:f32:2x3=0,0,1.0986122886681098,0,0,0 pair:f32:2x4=0,1.0986122886681098,0,0,0,0,0,0
// RUN: python3 %tensors make %t/in q:f32:1x2x2=1 k:f32:1x2x1=0,1.0986122886681098 v:f32:1x2x1=0,8 none:f32:1x2x2=0 factor:f32:1x2x1=1,2 of_key:f32:1x2x2=0,0,1.0986122886681098,0 content:f32:1x2x6=1.0986122886681098,0,1.0986122886681098,0,0,0,0,0,0,0,0,0
// RUN: %mille run %t/m.mlir --target=reference --inputs %t/in --outputs %t/out
// RUN: python3 %tensors print %t/out | FileCheck %s
// CHECK-DAG: heads [1, 2, 2] 6 7.2 6 7.2{{$}}
// one number for all heads, 2, times 1 and 2 by query: 2 and 4
// CHECK-DAG: queries [1, 2, 2] 7.2 7.2 7.902439 7.902439{{$}}
// CHECK-DAG: sinks [1, 2, 2] 3 4.8 3 4.8{{$}}
// ln 3 one after the query, for head 0: 3 / 4 from token 0, 1 / 2 from token 1
// CHECK-DAG: distance [1, 2, 2] 6 4 4 4{{$}}
// ln 3 for pair (0, 1)
// CHECK-DAG: pair [1, 2, 2] 6 4 4 4{{$}}
// ln 3 for key 1
// CHECK-DAG: of_key [1, 2, 2] 6 4 6 4{{$}}
// token 0 alone says: ln 3 to what is one away, for head 0
// CHECK-DAG: content_query [1, 2, 2] 6 4 4 4{{$}}
// CHECK-DAG: content_key [1, 2, 2] 4 4 2 4{{$}}
transformer.model @m {
  transformer.parameter @ones : tensor<1xf32> = #transformer.stored<"w", "ones", tensor<1xf32>>
  transformer.parameter @sink : tensor<2xf32> = #transformer.stored<"w", "sink", tensor<2xf32>>
  transformer.parameter @heads : tensor<2xf32> = #transformer.stored<"w", "heads", tensor<2xf32>>
  transformer.parameter @distance : tensor<2x3xf32> = #transformer.stored<"w", "distance", tensor<2x3xf32>>
  transformer.parameter @pair : tensor<2x4xf32> = #transformer.stored<"w", "pair", tensor<2x4xf32>>
  func.func @forward(%batch: index {kernel.size = "batch"}, %tokens: index {kernel.size = "tokens"},
      %q: tensor<?x2xf32> {transformer.name = "q", transformer.shape = #transformer.shape<batch, tokens, 2>},
      %k: tensor<?x1xf32> {transformer.name = "k", transformer.shape = #transformer.shape<batch, tokens, 1>},
      %v: tensor<?x1xf32> {transformer.name = "v", transformer.shape = #transformer.shape<batch, tokens, 1>},
      %n: tensor<?x2xf32> {transformer.name = "none", transformer.shape = #transformer.shape<batch, tokens, 2>},
      %f: tensor<?x1xf32> {transformer.name = "factor", transformer.shape = #transformer.shape<batch, tokens, 1>},
      %b: tensor<?x2xf32> {transformer.name = "of_key", transformer.shape = #transformer.shape<batch, tokens, 2>},
      %c: tensor<?x6xf32> {transformer.name = "content", transformer.shape = #transformer.shape<batch, tokens, 6>})
      -> (tensor<?x2xf32> {transformer.name = "heads", transformer.shape = #transformer.shape<batch, tokens, 2>},
          tensor<?x2xf32> {transformer.name = "queries", transformer.shape = #transformer.shape<batch, tokens, 2>},
          tensor<?x2xf32> {transformer.name = "sinks", transformer.shape = #transformer.shape<batch, tokens, 2>},
          tensor<?x2xf32> {transformer.name = "distance", transformer.shape = #transformer.shape<batch, tokens, 2>},
          tensor<?x2xf32> {transformer.name = "pair", transformer.shape = #transformer.shape<batch, tokens, 2>},
          tensor<?x2xf32> {transformer.name = "of_key", transformer.shape = #transformer.shape<batch, tokens, 2>},
          tensor<?x2xf32> {transformer.name = "content_query", transformer.shape = #transformer.shape<batch, tokens, 2>},
          tensor<?x2xf32> {transformer.name = "content_key", transformer.shape = #transformer.shape<batch, tokens, 2>}) {
    %zero = arith.constant 0 : index
    %rows = arith.muli %batch, %tokens : index
    %one = kernel.weight @ones -> tensor<1xf32>
    %sink = kernel.weight @sink -> tensor<2xf32>
    %heads = kernel.weight @heads -> tensor<2xf32>
    %distance = kernel.weight @distance -> tensor<2x3xf32>
    %pair = kernel.weight @pair -> tensor<2x4xf32>
    %o = tensor.empty(%rows) : tensor<?x2xf32>
    %0 = kernel.attention %q, %k, %v head_scale %heads : tensor<2xf32> queries %tokens keys %tokens first %zero outs(%o : tensor<?x2xf32>)
      heads 2 kv_heads 1 head_dim 1 value_dim 1 offsets [0, 0, 0] scale 1.0 causal false
      : tensor<?x2xf32>, tensor<?x1xf32>, tensor<?x1xf32> -> tensor<?x2xf32>
    %1 = kernel.attention %q, %k, %v query_scale %f : tensor<?x1xf32> head_scale %one : tensor<1xf32> queries %tokens keys %tokens first %zero outs(%o : tensor<?x2xf32>)
      heads 2 kv_heads 1 head_dim 1 value_dim 1 offsets [0, 0, 0] scale 1.0 causal false
      : tensor<?x2xf32>, tensor<?x1xf32>, tensor<?x1xf32> -> tensor<?x2xf32>
    %2 = kernel.attention %q, %k, %v sink %sink : tensor<2xf32> queries %tokens keys %tokens first %zero outs(%o : tensor<?x2xf32>)
      heads 2 kv_heads 1 head_dim 1 value_dim 1 offsets [0, 0, 0] scale 1.0 causal false
      : tensor<?x2xf32>, tensor<?x1xf32>, tensor<?x1xf32> -> tensor<?x2xf32>
    %3 = kernel.attention %n, %k, %v bias %distance : tensor<2x3xf32> queries %tokens keys %tokens first %zero outs(%o : tensor<?x2xf32>)
      heads 2 kv_heads 1 head_dim 1 value_dim 1 offsets [0, 0, 0] scale 1.0 causal false bias_by distance
      : tensor<?x2xf32>, tensor<?x1xf32>, tensor<?x1xf32> -> tensor<?x2xf32>
    %4 = kernel.attention %n, %k, %v bias %pair : tensor<2x4xf32> queries %tokens keys %tokens first %zero outs(%o : tensor<?x2xf32>)
      heads 2 kv_heads 1 head_dim 1 value_dim 1 offsets [0, 0, 0] scale 1.0 causal false bias_by pair
      : tensor<?x2xf32>, tensor<?x1xf32>, tensor<?x1xf32> -> tensor<?x2xf32>
    %5 = kernel.attention %n, %k, %v key_head_bias %b : tensor<?x2xf32> queries %tokens keys %tokens first %zero outs(%o : tensor<?x2xf32>)
      heads 2 kv_heads 1 head_dim 1 value_dim 1 offsets [0, 0, 0] scale 1.0 causal false
      : tensor<?x2xf32>, tensor<?x1xf32>, tensor<?x1xf32> -> tensor<?x2xf32>
    %6 = kernel.attention %n, %k, %v content_query %c : tensor<?x6xf32> queries %tokens keys %tokens first %zero outs(%o : tensor<?x2xf32>)
      heads 2 kv_heads 1 head_dim 1 value_dim 1 offsets [0, 0, 0] scale 1.0 causal false
      : tensor<?x2xf32>, tensor<?x1xf32>, tensor<?x1xf32> -> tensor<?x2xf32>
    %7 = kernel.attention %n, %k, %v content_key %c : tensor<?x6xf32> queries %tokens keys %tokens first %zero outs(%o : tensor<?x2xf32>)
      heads 2 kv_heads 1 head_dim 1 value_dim 1 offsets [0, 0, 0] scale 1.0 causal false
      : tensor<?x2xf32>, tensor<?x1xf32>, tensor<?x1xf32> -> tensor<?x2xf32>
    return %0, %1, %2, %3, %4, %5, %6, %7 : tensor<?x2xf32>, tensor<?x2xf32>, tensor<?x2xf32>, tensor<?x2xf32>, tensor<?x2xf32>, tensor<?x2xf32>, tensor<?x2xf32>, tensor<?x2xf32>
  }
}
