// A stack that is rolled already.
transformer.model @rolled {
  func.func @forward(%x: tensor<?x?x8xf32> {transformer.name = "x"})
      -> (tensor<?x?x8xf32> {transformer.name = "y"}) {
    %y = transformer.layers %x slots [[]] bodies [0] table [[]] {
    ^bb0(%s: tensor<?x?x8xf32>):
      %r = transformer.residual %s {
      ^bb0(%u: tensor<?x?x8xf32>):
        transformer.yield %u : tensor<?x?x8xf32>
      } : tensor<?x?x8xf32>
      transformer.yield %r : tensor<?x?x8xf32>
    } : tensor<?x?x8xf32>
    return %y : tensor<?x?x8xf32>
  }
}
