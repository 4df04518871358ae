// Instructions used as the device does not allow, each in a kernel of its own.
// RUN: split-file %s %t
// RUN: not %mille-emulate %t/parity.mlir --seeds=1 2>&1 | FileCheck %t/parity.mlir
// RUN: not %mille-emulate %t/twice.mlir --seeds=1 2>&1 | FileCheck %t/twice.mlir
// RUN: not %mille-emulate %t/aligned.mlir --seeds=1 2>&1 | FileCheck %t/aligned.mlir
// RUN: not %mille-emulate %t/many.mlir --seeds=1 2>&1 | FileCheck %t/many.mlir
// RUN: not %mille-emulate %t/none.mlir --seeds=1 2>&1 | FileCheck %t/none.mlir
// RUN: not %mille-emulate %t/early.mlir --seeds=1 2>&1 | FileCheck %t/early.mlir
// RUN: not %mille-emulate %t/zero.mlir --seeds=1 2>&1 | FileCheck %t/zero.mlir
// RUN: not %mille-emulate %t/rank.mlir --seeds=1 2>&1 | FileCheck %t/rank.mlir
// RUN: not %mille-emulate %t/id.mlir --seeds=1 2>&1 | FileCheck %t/id.mlir
// RUN: not %mille-emulate %t/odd.mlir --seeds=1 2>&1 | FileCheck %t/odd.mlir
// RUN: not %mille-emulate %t/again.mlir --seeds=1 2>&1 | FileCheck %t/again.mlir
// RUN: not %mille-emulate %t/cluster.mlir --seeds=1 2>&1 | FileCheck %t/cluster.mlir
// RUN: not %mille-emulate %t/place.mlir --seeds=1 2>&1 | FileCheck %t/place.mlir
// RUN: not %mille-emulate %t/dimensions.mlir --seeds=1 2>&1 | FileCheck %t/dimensions.mlir
// RUN: not %mille-emulate %t/map.mlir --seeds=1 2>&1 | FileCheck %t/map.mlir
// RUN: not %mille-emulate %t/line.mlir --seeds=1 2>&1 | FileCheck %t/line.mlir
// RUN: not %mille-emulate %t/stride.mlir --seeds=1 2>&1 | FileCheck %t/stride.mlir
// RUN: not %mille-emulate %t/box.mlir --seeds=1 2>&1 | FileCheck %t/box.mlir
// RUN: not %mille-emulate %t/flight.mlir --seeds=1 2>&1 | FileCheck %t/flight.mlir
// RUN: not %mille-emulate %t/bytes.mlir --seeds=1 2>&1 | FileCheck %t/bytes.mlir
// RUN: not %mille-emulate %t/group.mlir --seeds=1 2>&1 | FileCheck %t/group.mlir
// RUN: not %mille-emulate %t/swizzle.mlir --seeds=1 2>&1 | FileCheck %t/swizzle.mlir
// RUN: not %mille-emulate %t/empty.mlir --seeds=1 2>&1 | FileCheck %t/empty.mlir
// RUN: not %mille-emulate %t/differ.mlir --seeds=1 2>&1 | FileCheck %t/differ.mlir

//--- parity.mlir
// CHECK: wait for the parity 2, which is neither 0 nor 1
gpu.module @m attributes {launch = {shared = 4096, threads = 32, tiles = [1], buffers = [], arguments = []}} {
  llvm.mlir.global external @smem() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
  llvm.func @kernel() attributes {nvvm.kernel} {
    %smem = llvm.mlir.addressof @smem : !llvm.ptr<3>
    %0 = llvm.mlir.constant(0 : i32) : i32
    %1 = llvm.mlir.constant(1 : i32) : i32
    %2 = llvm.mlir.constant(2 : i32) : i32
    %ticks = llvm.mlir.constant(1000 : i32) : i32
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %first = llvm.icmp "eq" %tid, %0 : i32
    llvm.cond_br %first, ^one, ^all
  ^one:
    nvvm.mbarrier.init %smem, %2 : !llvm.ptr<3>, i32
    llvm.br ^all
  ^all:
    nvvm.barrier0
    nvvm.mbarrier.try_wait.parity %smem, %2, %ticks : !llvm.ptr<3>, i32, i32
    llvm.return
  }
}

