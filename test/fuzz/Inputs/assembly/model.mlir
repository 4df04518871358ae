transformer.model @m {
  transformer.parameter @w : tensor<8x8xf32> = #transformer.transpose<#transformer.slice<#transformer.stored<"f", "w", tensor<8x16xf32>>, axis = 1, offset = 0, size = 8, stride = 1>>
  transformer.parameter @d : tensor<8xf32> = #transformer.drawn<truncated_normal, mean = 0.0, std = 0.02, cut = 2.0, seed = 7, stream = "w", tensor<8xf32>>
  func.func @forward(%x: tensor<?x?x8xf32> {transformer.name = "x"}) -> (tensor<?x?x8xf32> {transformer.name = "y"}) {
    %y = transformer.layers %x slots [["w", "s"]] bodies [0, 0] table [[@w, 1.0], [@w, 1.4]] {
    ^bb0(%s: tensor<?x?x8xf32>):
      %0 = transformer.residual %s in_norm [#transformer.norm<rms_norm, eps = 1.0e-6, affine = weight, weight = @d>]
          out_norm <layer_norm, eps = 1.0e-5> skip_scale <constant @s> branch_scale [#transformer.scale<constant 3.5565588200778455 = "(2*80)^(1/4)">] layer 0 {
      ^bb0(%u: tensor<?x?x8xf32>):
        %1 = transformer.linear %u weight @w : tensor<?x?x8xf32> -> tensor<?x?x8xf32>
        transformer.yield %1 : tensor<?x?x8xf32>
      } : tensor<?x?x8xf32>
      transformer.yield %0 : tensor<?x?x8xf32>
    } : tensor<?x?x8xf32>
    return %y : tensor<?x?x8xf32>
  }
}
