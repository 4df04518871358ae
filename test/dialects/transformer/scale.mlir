// RUN: %mille-opt %s | %mille-opt | FileCheck %s

// CHECK: test.channel = #transformer.scale<learned_channel @gamma>
// CHECK: test.constant = #transformer.scale<constant 3.5565588200778455 = "(2*80)^(1/4)">
// CHECK: test.free = #transformer.scale<constant 2.0 = "(2*layers)^(1/4)">
// CHECK: test.minus = #transformer.scale<constant -4.0 = "-2^2">
// CHECK: test.root = #transformer.scale<constant 0.7071067811865476 = "sqrt(2)/2">
// CHECK: test.scalar = #transformer.scale<learned_scalar @alpha, share = layer>
// CHECK: test.scheduled = #transformer.scale<scheduled from 0.0 to 1.0 over 1000>
// CHECK: test.slot = #transformer.scale<constant @"layers.*.attn.skip_scale">
// CHECK: test.tower = #transformer.scale<constant 512.0 = "2^3^2">
module attributes {
  test.constant = #transformer.scale<constant 3.5565588200778455 = "(2*80)^(1/4)">,
  test.free = #transformer.scale<constant 2.0 = "(2*layers)^(1/4)">,
  test.minus = #transformer.scale<constant -4.0 = "-2^2">,
  test.root = #transformer.scale<constant 0.7071067811865476 = "sqrt(2)/2">,
  test.tower = #transformer.scale<constant 512.0 = "2^3^2">,
  test.slot = #transformer.scale<constant @"layers.*.attn.skip_scale">,
  test.scalar = #transformer.scale<learned_scalar @alpha, share = layer>,
  test.channel = #transformer.scale<learned_channel @gamma>,
  test.scheduled = #transformer.scale<scheduled from 0.0 to 1.0 over 1000>
} {}