//--- twice.mlir
// CHECK: mbarrier +0 initialised twice
gpu.module @m attributes {launch = {shared = 4096, threads = 32, tiles = [1], buffers = [], arguments = []}} {
  llvm.mlir.global external @smem() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
  llvm.func @kernel() attributes {nvvm.kernel} {
    %smem = llvm.mlir.addressof @smem : !llvm.ptr<3>
    %0 = llvm.mlir.constant(0 : i32) : i32
    %1 = llvm.mlir.constant(1 : i32) : i32
    %2 = llvm.mlir.constant(2 : i32) : i32
    %ticks = llvm.mlir.constant(1000 : i32) : i32
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %first = llvm.icmp "eq" %tid, %0 : i32
    llvm.cond_br %first, ^one, ^all
  ^one:
    nvvm.mbarrier.init %smem, %2 : !llvm.ptr<3>, i32
    nvvm.mbarrier.init %smem, %2 : !llvm.ptr<3>, i32
    llvm.br ^all
  ^all:
    llvm.return
  }
}

//--- aligned.mlir
// CHECK: mbarrier at +4, which is no multiple of 8
gpu.module @m attributes {launch = {shared = 4096, threads = 32, tiles = [1], buffers = [], arguments = []}} {
  llvm.mlir.global external @smem() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
  llvm.func @kernel() attributes {nvvm.kernel} {
    %smem = llvm.mlir.addressof @smem : !llvm.ptr<3>
    %0 = llvm.mlir.constant(0 : i32) : i32
    %1 = llvm.mlir.constant(1 : i32) : i32
    %2 = llvm.mlir.constant(2 : i32) : i32
    %ticks = llvm.mlir.constant(1000 : i32) : i32
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %first = llvm.icmp "eq" %tid, %0 : i32
    llvm.cond_br %first, ^one, ^all
  ^one:
    %four = llvm.getelementptr %smem[4] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    nvvm.mbarrier.init %four, %2 : !llvm.ptr<3>, i32
    llvm.br ^all
  ^all:
    llvm.return
  }
}

//--- many.mlir
// CHECK: 3 arrival(s) at mbarrier +0, which expects 2 more of 2 in this phase
gpu.module @m attributes {launch = {shared = 4096, threads = 32, tiles = [1], buffers = [], arguments = []}} {
  llvm.mlir.global external @smem() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
  llvm.func @kernel() attributes {nvvm.kernel} {
    %smem = llvm.mlir.addressof @smem : !llvm.ptr<3>
    %0 = llvm.mlir.constant(0 : i32) : i32
    %1 = llvm.mlir.constant(1 : i32) : i32
    %2 = llvm.mlir.constant(2 : i32) : i32
    %ticks = llvm.mlir.constant(1000 : i32) : i32
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %first = llvm.icmp "eq" %tid, %0 : i32
    llvm.cond_br %first, ^one, ^all
  ^one:
    nvvm.mbarrier.init %smem, %2 : !llvm.ptr<3>, i32
    %3 = llvm.mlir.constant(3 : i32) : i32
    %t = nvvm.mbarrier.arrive %smem, %3 : !llvm.ptr<3> -> i64
    llvm.br ^all
  ^all:
    llvm.return
  }
}

