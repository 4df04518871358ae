// What is not modelled is refused by name, and a launch that does not fit its
// kernel with both numbers.
// RUN: split-file %s %t
// RUN: not %mille-emulate %t/instruction.mlir 2>&1 | FileCheck %t/instruction.mlir
// RUN: not %mille-emulate %t/register.mlir 2>&1 | FileCheck %t/register.mlir
// RUN: not %mille-emulate %t/intrinsic.mlir 2>&1 | FileCheck %t/intrinsic.mlir
// RUN: not %mille-emulate %t/assembly.mlir 2>&1 | FileCheck %t/assembly.mlir
// RUN: not %mille-emulate %t/fence.mlir 2>&1 | FileCheck %t/fence.mlir
// RUN: not %mille-emulate %t/arguments.mlir 2>&1 | FileCheck %t/arguments.mlir
// RUN: not %mille-emulate %t/shared.mlir 2>&1 | FileCheck %t/shared.mlir
// RUN: not %mille-emulate %t/kernel.mlir 2>&1 | FileCheck %t/kernel.mlir
// RUN: not %mille-emulate %t/launch.mlir 2>&1 | FileCheck %t/launch.mlir
// RUN: not %mille-emulate %t/count.mlir 2>&1 | FileCheck %t/count.mlir
// RUN: not %mille-emulate %t/number.mlir 2>&1 | FileCheck %t/number.mlir

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
