// What is not modelled is refused by name, and a launch that does not fit its
// kernel with both numbers.
// RUN: split-file %s %t
// RUN: not %mille-emulate %t/instruction.mlir 2>&1 | FileCheck %t/instruction.mlir
// RUN: not %mille-emulate %t/register.mlir 2>&1 | FileCheck %t/register.mlir
// RUN: not %mille-emulate %t/intrinsic.mlir 2>&1 | FileCheck %t/intrinsic.mlir
// RUN: not %mille-emulate %t/assembly.mlir 2>&1 | FileCheck %t/assembly.mlir
// RUN: not %mille-emulate %t/fence.mlir 2>&1 | FileCheck %t/fence.mlir
// RUN: not %mille-emulate %t/scope.mlir 2>&1 | FileCheck %t/scope.mlir
// RUN: not %mille-emulate %t/arguments.mlir 2>&1 | FileCheck %t/arguments.mlir
// RUN: not %mille-emulate %t/shared.mlir 2>&1 | FileCheck %t/shared.mlir
// RUN: not %mille-emulate %t/kernel.mlir 2>&1 | FileCheck %t/kernel.mlir
// RUN: not %mille-emulate %t/launch.mlir 2>&1 | FileCheck %t/launch.mlir
// RUN: not %mille-emulate %t/count.mlir 2>&1 | FileCheck %t/count.mlir
// RUN: not %mille-emulate %t/number.mlir 2>&1 | FileCheck %t/number.mlir
// RUN: not %mille-emulate %t/predicate.mlir 2>&1 | FileCheck %t/predicate.mlir
// RUN: not %mille-emulate %t/reduction.mlir 2>&1 | FileCheck %t/reduction.mlir
// RUN: not %mille-emulate %t/mode.mlir 2>&1 | FileCheck %t/mode.mlir
// RUN: not %mille-emulate %t/bytes.mlir 2>&1 | FileCheck %t/bytes.mlir
// RUN: not %mille-emulate %t/lane.mlir 2>&1 | FileCheck %t/lane.mlir
// RUN: not %mille-emulate %t/vote.mlir 2>&1 | FileCheck %t/vote.mlir
// RUN: not %mille-emulate %t/matrix.mlir 2>&1 | FileCheck %t/matrix.mlir
// RUN: not %mille-emulate %t/types.mlir 2>&1 | FileCheck %t/types.mlir
// RUN: not %mille-emulate %t/order.mlir 2>&1 | FileCheck %t/order.mlir
// RUN: not %mille-emulate %t/eight.mlir 2>&1 | FileCheck %t/eight.mlir
// RUN: not %mille-emulate %t/amount.mlir 2>&1 | FileCheck %t/amount.mlir
// RUN: not %mille-emulate %t/shape.mlir 2>&1 | FileCheck %t/shape.mlir
// RUN: not %mille-emulate %t/box.mlir 2>&1 | FileCheck %t/box.mlir
// RUN: not %mille-emulate %t/extent.mlir 2>&1 | FileCheck %t/extent.mlir
// RUN: not %mille-emulate %t/value.mlir 2>&1 | FileCheck %t/value.mlir
// RUN: not %mille-emulate %t/keys.mlir 2>&1 | FileCheck %t/keys.mlir

//--- instruction.mlir
// CHECK: error: 'nvvm.cp.async.shared.global' op is not modelled by the emulator
gpu.module @m attributes {launch = {tiles = [1], buffers = [memref<4xf32>], arguments = [{address = 0}]}} {
  llvm.mlir.global external @smem() {addr_space = 3 : i32} : !llvm.array<64 x i8>
  llvm.func @kernel(%from: !llvm.ptr<1>) attributes {nvvm.kernel} {
    %smem = llvm.mlir.addressof @smem : !llvm.ptr<3>
    nvvm.cp.async.shared.global %smem, %from, 16, cache = cg : !llvm.ptr<3>, !llvm.ptr<1>
    llvm.return
  }
}

//--- register.mlir
// CHECK: error: 'nvvm.read.ptx.sreg.clock' op the register 'clock' is not modelled by the emulator
gpu.module @m attributes {launch = {tiles = [1], buffers = [], arguments = []}} {
  llvm.func @kernel() attributes {nvvm.kernel} {
    %clock = nvvm.read.ptx.sreg.clock : i32
    llvm.return
  }
}