//--- none.mlir
// CHECK: mbarrier +0 used but not initialised
gpu.module @m attributes {launch = {shared = 4096, threads = 32, tiles = [1], buffers = [], arguments = []}} {
  llvm.mlir.global external @smem() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
  llvm.func @kernel() attributes {nvvm.kernel} {
    %smem = llvm.mlir.addressof @smem : !llvm.ptr<3>
    %0 = llvm.mlir.constant(0 : i32) : i32
    %1 = llvm.mlir.constant(1 : i32) : i32
    %2 = llvm.mlir.constant(2 : i32) : i32
    %ticks = llvm.mlir.constant(1000 : i32) : i32
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %first = llvm.icmp "eq" %tid, %0 : i32
    llvm.cond_br %first, ^one, ^all
  ^one:
    %t = nvvm.mbarrier.arrive %smem : !llvm.ptr<3> -> i64
    llvm.br ^all
  ^all:
    llvm.return
  }
}

//--- early.mlir
// CHECK: {{mbarrier \+0 used (before anything orders its initialisation by thread 0|but not initialised)}}
gpu.module @m attributes {launch = {shared = 4096, threads = 32, tiles = [1], buffers = [], arguments = []}} {
  llvm.mlir.global external @smem() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
  llvm.func @kernel() attributes {nvvm.kernel} {
    %smem = llvm.mlir.addressof @smem : !llvm.ptr<3>
    %0 = llvm.mlir.constant(0 : i32) : i32
    %1 = llvm.mlir.constant(1 : i32) : i32
    %2 = llvm.mlir.constant(2 : i32) : i32
    %ticks = llvm.mlir.constant(1000 : i32) : i32
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %first = llvm.icmp "eq" %tid, %0 : i32
    llvm.cond_br %first, ^one, ^all
  ^one:
    nvvm.mbarrier.init %smem, %2 : !llvm.ptr<3>, i32
    llvm.br ^all
  ^all:
    %t = nvvm.mbarrier.arrive %smem : !llvm.ptr<3> -> i64
    llvm.return
  }
}

//--- zero.mlir
// CHECK: mbarrier initialised with count 0
gpu.module @m attributes {launch = {shared = 4096, threads = 32, tiles = [1], buffers = [], arguments = []}} {
  llvm.mlir.global external @smem() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
  llvm.func @kernel() attributes {nvvm.kernel} {
    %smem = llvm.mlir.addressof @smem : !llvm.ptr<3>
    %0 = llvm.mlir.constant(0 : i32) : i32
    %1 = llvm.mlir.constant(1 : i32) : i32
    %2 = llvm.mlir.constant(2 : i32) : i32
    %ticks = llvm.mlir.constant(1000 : i32) : i32
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %first = llvm.icmp "eq" %tid, %0 : i32
    llvm.cond_br %first, ^one, ^all
  ^one:
    nvvm.mbarrier.init %smem, %0 : !llvm.ptr<3>, i32
    llvm.br ^all
  ^all:
    llvm.return
  }
}

//--- rank.mlir
// CHECK: mapa of block 2 in a cluster of 1
gpu.module @m attributes {launch = {shared = 4096, threads = 32, tiles = [1], buffers = [], arguments = []}} {
  llvm.mlir.global external @smem() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
  llvm.func @kernel() attributes {nvvm.kernel} {
    %smem = llvm.mlir.addressof @smem : !llvm.ptr<3>
    %0 = llvm.mlir.constant(0 : i32) : i32
    %1 = llvm.mlir.constant(1 : i32) : i32
    %2 = llvm.mlir.constant(2 : i32) : i32
    %ticks = llvm.mlir.constant(1000 : i32) : i32
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %first = llvm.icmp "eq" %tid, %0 : i32
    llvm.cond_br %first, ^one, ^all
  ^one:
    %far = nvvm.mapa %smem, %2 : !llvm.ptr<3> -> !llvm.ptr<7>
    llvm.br ^all
  ^all:
    llvm.return
  }
}

