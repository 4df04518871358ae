func.func @dropped(%x: tensor<?x?x8xf32>) -> tensor<?x?x8xf32> {
  %y = transformer.activate %x by gelu_erf : tensor<?x?x8xf32>
  return %y : tensor<?x?x8xf32>
}
func.func @kept(%x: tensor<?x?x8xf32>) -> tensor<?x?x8xf32> {
  %y = transformer.linear %x weight @w : tensor<?x?x8xf32> -> tensor<?x?x8xf32>
  %z = transformer.activate %y by tanh : tensor<?x?x8xf32>
  return %z : tensor<?x?x8xf32>
}
