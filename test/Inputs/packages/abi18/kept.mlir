module {
  transformer.model @kept attributes {family = "native", hidden_size = 16 : i64, layers = 2 : i64, max_tokens = 40 : i64, vocab_size = 48 : i64} {
    transformer.parameter @embed.weight : tensor<48x16xf32> = #transformer.stored<"model.safetensors", "embed.weight", tensor<48x16xf32>>
    transformer.parameter @position.weight : tensor<40x16xf32> = #transformer.stored<"model.safetensors", "position.weight", tensor<40x16xf32>>
    transformer.parameter @embed_norm.weight : tensor<16xf32> = #transformer.stored<"model.safetensors", "embed_norm.weight", tensor<16xf32>>
    transformer.parameter @embed_norm.bias : tensor<16xf32> = #transformer.stored<"model.safetensors", "embed_norm.bias", tensor<16xf32>>
    transformer.parameter @layers.0.attn.out_norm.weight : tensor<16xf32> = #transformer.stored<"model.safetensors", "layers.0.attn.out_norm.weight", tensor<16xf32>>
    transformer.parameter @layers.0.attn.out_norm.bias : tensor<16xf32> = #transformer.stored<"model.safetensors", "layers.0.attn.out_norm.bias", tensor<16xf32>>
    transformer.parameter @layers.0.attn.q.weight : tensor<24x16xf32> = #transformer.stored<"model.safetensors", "layers.0.attn.q.weight", tensor<24x16xf32>>
    transformer.parameter @layers.0.attn.q.bias : tensor<24xf32> = #transformer.stored<"model.safetensors", "layers.0.attn.q.bias", tensor<24xf32>>
    transformer.parameter @layers.0.attn.k.weight : tensor<24x16xf32> = #transformer.stored<"model.safetensors", "layers.0.attn.k.weight", tensor<24x16xf32>>
    transformer.parameter @layers.0.attn.k.bias : tensor<24xf32> = #transformer.stored<"model.safetensors", "layers.0.attn.k.bias", tensor<24xf32>>
    transformer.parameter @layers.0.attn.v.weight : tensor<24x16xf32> = #transformer.stored<"model.safetensors", "layers.0.attn.v.weight", tensor<24x16xf32>>
    transformer.parameter @layers.0.attn.v.bias : tensor<24xf32> = #transformer.stored<"model.safetensors", "layers.0.attn.v.bias", tensor<24xf32>>
    transformer.parameter @layers.0.attn.o.weight : tensor<16x24xf32> = #transformer.stored<"model.safetensors", "layers.0.attn.o.weight", tensor<16x24xf32>>
    transformer.parameter @layers.0.attn.o.bias : tensor<16xf32> = #transformer.stored<"model.safetensors", "layers.0.attn.o.bias", tensor<16xf32>>
    transformer.parameter @layers.0.ffn.out_norm.weight : tensor<16xf32> = #transformer.stored<"model.safetensors", "layers.0.ffn.out_norm.weight", tensor<16xf32>>
    transformer.parameter @layers.0.ffn.out_norm.bias : tensor<16xf32> = #transformer.stored<"model.safetensors", "layers.0.ffn.out_norm.bias", tensor<16xf32>>
    transformer.parameter @layers.0.ffn.in.weight : tensor<22x16xf32> = #transformer.stored<"model.safetensors", "layers.0.ffn.in.weight", tensor<22x16xf32>>
    transformer.parameter @layers.0.ffn.in.bias : tensor<22xf32> = #transformer.stored<"model.safetensors", "layers.0.ffn.in.bias", tensor<22xf32>>
    transformer.parameter @layers.0.ffn.out.weight : tensor<16x22xf32> = #transformer.stored<"model.safetensors", "layers.0.ffn.out.weight", tensor<16x22xf32>>
    transformer.parameter @layers.0.ffn.out.bias : tensor<16xf32> = #transformer.stored<"model.safetensors", "layers.0.ffn.out.bias", tensor<16xf32>>
    transformer.parameter @layers.1.attn.out_norm.weight : tensor<16xf32> = #transformer.stored<"model.safetensors", "layers.1.attn.out_norm.weight", tensor<16xf32>>
    transformer.parameter @layers.1.attn.out_norm.bias : tensor<16xf32> = #transformer.stored<"model.safetensors", "layers.1.attn.out_norm.bias", tensor<16xf32>>
    transformer.parameter @layers.1.attn.q.weight : tensor<24x16xf32> = #transformer.stored<"model.safetensors", "layers.1.attn.q.weight", tensor<24x16xf32>>
    transformer.parameter @layers.1.attn.q.bias : tensor<24xf32> = #transformer.stored<"model.safetensors", "layers.1.attn.q.bias", tensor<24xf32>>
    transformer.parameter @layers.1.attn.k.weight : tensor<24x16xf32> = #transformer.stored<"model.safetensors", "layers.1.attn.k.weight", tensor<24x16xf32>>
    transformer.parameter @layers.1.attn.k.bias : tensor<24xf32> = #transformer.stored<"model.safetensors", "layers.1.attn.k.bias", tensor<24xf32>>
    transformer.parameter @layers.1.attn.v.weight : tensor<24x16xf32> = #transformer.stored<"model.safetensors", "layers.1.attn.v.weight", tensor<24x16xf32>>
    transformer.parameter @layers.1.attn.v.bias : tensor<24xf32> = #transformer.stored<"model.safetensors", "layers.1.attn.v.bias", tensor<24xf32>>
    transformer.parameter @layers.1.attn.o.weight : tensor<16x24xf32> = #transformer.stored<"model.safetensors", "layers.1.attn.o.weight", tensor<16x24xf32>>
    transformer.parameter @layers.1.attn.o.bias : tensor<16xf32> = #transformer.stored<"model.safetensors", "layers.1.attn.o.bias", tensor<16xf32>>
    transformer.parameter @layers.1.ffn.out_norm.weight : tensor<16xf32> = #transformer.stored<"model.safetensors", "layers.1.ffn.out_norm.weight", tensor<16xf32>>
    transformer.parameter @layers.1.ffn.out_norm.bias : tensor<16xf32> = #transformer.stored<"model.safetensors", "layers.1.ffn.out_norm.bias", tensor<16xf32>>
    transformer.parameter @layers.1.ffn.in.weight : tensor<22x16xf32> = #transformer.stored<"model.safetensors", "layers.1.ffn.in.weight", tensor<22x16xf32>>
    transformer.parameter @layers.1.ffn.in.bias : tensor<22xf32> = #transformer.stored<"model.safetensors", "layers.1.ffn.in.bias", tensor<22xf32>>
    transformer.parameter @layers.1.ffn.out.weight : tensor<16x22xf32> = #transformer.stored<"model.safetensors", "layers.1.ffn.out.weight", tensor<16x22xf32>>
    transformer.parameter @layers.1.ffn.out.bias : tensor<16xf32> = #transformer.stored<"model.safetensors", "layers.1.ffn.out.bias", tensor<16xf32>>
    transformer.parameter @head.weight : tensor<48x16xf32> = #transformer.stored<"model.safetensors", "head.weight", tensor<48x16xf32>>
    func.func @forward(%arg0: tensor<?x?xi32> {transformer.below = 48 : i64, transformer.name = "input_ids"}, %arg1: tensor<?x?xi32> {transformer.default = "ones", transformer.name = "attention_mask"}, %arg2: tensor<?x?xi32> {transformer.below = 40 : i64, transformer.default = "positions", transformer.name = "position_ids"}) -> (tensor<?x?x16xf32> {transformer.name = "last_hidden_state"}, tensor<?x?x48xf32> {transformer.name = "logits"}) {
      %0 = transformer.embed(%arg0, %arg2) tables [@embed.weight, @position.weight] offsets [0, 0] : (tensor<?x?xi32>, tensor<?x?xi32>) -> tensor<?x?x16xf32>
      %1 = transformer.norm %0 by <layer_norm, eps = 1.0e-05, affine = weight, weight = @embed_norm.weight, bias = @embed_norm.bias> : tensor<?x?x16xf32>
      %2 = transformer.residual %1 out_norm <layer_norm, eps = 1.0e-05, affine = weight, weight = @layers.0.attn.out_norm.weight, bias = @layers.0.attn.out_norm.bias> layer 0 {
      ^bb0(%arg3: tensor<?x?x16xf32>):
        %7 = transformer.linear %arg3 weight @layers.0.attn.q.weight bias @layers.0.attn.q.bias : tensor<?x?x16xf32> -> tensor<?x?x24xf32>
        %8 = transformer.linear %arg3 weight @layers.0.attn.k.weight bias @layers.0.attn.k.bias : tensor<?x?x16xf32> -> tensor<?x?x24xf32>
        %9 = transformer.linear %arg3 weight @layers.0.attn.v.weight bias @layers.0.attn.v.bias : tensor<?x?x16xf32> -> tensor<?x?x24xf32>
        %10 = transformer.attend %7, %8, %9 key_mask %arg1 : tensor<?x?xi32> heads 3 kv_heads 3 head_dim 8 value_dim 8 scale 0.35355339059327373 mask  bidirectional : tensor<?x?x24xf32>, tensor<?x?x24xf32>, tensor<?x?x24xf32> -> tensor<?x?x24xf32>
        %11 = transformer.linear %10 weight @layers.0.attn.o.weight bias @layers.0.attn.o.bias : tensor<?x?x24xf32> -> tensor<?x?x16xf32>
        transformer.yield %11 : tensor<?x?x16xf32>
      } : tensor<?x?x16xf32>
      %3 = transformer.residual %2 out_norm <layer_norm, eps = 1.0e-05, affine = weight, weight = @layers.0.ffn.out_norm.weight, bias = @layers.0.ffn.out_norm.bias> layer 0 {
      ^bb0(%arg3: tensor<?x?x16xf32>):
        %7 = transformer.linear %arg3 weight @layers.0.ffn.in.weight bias @layers.0.ffn.in.bias : tensor<?x?x16xf32> -> tensor<?x?x22xf32>
        %8 = transformer.activate %7 by  gelu_erf : tensor<?x?x22xf32>
        %9 = transformer.linear %8 weight @layers.0.ffn.out.weight bias @layers.0.ffn.out.bias : tensor<?x?x22xf32> -> tensor<?x?x16xf32>
        transformer.yield %9 : tensor<?x?x16xf32>
      } : tensor<?x?x16xf32>
      %4 = transformer.residual %3 out_norm <layer_norm, eps = 1.0e-05, affine = weight, weight = @layers.1.attn.out_norm.weight, bias = @layers.1.attn.out_norm.bias> layer 1 {
      ^bb0(%arg3: tensor<?x?x16xf32>):
        %7 = transformer.linear %arg3 weight @layers.1.attn.q.weight bias @layers.1.attn.q.bias : tensor<?x?x16xf32> -> tensor<?x?x24xf32>
        %8 = transformer.linear %arg3 weight @layers.1.attn.k.weight bias @layers.1.attn.k.bias : tensor<?x?x16xf32> -> tensor<?x?x24xf32>
        %9 = transformer.linear %arg3 weight @layers.1.attn.v.weight bias @layers.1.attn.v.bias : tensor<?x?x16xf32> -> tensor<?x?x24xf32>
        %10 = transformer.attend %7, %8, %9 key_mask %arg1 : tensor<?x?xi32> heads 3 kv_heads 3 head_dim 8 value_dim 8 scale 0.35355339059327373 mask  bidirectional : tensor<?x?x24xf32>, tensor<?x?x24xf32>, tensor<?x?x24xf32> -> tensor<?x?x24xf32>
        %11 = transformer.linear %10 weight @layers.1.attn.o.weight bias @layers.1.attn.o.bias : tensor<?x?x24xf32> -> tensor<?x?x16xf32>
        transformer.yield %11 : tensor<?x?x16xf32>
      } : tensor<?x?x16xf32>
      %5 = transformer.residual %4 out_norm <layer_norm, eps = 1.0e-05, affine = weight, weight = @layers.1.ffn.out_norm.weight, bias = @layers.1.ffn.out_norm.bias> layer 1 {
      ^bb0(%arg3: tensor<?x?x16xf32>):
        %7 = transformer.linear %arg3 weight @layers.1.ffn.in.weight bias @layers.1.ffn.in.bias : tensor<?x?x16xf32> -> tensor<?x?x22xf32>
        %8 = transformer.activate %7 by  gelu_erf : tensor<?x?x22xf32>
        %9 = transformer.linear %8 weight @layers.1.ffn.out.weight bias @layers.1.ffn.out.bias : tensor<?x?x22xf32> -> tensor<?x?x16xf32>
        transformer.yield %9 : tensor<?x?x16xf32>
      } : tensor<?x?x16xf32>
      %6 = transformer.linear %5 weight @head.weight : tensor<?x?x16xf32> -> tensor<?x?x48xf32>
      return %5, %6 : tensor<?x?x16xf32>, tensor<?x?x48xf32>
    }
  }
}