//--- id.mlir
// CHECK: named barrier 1000, but a block has 16
gpu.module @m attributes {launch = {shared = 4096, threads = 32, tiles = [1], buffers = [], arguments = []}} {
  llvm.mlir.global external @smem() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
  llvm.func @kernel() attributes {nvvm.kernel} {
    %smem = llvm.mlir.addressof @smem : !llvm.ptr<3>
    %0 = llvm.mlir.constant(0 : i32) : i32
    %1 = llvm.mlir.constant(1 : i32) : i32
    %2 = llvm.mlir.constant(2 : i32) : i32
    %ticks = llvm.mlir.constant(1000 : i32) : i32
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %first = llvm.icmp "eq" %tid, %0 : i32
    llvm.cond_br %first, ^one, ^all
  ^one:
    llvm.br ^all
  ^all:
    nvvm.barrier id = %ticks number_of_threads = %ticks
    llvm.return
  }
}

//--- odd.mlir
// CHECK: named barrier 1 for 2 threads of the 32 of a block
gpu.module @m attributes {launch = {shared = 4096, threads = 32, tiles = [1], buffers = [], arguments = []}} {
  llvm.mlir.global external @smem() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
  llvm.func @kernel() attributes {nvvm.kernel} {
    %smem = llvm.mlir.addressof @smem : !llvm.ptr<3>
    %0 = llvm.mlir.constant(0 : i32) : i32
    %1 = llvm.mlir.constant(1 : i32) : i32
    %2 = llvm.mlir.constant(2 : i32) : i32
    %ticks = llvm.mlir.constant(1000 : i32) : i32
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %first = llvm.icmp "eq" %tid, %0 : i32
    llvm.cond_br %first, ^one, ^all
  ^one:
    llvm.br ^all
  ^all:
    nvvm.barrier id = %1 number_of_threads = %2
    llvm.return
  }
}

//--- again.mlir
// CHECK: arrives at named barrier 1 again while {{[0-9]+}} of 64 threads are there
gpu.module @m attributes {launch = {shared = 64, threads = 64, tiles = [1], buffers = [], arguments = []}} {
  llvm.mlir.global external @smem() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
  llvm.func @kernel() attributes {nvvm.kernel} {
    %smem = llvm.mlir.addressof @smem : !llvm.ptr<3>
    %0 = llvm.mlir.constant(0 : i32) : i32
    %1 = llvm.mlir.constant(1 : i32) : i32
    %2 = llvm.mlir.constant(2 : i32) : i32
    %ticks = llvm.mlir.constant(1000 : i32) : i32
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %first = llvm.icmp "eq" %tid, %0 : i32
    llvm.cond_br %first, ^one, ^all
  ^one:
    llvm.br ^all
  ^all:
    %64 = llvm.mlir.constant(64 : i32) : i32
    nvvm.barrier.arrive id = %1 number_of_threads = %64
    nvvm.barrier.arrive id = %1 number_of_threads = %64
    llvm.return
  }
}

//--- cluster.mlir
// CHECK: cluster.wait without cluster.arrive
gpu.module @m attributes {launch = {shared = 4096, threads = 32, tiles = [1], buffers = [], arguments = []}} {
  llvm.mlir.global external @smem() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
  llvm.func @kernel() attributes {nvvm.kernel} {
    %smem = llvm.mlir.addressof @smem : !llvm.ptr<3>
    %0 = llvm.mlir.constant(0 : i32) : i32
    %1 = llvm.mlir.constant(1 : i32) : i32
    %2 = llvm.mlir.constant(2 : i32) : i32
    %ticks = llvm.mlir.constant(1000 : i32) : i32
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %first = llvm.icmp "eq" %tid, %0 : i32
    llvm.cond_br %first, ^one, ^all
  ^one:
    llvm.br ^all
  ^all:
    nvvm.cluster.wait
    llvm.return
  }
}