//--- intrinsic.mlir
// CHECK: error: 'llvm.call_intrinsic' op 'llvm.nvvm.sin.approx.f' is not modelled by the emulator
gpu.module @m attributes {launch = {tiles = [1], buffers = [], arguments = []}} {
  llvm.func @kernel() attributes {nvvm.kernel} {
    %x = llvm.mlir.constant(1.0 : f32) : f32
    %y = llvm.call_intrinsic "llvm.nvvm.sin.approx.f"(%x) : (f32) -> f32
    llvm.return
  }
}

//--- assembly.mlir
// CHECK: error: 'llvm.inline_asm' op assembly 'membar.gl;' is not modelled by the emulator
gpu.module @m attributes {launch = {tiles = [1], buffers = [], arguments = []}} {
  llvm.func @kernel() attributes {nvvm.kernel} {
    llvm.inline_asm has_side_effects "membar.gl;", "" : () -> ()
    llvm.return
  }
}

//--- fence.mlir
// CHECK: error: 'nvvm.fence.proxy' op a fence of the proxy 'alias' is not modelled by the emulator
gpu.module @m attributes {launch = {tiles = [1], buffers = [], arguments = []}} {
  llvm.func @kernel() attributes {nvvm.kernel} {
    nvvm.fence.proxy {kind = #nvvm.proxy_kind<alias>}
    llvm.return
  }
}

//--- scope.mlir
// CHECK: error: 'llvm.fence' op a fence of another scope or order is not modelled by the emulator
gpu.module @m attributes {launch = {tiles = [1], buffers = [], arguments = []}} {
  llvm.func @kernel() attributes {nvvm.kernel} {
    llvm.fence syncscope("device") release
    llvm.return
  }
}

//--- arguments.mlir
// CHECK: error: {{.*}}the kernel has 1 arguments but its launch has 0
gpu.module @m attributes {launch = {tiles = [1], buffers = [], arguments = []}} {
  llvm.func @kernel(%n: i32) attributes {nvvm.kernel} {
    llvm.return
  }
}

//--- shared.mlir
// CHECK: error: {{.*}}a launch of 128 threads in clusters of 1 with 262144 bytes of shared memory is not what a device takes
gpu.module @m attributes {launch = {shared = 262144, tiles = [1], buffers = [], arguments = []}} {
  llvm.func @kernel() attributes {nvvm.kernel} {
    llvm.return
  }
}

//--- kernel.mlir
// CHECK: error: {{.*}}has no kernel ''
gpu.module @m attributes {launch = {tiles = [1], buffers = [], arguments = []}} {
}

//--- launch.mlir
// CHECK: error: {{.*}}has no attribute 'launch'
gpu.module @m {
}

//--- count.mlir
// CHECK: error: {{.*}}'launch': there is no count 'heads'
gpu.module @m attributes {launch = {tiles = [["heads", 1, 1]], buffers = [], arguments = []}} {
}

//--- number.mlir
// CHECK: error: {{.*}}'launch': an argument is buffer 2, but there are 1
gpu.module @m attributes {launch = {tiles = [1], buffers = [memref<4xf32>], arguments = [{address = 2}]}} {
}

//--- predicate.mlir
// CHECK: error: 'nvvm.mbarrier.init' op a predicate is not modelled by the emulator
gpu.module @m attributes {launch = {tiles = [1], buffers = [], arguments = []}} {
  llvm.mlir.global external @smem() {addr_space = 3 : i32} : !llvm.array<64 x i8>
  llvm.func @kernel() attributes {nvvm.kernel} {
    %smem = llvm.mlir.addressof @smem : !llvm.ptr<3>
    %1 = llvm.mlir.constant(1 : i32) : i32
    %true = llvm.mlir.constant(true) : i1
    nvvm.mbarrier.init %smem, %1, predicate = %true : !llvm.ptr<3>, i32, i1
    llvm.return
  }
}

//--- reduction.mlir
// CHECK: error: 'nvvm.barrier' op a reduction is not modelled by the emulator
gpu.module @m attributes {launch = {tiles = [1], buffers = [], arguments = []}} {
  llvm.mlir.global external @smem() {addr_space = 3 : i32} : !llvm.array<64 x i8>
  llvm.func @kernel() attributes {nvvm.kernel} {
    %smem = llvm.mlir.addressof @smem : !llvm.ptr<3>
    %1 = llvm.mlir.constant(1 : i32) : i32
    %true = llvm.mlir.constant(true) : i1
    %r = nvvm.barrier #nvvm.reduction<popc> %1 -> i32
    llvm.return
  }
}

//--- mode.mlir
// CHECK: error: 'nvvm.cp.async.bulk.tensor.shared.cluster.global' op a mode other than tiles, or a predicate, is not modelled by the emulator
gpu.module @m attributes {launch = {tiles = [1], buffers = [], arguments = []}} {
  llvm.mlir.global external @smem() {addr_space = 3 : i32} : !llvm.array<64 x i8>
  llvm.func @kernel(%map: !llvm.ptr) attributes {nvvm.kernel} {
    %smem = llvm.mlir.addressof @smem : !llvm.ptr<3>
    %1 = llvm.mlir.constant(1 : i32) : i32
    %true = llvm.mlir.constant(true) : i1
    %far = llvm.addrspacecast %smem : !llvm.ptr<3> to !llvm.ptr<7>
    nvvm.cp.async.bulk.tensor.shared.cluster.global %far, %map, %smem, box[%1] predicate = %true : !llvm.ptr<7>, !llvm.ptr
    llvm.return
  }
}

//--- bytes.mlir
// CHECK: error: 'nvvm.cp.async.bulk.global.shared.cta' op a mask of bytes is not modelled by the emulator
gpu.module @m attributes {launch = {tiles = [1], buffers = [], arguments = []}} {
  llvm.mlir.global external @smem() {addr_space = 3 : i32} : !llvm.array<64 x i8>
  llvm.func @kernel(%to: !llvm.ptr<1>) attributes {nvvm.kernel} {
    %smem = llvm.mlir.addressof @smem : !llvm.ptr<3>
    %1 = llvm.mlir.constant(1 : i32) : i32
    %true = llvm.mlir.constant(true) : i1
    %mask = llvm.mlir.constant(1 : i16) : i16
    nvvm.cp.async.bulk.global.shared.cta %to, %smem, %1 byte_mask = %mask : !llvm.ptr<1>, !llvm.ptr<3>
    llvm.return
  }
}

//--- lane.mlir
// CHECK: error: 'nvvm.shfl.sync' op a shuffle that says whether its lane exists is not modelled by the emulator
gpu.module @m attributes {launch = {tiles = [1], buffers = [], arguments = []}} {
  llvm.mlir.global external @smem() {addr_space = 3 : i32} : !llvm.array<64 x i8>
  llvm.func @kernel() attributes {nvvm.kernel} {
    %smem = llvm.mlir.addressof @smem : !llvm.ptr<3>
    %1 = llvm.mlir.constant(1 : i32) : i32
    %true = llvm.mlir.constant(true) : i1
    %s = nvvm.shfl.sync bfly %1, %1, %1, %1 {return_value_and_is_valid} : i32 -> !llvm.struct<(i32, i1)>
    llvm.return
  }
}

//--- vote.mlir
// CHECK: error: 'nvvm.vote.sync' op the vote 'uni' is not modelled by the emulator
gpu.module @m attributes {launch = {tiles = [1], buffers = [], arguments = []}} {
  llvm.mlir.global external @smem() {addr_space = 3 : i32} : !llvm.array<64 x i8>
  llvm.func @kernel() attributes {nvvm.kernel} {
    %smem = llvm.mlir.addressof @smem : !llvm.ptr<3>
    %1 = llvm.mlir.constant(1 : i32) : i32
    %true = llvm.mlir.constant(true) : i1
    %s = nvvm.vote.sync uni %1, %true -> i1
    llvm.return
  }
}

//--- matrix.mlir
// CHECK: error: 'nvvm.ldmatrix' op a matrix of bytes is not modelled by the emulator
gpu.module @m attributes {launch = {tiles = [1], buffers = [], arguments = []}} {
  llvm.mlir.global external @smem() {addr_space = 3 : i32} : !llvm.array<64 x i8>
  llvm.func @kernel() attributes {nvvm.kernel} {
    %smem = llvm.mlir.addressof @smem : !llvm.ptr<3>
    %1 = llvm.mlir.constant(1 : i32) : i32
    %true = llvm.mlir.constant(true) : i1
    %s = nvvm.ldmatrix %smem {num = 1 : i32, layout = #nvvm.mma_layout<col>, shape = #nvvm.ld_st_matrix_shape<m = 16, n = 16>, eltType = #nvvm.ld_st_matrix_elt_type<b8>} : (!llvm.ptr<3>) -> !llvm.struct<(i32, i32)>
    llvm.return
  }
}

//--- types.mlir
// CHECK: error: 'nvvm.wgmma.mma_async' op a product of these types is not modelled by the emulator
gpu.module @m attributes {launch = {tiles = [1], buffers = [], arguments = []}} {
  llvm.func @kernel() attributes {nvvm.kernel} {
    %d = llvm.mlir.constant(0 : i64) : i64
    %c = llvm.mlir.undef : !llvm.struct<(f32, f32, f32, f32)>
    %p = nvvm.wgmma.mma_async %d, %d, %c, #nvvm.shape<m = 64, n = 8, k = 8>, D [<f32>, #nvvm.wgmma_scale_out<one>], A [<tf32>, #nvvm.wgmma_scale_in<one>, <row>], B [<tf32>, #nvvm.wgmma_scale_in<one>, <col>] : !llvm.struct<(f32, f32, f32, f32)> -> !llvm.struct<(f32, f32, f32, f32)>
    llvm.return
  }
}

//--- order.mlir
// CHECK: error: 'llvm.inline_asm' op assembly whose operands are not in order is not modelled by the emulator
gpu.module @m attributes {launch = {tiles = [1], buffers = [], arguments = []}} {
  llvm.func @kernel() attributes {nvvm.kernel} {
    %d = llvm.mlir.constant(0 : i64) : i64
    %c = llvm.mlir.constant(0.0 : f32) : f32
    %p = llvm.inline_asm has_side_effects "setp.ne.b32 p, 1, 0; wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {$0,$1,$2,$3}, {$40,$41,$42,$43}, $44, p, 1, 1, 1;", "=f,=f,=f,=f,0,1,2,3,l" %c, %c, %c, %c, %d : (f32, f32, f32, f32, i64) -> !llvm.struct<(f32, f32, f32, f32)>
    llvm.return
  }
}

//--- eight.mlir
// CHECK: error: 'nvvm.convert.f32x2.to.f8x2' op a rounding other than to the nearest e4m3 is not modelled by the emulator
gpu.module @m attributes {launch = {tiles = [1], buffers = [], arguments = []}} {
  llvm.func @kernel() attributes {nvvm.kernel} {
    %c = llvm.mlir.constant(0.0 : f32) : f32
    %p = nvvm.convert.f32x2.to.f8x2 %c, %c {rnd = #nvvm.fp_rnd_mode<rn>, sat = #nvvm.sat_mode<satfinite>} : i16 (f8E5M2)
    llvm.return
  }
}

//--- amount.mlir
// CHECK: error: {{.*}}'launch': a number is an integer or ["COUNT", times, per]
gpu.module @m attributes {launch = {tiles = [["rows", 1]], buffers = [], arguments = []}} {
}

//--- shape.mlir
// CHECK: error: {{.*}}'launch': a buffer is a memref of a fixed shape
gpu.module @m attributes {launch = {tiles = [1], buffers = [memref<?xf32>], arguments = []}} {
}

//--- box.mlir
// CHECK: error: {{.*}}'launch': a tensor has a box of at most 5 dimensions
gpu.module @m attributes {launch = {tiles = [1], buffers = [memref<4xf32>], arguments = [{tensor = 0}]}} {
}

//--- extent.mlir
// CHECK: error: {{.*}}'launch': a tensor has extents and strides for each dimension
gpu.module @m attributes {launch = {tiles = [1], buffers = [memref<4xf32>], arguments = [{tensor = 0, box = [4, 4]}]}} {
}

//--- value.mlir
// CHECK: error: {{.*}}'launch': a value is an integer or a number of f32
gpu.module @m attributes {launch = {tiles = [1], buffers = [], arguments = [{value = "x"}]}} {
}

//--- keys.mlir
// CHECK: error: {{.*}}'launch': there must be 'buffers', 'arguments' and 'tiles'
gpu.module @m attributes {launch = {tiles = [1]}} {
}
