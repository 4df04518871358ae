// Where an error is told the pass fails, too.
// RUN: %refuses 1 %mille-opt %s --convert-to-kernel 2>&1 | FileCheck %s
// CHECK: error: 'transformer.embed_gradient' op reads rows of batch * tokens and of batch * decoder_tokens
// CHECK-NOT: transformer.model
transformer.model @ids_of_other_rows {
  transformer.parameter @t : tensor<11x4xf32> = #transformer.drawn<normal, mean = 0.0, std = 1.0, seed = 1, stream = "t", tensor<11x4xf32>>
  func.func @train_step(%x: tensor<?x?x4xf32> {transformer.name = "x"}, %ids: tensor<?x?xi32> {transformer.name = "ids", transformer.shape = #transformer.shape<batch, decoder_tokens>}) -> (tensor<?x?x4xf32> {transformer.name = "y"}) {
    transformer.embed_gradient %x to(%ids) tables [@t] offsets [0] : tensor<?x?x4xf32>, (tensor<?x?xi32>)
    return %x : tensor<?x?x4xf32>
  }
}