//--- place.mlir
// CHECK: a box at +1040, which is no multiple of 1024 bytes
gpu.module @m attributes {launch = {shared = 4096, threads = 32, tiles = [1], buffers = [memref<8x64xbf16>], arguments = [{tensor = 0, box = [64, 8]}]}} {
  llvm.mlir.global external @smem() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
  llvm.func @kernel(%map: !llvm.ptr) attributes {nvvm.kernel} {
    %smem = llvm.mlir.addressof @smem : !llvm.ptr<3>
    %0 = llvm.mlir.constant(0 : i32) : i32
    %1 = llvm.mlir.constant(1 : i32) : i32
    %2 = llvm.mlir.constant(2 : i32) : i32
    %ticks = llvm.mlir.constant(1000 : i32) : i32
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %first = llvm.icmp "eq" %tid, %0 : i32
    llvm.cond_br %first, ^one, ^all
  ^one:
    nvvm.mbarrier.init %smem, %2 : !llvm.ptr<3>, i32
    %at = llvm.getelementptr %smem[1040] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    nvvm.fence.mbarrier.init
    %far = llvm.addrspacecast %at : !llvm.ptr<3> to !llvm.ptr<7>
    nvvm.cp.async.bulk.tensor.shared.cluster.global %far, %map, %smem, box[%0, %0] : !llvm.ptr<7>, !llvm.ptr
    llvm.br ^all
  ^all:
    llvm.return
  }
}

//--- dimensions.mlir
// CHECK: a copy with 2 coordinates by a tensor map with 1
gpu.module @m attributes {launch = {shared = 4096, threads = 32, tiles = [1], buffers = [memref<64xbf16>], arguments = [{tensor = 0, box = [64]}]}} {
  llvm.mlir.global external @smem() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
  llvm.func @kernel(%map: !llvm.ptr) attributes {nvvm.kernel} {
    %smem = llvm.mlir.addressof @smem : !llvm.ptr<3>
    %0 = llvm.mlir.constant(0 : i32) : i32
    %1 = llvm.mlir.constant(1 : i32) : i32
    %2 = llvm.mlir.constant(2 : i32) : i32
    %ticks = llvm.mlir.constant(1000 : i32) : i32
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %first = llvm.icmp "eq" %tid, %0 : i32
    llvm.cond_br %first, ^one, ^all
  ^one:
    nvvm.mbarrier.init %smem, %2 : !llvm.ptr<3>, i32
    %at = llvm.getelementptr %smem[1024] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    nvvm.fence.mbarrier.init
    %far = llvm.addrspacecast %at : !llvm.ptr<3> to !llvm.ptr<7>
    nvvm.cp.async.bulk.tensor.shared.cluster.global %far, %map, %smem, box[%0, %0] : !llvm.ptr<7>, !llvm.ptr
    llvm.br ^all
  ^all:
    llvm.return
  }
}

//--- map.mlir
// CHECK: a copy by an address that is no tensor map
gpu.module @m attributes {launch = {shared = 4096, threads = 32, tiles = [1], buffers = [memref<64xbf16>], arguments = [{address = 0}]}} {
  llvm.mlir.global external @smem() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
  llvm.func @kernel(%map: !llvm.ptr) attributes {nvvm.kernel} {
    %smem = llvm.mlir.addressof @smem : !llvm.ptr<3>
    %0 = llvm.mlir.constant(0 : i32) : i32
    %1 = llvm.mlir.constant(1 : i32) : i32
    %2 = llvm.mlir.constant(2 : i32) : i32
    %ticks = llvm.mlir.constant(1000 : i32) : i32
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %first = llvm.icmp "eq" %tid, %0 : i32
    llvm.cond_br %first, ^one, ^all
  ^one:
    nvvm.mbarrier.init %smem, %2 : !llvm.ptr<3>, i32
    %at = llvm.getelementptr %smem[1024] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    nvvm.fence.mbarrier.init
    %far = llvm.addrspacecast %at : !llvm.ptr<3> to !llvm.ptr<7>
    nvvm.cp.async.bulk.tensor.shared.cluster.global %far, %map, %smem, box[%0, %0] : !llvm.ptr<7>, !llvm.ptr
    llvm.br ^all
  ^all:
    llvm.return
  }
}

