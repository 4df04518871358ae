// RUN: %mille-opt %s | %mille-opt | FileCheck %s

// CHECK: test.heads = #kernel.row_norm<rms, 1.0e-06, group = 4>
// CHECK: test.l2 = #kernel.row_norm<l2, 1.2345678901234567e-12>
// CHECK: test.layer = #kernel.row_norm<layer, 1.0e-05>
module attributes {test.heads = #kernel.row_norm<rms, 1.0e-6, group = 4>, test.layer = #kernel.row_norm<layer, 1.000000e-05>, test.l2 = #kernel.row_norm<l2, 1.2345678901234567e-12>} {}