//--- line.mlir
// CHECK: a line of 64 bytes of the tensor map of buffer 0, but lines have 128
gpu.module @m attributes {launch = {shared = 4096, threads = 32, tiles = [1], buffers = [memref<8x64xbf16>], arguments = [{tensor = 0, box = [32, 8]}]}} {
  llvm.mlir.global external @smem() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
  llvm.func @kernel(%map: !llvm.ptr) attributes {nvvm.kernel} {
    %smem = llvm.mlir.addressof @smem : !llvm.ptr<3>
    %0 = llvm.mlir.constant(0 : i32) : i32
    %1 = llvm.mlir.constant(1 : i32) : i32
    %2 = llvm.mlir.constant(2 : i32) : i32
    %ticks = llvm.mlir.constant(1000 : i32) : i32
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %first = llvm.icmp "eq" %tid, %0 : i32
    llvm.cond_br %first, ^one, ^all
  ^one:
    llvm.br ^all
  ^all:
    llvm.return
  }
}

//--- stride.mlir
// CHECK: a stride of 140 bytes of the tensor map of buffer 0, which is no multiple of 16
gpu.module @m attributes {launch = {shared = 4096, threads = 32, tiles = [1], buffers = [memref<8x64xbf16, strided<[70, 1]>>], arguments = [{tensor = 0, box = [64, 8]}]}} {
  llvm.mlir.global external @smem() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
  llvm.func @kernel(%map: !llvm.ptr) attributes {nvvm.kernel} {
    %smem = llvm.mlir.addressof @smem : !llvm.ptr<3>
    %0 = llvm.mlir.constant(0 : i32) : i32
    %1 = llvm.mlir.constant(1 : i32) : i32
    %2 = llvm.mlir.constant(2 : i32) : i32
    %ticks = llvm.mlir.constant(1000 : i32) : i32
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %first = llvm.icmp "eq" %tid, %0 : i32
    llvm.cond_br %first, ^one, ^all
  ^one:
    llvm.br ^all
  ^all:
    llvm.return
  }
}

//--- box.mlir
// CHECK: a box of 300 of the tensor map of buffer 0, but a box has 1 to 256
gpu.module @m attributes {launch = {shared = 4096, threads = 32, tiles = [1], buffers = [memref<300x64xbf16>], arguments = [{tensor = 0, box = [64, 300]}]}} {
  llvm.mlir.global external @smem() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
  llvm.func @kernel(%map: !llvm.ptr) attributes {nvvm.kernel} {
    %smem = llvm.mlir.addressof @smem : !llvm.ptr<3>
    %0 = llvm.mlir.constant(0 : i32) : i32
    %1 = llvm.mlir.constant(1 : i32) : i32
    %2 = llvm.mlir.constant(2 : i32) : i32
    %ticks = llvm.mlir.constant(1000 : i32) : i32
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %first = llvm.icmp "eq" %tid, %0 : i32
    llvm.cond_br %first, ^one, ^all
  ^one:
    llvm.br ^all
  ^all:
    llvm.return
  }
}

//--- flight.mlir
// CHECK: the kernel ends with 1 copies to shared memory in flight
gpu.module @m attributes {launch = {shared = 4096, threads = 32, tiles = [1], buffers = [memref<8x64xbf16>], arguments = [{tensor = 0, box = [64, 8]}]}} {
  llvm.mlir.global external @smem() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
  llvm.func @kernel(%map: !llvm.ptr) attributes {nvvm.kernel} {
    %smem = llvm.mlir.addressof @smem : !llvm.ptr<3>
    %0 = llvm.mlir.constant(0 : i32) : i32
    %1 = llvm.mlir.constant(1 : i32) : i32
    %2 = llvm.mlir.constant(2 : i32) : i32
    %ticks = llvm.mlir.constant(1000 : i32) : i32
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %first = llvm.icmp "eq" %tid, %0 : i32
    llvm.cond_br %first, ^one, ^all
  ^one:
    nvvm.mbarrier.init %smem, %2 : !llvm.ptr<3>, i32
    %at = llvm.getelementptr %smem[1024] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    nvvm.fence.mbarrier.init
    %far = llvm.addrspacecast %at : !llvm.ptr<3> to !llvm.ptr<7>
    nvvm.cp.async.bulk.tensor.shared.cluster.global %far, %map, %smem, box[%0, %0] : !llvm.ptr<7>, !llvm.ptr
    llvm.br ^all
  ^all:
    llvm.return
  }
}

//--- bytes.mlir
// CHECK: a copy of 2 bytes; size and addresses must be multiples of 16
gpu.module @m attributes {launch = {shared = 4096, threads = 32, tiles = [1], buffers = [memref<8xf32>], arguments = [{address = 0}]}} {
  llvm.mlir.global external @smem() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
  llvm.func @kernel(%to: !llvm.ptr<1>) attributes {nvvm.kernel} {
    %smem = llvm.mlir.addressof @smem : !llvm.ptr<3>
    %0 = llvm.mlir.constant(0 : i32) : i32
    %1 = llvm.mlir.constant(1 : i32) : i32
    %2 = llvm.mlir.constant(2 : i32) : i32
    %ticks = llvm.mlir.constant(1000 : i32) : i32
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %first = llvm.icmp "eq" %tid, %0 : i32
    llvm.cond_br %first, ^one, ^all
  ^one:
    nvvm.cp.async.bulk.global.shared.cta %to, %smem, %2 : !llvm.ptr<1>, !llvm.ptr<3>
    llvm.br ^all
  ^all:
    llvm.return
  }
}

//--- group.mlir
// CHECK: a product in warp group 0 of a block of 32 threads, which is not whole
gpu.module @m attributes {launch = {shared = 4096, threads = 32, tiles = [1], buffers = [], arguments = []}} {
  llvm.mlir.global external @smem() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
  llvm.func @kernel() attributes {nvvm.kernel} {
    %smem = llvm.mlir.addressof @smem : !llvm.ptr<3>
    %0 = llvm.mlir.constant(0 : i32) : i32
    %1 = llvm.mlir.constant(1 : i32) : i32
    %2 = llvm.mlir.constant(2 : i32) : i32
    %ticks = llvm.mlir.constant(1000 : i32) : i32
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %first = llvm.icmp "eq" %tid, %0 : i32
    llvm.cond_br %first, ^one, ^all
  ^one:
    llvm.br ^all
  ^all:
    %d = llvm.mlir.constant(4611686293305294848 : i64) : i64
    nvvm.wgmma.fence.aligned
    %c = llvm.mlir.undef : !llvm.struct<(f32, f32, f32, f32)>
    %p = nvvm.wgmma.mma_async %d, %d, %c, #nvvm.shape<m = 64, n = 8, k = 16>, D [<f32>, #nvvm.wgmma_scale_out<zero>], A [<bf16>, #nvvm.wgmma_scale_in<one>, <row>], B [<bf16>, #nvvm.wgmma_scale_in<one>, <col>] : !llvm.struct<(f32, f32, f32, f32)> -> !llvm.struct<(f32, f32, f32, f32)>
    llvm.return
  }
}

//--- swizzle.mlir
// CHECK: a matrix descriptor with swizzle 0; only lines of 128 bytes (1) are modelled
gpu.module @m attributes {launch = {shared = 16384, threads = 128, tiles = [1], buffers = [], arguments = []}} {
  llvm.mlir.global external @smem() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
  llvm.func @kernel() attributes {nvvm.kernel} {
    %smem = llvm.mlir.addressof @smem : !llvm.ptr<3>
    %0 = llvm.mlir.constant(0 : i32) : i32
    %1 = llvm.mlir.constant(1 : i32) : i32
    %2 = llvm.mlir.constant(2 : i32) : i32
    %ticks = llvm.mlir.constant(1000 : i32) : i32
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %first = llvm.icmp "eq" %tid, %0 : i32
    llvm.cond_br %first, ^one, ^all
  ^one:
    llvm.br ^all
  ^all:
    %d = llvm.mlir.constant(64 : i64) : i64
    nvvm.wgmma.fence.aligned
    %c = llvm.mlir.undef : !llvm.struct<(f32, f32, f32, f32)>
    %p = nvvm.wgmma.mma_async %d, %d, %c, #nvvm.shape<m = 64, n = 8, k = 16>, D [<f32>, #nvvm.wgmma_scale_out<zero>], A [<bf16>, #nvvm.wgmma_scale_in<one>, <row>], B [<bf16>, #nvvm.wgmma_scale_in<one>, <col>] : !llvm.struct<(f32, f32, f32, f32)> -> !llvm.struct<(f32, f32, f32, f32)>
    llvm.return
  }
}

//--- empty.mlir
// CHECK: a product reads +{{[0-9]+}}, which was never written
gpu.module @m attributes {launch = {shared = 16384, threads = 128, tiles = [1], buffers = [], arguments = []}} {
  llvm.mlir.global external @smem() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
  llvm.func @kernel() attributes {nvvm.kernel} {
    %smem = llvm.mlir.addressof @smem : !llvm.ptr<3>
    %0 = llvm.mlir.constant(0 : i32) : i32
    %1 = llvm.mlir.constant(1 : i32) : i32
    %2 = llvm.mlir.constant(2 : i32) : i32
    %ticks = llvm.mlir.constant(1000 : i32) : i32
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %first = llvm.icmp "eq" %tid, %0 : i32
    llvm.cond_br %first, ^one, ^all
  ^one:
    llvm.br ^all
  ^all:
    %d = llvm.mlir.constant(4611686293305294848 : i64) : i64
    nvvm.wgmma.fence.aligned
    %c = llvm.mlir.undef : !llvm.struct<(f32, f32, f32, f32)>
    %p = nvvm.wgmma.mma_async %d, %d, %c, #nvvm.shape<m = 64, n = 8, k = 16>, D [<f32>, #nvvm.wgmma_scale_out<zero>], A [<bf16>, #nvvm.wgmma_scale_in<one>, <row>], B [<bf16>, #nvvm.wgmma_scale_in<one>, <col>] : !llvm.struct<(f32, f32, f32, f32)> -> !llvm.struct<(f32, f32, f32, f32)>
    nvvm.wgmma.commit.group.sync.aligned
    nvvm.wgmma.wait.group.sync.aligned 0
    llvm.return
  }
}

//--- differ.mlir
// CHECK: the threads of a warp group issue different products
gpu.module @m attributes {launch = {shared = 16384, threads = 128, tiles = [1], buffers = [], arguments = []}} {
  llvm.mlir.global external @smem() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
  llvm.func @kernel() attributes {nvvm.kernel} {
    %smem = llvm.mlir.addressof @smem : !llvm.ptr<3>
    %0 = llvm.mlir.constant(0 : i32) : i32
    %1 = llvm.mlir.constant(1 : i32) : i32
    %2 = llvm.mlir.constant(2 : i32) : i32
    %ticks = llvm.mlir.constant(1000 : i32) : i32
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %first = llvm.icmp "eq" %tid, %0 : i32
    llvm.cond_br %first, ^one, ^all
  ^one:
    llvm.br ^all
  ^all:
    %base = llvm.mlir.constant(4611686293305294848 : i64) : i64
    %wide = llvm.zext %tid : i32 to i64
    %d = llvm.add %base, %wide : i64
    nvvm.wgmma.fence.aligned
    %c = llvm.mlir.undef : !llvm.struct<(f32, f32, f32, f32)>
    %p = nvvm.wgmma.mma_async %d, %d, %c, #nvvm.shape<m = 64, n = 8, k = 16>, D [<f32>, #nvvm.wgmma_scale_out<zero>], A [<bf16>, #nvvm.wgmma_scale_in<one>, <row>], B [<bf16>, #nvvm.wgmma_scale_in<one>, <col>] : !llvm.struct<(f32, f32, f32, f32)> -> !llvm.struct<(f32, f32, f32, f32)>
    llvm.return
  }
}
