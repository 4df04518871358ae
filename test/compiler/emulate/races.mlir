// What goes wrong between threads, blocks and clusters, each in a kernel of its
// own; FileCheck of each by its name.
// RUN: split-file %s %t
// RUN: not %mille-emulate %t/shared.mlir --seeds=1 | FileCheck %t/shared.mlir
// RUN: not %mille-emulate %t/overwrites.mlir --seeds=1 | FileCheck %t/overwrites.mlir
// RUN: not %mille-emulate %t/unwritten.mlir --seeds=1 | FileCheck %t/unwritten.mlir
// RUN: not %mille-emulate %t/beside.mlir --seeds=1 | FileCheck %t/beside.mlir
// RUN: not %mille-emulate %t/blocks.mlir --seeds=1 | FileCheck %t/blocks.mlir
// RUN: not %mille-emulate %t/outside.mlir --seeds=1 | FileCheck %t/outside.mlir
// RUN: not %mille-emulate %t/lanes.mlir --seeds=1 | FileCheck %t/lanes.mlir
// RUN: not %mille-emulate %t/counts.mlir --seeds=1 | FileCheck %t/counts.mlir
// RUN: not %mille-emulate %t/leftover.mlir --seeds=1 | FileCheck %t/leftover.mlir
// RUN: not %mille-emulate %t/gone.mlir --seeds=8 | FileCheck %t/gone.mlir
// RUN: not %mille-emulate %t/due.mlir --seeds=1 | FileCheck %t/due.mlir
// RUN: not %mille-emulate %t/often.mlir --seeds=1 | FileCheck %t/often.mlir
// RUN: not %mille-emulate %t/early.mlir --seeds=1 | FileCheck %t/early.mlir
// RUN: %mille-emulate %t/harmless.mlir --seeds=2 --break=all | FileCheck %t/harmless.mlir

//--- shared.mlir
// Each thread reads the word of its neighbour: a barrier is missing.
// CHECK: seed 1: a load reads +{{[0-9]+}}{{, which was never written| before anything orders the write by thread}}
// CHECK-NEXT: block 0, warp group 0, thread {{[0-9]+}} at llvm.load
gpu.module @m attributes {launch = {shared = 1024, threads = 64, tiles = [1], buffers = [], arguments = []}} {
  llvm.mlir.global external @smem() {addr_space = 3 : i32} : !llvm.array<0 x i8>
  llvm.func @kernel() attributes {nvvm.kernel} {
    %smem = llvm.mlir.addressof @smem : !llvm.ptr<3>
    %63 = llvm.mlir.constant(63 : i32) : i32
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %own = llvm.getelementptr %smem[%tid] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
    llvm.store %tid, %own : i32, !llvm.ptr<3>
    %other = llvm.xor %tid, %63 : i32
    %at = llvm.getelementptr %smem[%other] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
    %value = llvm.load %at : !llvm.ptr<3> -> i32
    llvm.return
  }
}

//--- early.mlir
// The launch overlaps with the kernels before it, but half of the threads write
// without a wait for them.
// CHECK: seed 1: a store of buffer 0 before a wait for the kernels before this one
gpu.module @m attributes {launch = {threads = 64, tiles = [1], overlaps, buffers = [{type = memref<64xi32>, out}], arguments = [{address = 0}]}} {
  llvm.func @kernel(%out: !llvm.ptr<1>) attributes {nvvm.kernel} {
    %32 = llvm.mlir.constant(32 : i32) : i32
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %first = llvm.icmp "slt" %tid, %32 : i32
    llvm.cond_br %first, ^wait, ^write
  ^wait:
    nvvm.griddepcontrol wait
    llvm.br ^write
  ^write:
    %at = llvm.getelementptr %out[%tid] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    llvm.store %tid, %at : i32, !llvm.ptr<1>
    llvm.return
  }
}

//--- overwrites.mlir
// Thread 0 writes the word again while others may still read it.
// CHECK: seed 1: {{a store at \+0 overwrites what thread [0-9]+ at llvm.load .* may still read|a load reads \+0 before anything orders the write by thread 0}}
gpu.module @m attributes {launch = {shared = 1024, threads = 64, tiles = [1], buffers = [], arguments = []}} {
  llvm.mlir.global external @smem() {addr_space = 3 : i32} : !llvm.array<0 x i8>
  llvm.func @kernel() attributes {nvvm.kernel} {
    %smem = llvm.mlir.addressof @smem : !llvm.ptr<3>
    %0 = llvm.mlir.constant(0 : i32) : i32
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %first = llvm.icmp "eq" %tid, %0 : i32
    llvm.cond_br %first, ^write, ^read
  ^write:
    llvm.store %tid, %smem : i32, !llvm.ptr<3>
    llvm.br ^read
  ^read:
    nvvm.barrier
    %value = llvm.load %smem : !llvm.ptr<3> -> i32
    llvm.cond_br %first, ^again, ^end
  ^again:
    llvm.store %value, %smem : i32, !llvm.ptr<3>
    llvm.br ^end
  ^end:
    llvm.return
  }
}

//--- unwritten.mlir
// The out is read before anybody wrote it.
// CHECK: seed 1: a load reads byte 0 of buffer 0, which was never written
gpu.module @m attributes {launch = {threads = 32, tiles = [1], buffers = [{type = memref<4xf32>, out}], arguments = [{address = 0}]}} {
  llvm.func @kernel(%out: !llvm.ptr<1>) attributes {nvvm.kernel} {
    %value = llvm.load %out : !llvm.ptr<1> -> f32
    llvm.return
  }
}

//--- beside.mlir
// Thread 4 writes behind a buffer of four words.
// CHECK: seed 1: a store of 4 bytes at byte {{[0-9]+}} of buffer 0, which has 16 bytes
gpu.module @m attributes {launch = {threads = 32, tiles = [1], buffers = [{type = memref<4xi32>, out}], arguments = [{address = 0}]}} {
  llvm.func @kernel(%out: !llvm.ptr<1>) attributes {nvvm.kernel} {
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %at = llvm.getelementptr %out[%tid] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    llvm.store %tid, %at : i32, !llvm.ptr<1>
    llvm.return
  }
}

//--- blocks.mlir
// Two blocks write one word.
// CHECK: seed 1: a store at byte {{[0-9]+}} of buffer 0 is not ordered after the write of cluster 0
gpu.module @m attributes {launch = {threads = 32, tiles = [2], buffers = [{type = memref<32xi32>, out}], arguments = [{address = 0}]}} {
  llvm.func @kernel(%out: !llvm.ptr<1>) attributes {nvvm.kernel} {
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %at = llvm.getelementptr %out[%tid] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    llvm.store %tid, %at : i32, !llvm.ptr<1>
    llvm.return
  }
}

//--- outside.mlir
// CHECK: seed 1: a store of 4 bytes at +1024, but a block has 1024 bytes of shared memory
gpu.module @m attributes {launch = {shared = 1024, threads = 32, tiles = [1], buffers = [], arguments = []}} {
  llvm.mlir.global external @smem() {addr_space = 3 : i32} : !llvm.array<0 x i8>
  llvm.func @kernel() attributes {nvvm.kernel} {
    %smem = llvm.mlir.addressof @smem : !llvm.ptr<3>
    %0 = llvm.mlir.constant(0 : i32) : i32
    %at = llvm.getelementptr %smem[1024] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    llvm.store %0, %at : i32, !llvm.ptr<3>
    llvm.return
  }
}

//--- lanes.mlir
// Half of a warp skips an instruction that needs all lanes.
// CHECK: seed 1: {{a lane of warp 0 never came to an instruction that needs all lanes: at nvvm.setmaxregister|the lanes of a warp part ways}}
gpu.module @m attributes {launch = {threads = 32, tiles = [1], buffers = [], arguments = []}} {
  llvm.func @kernel() attributes {nvvm.kernel} {
    %16 = llvm.mlir.constant(16 : i32) : i32
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %low = llvm.icmp "ult" %tid, %16 : i32
    llvm.cond_br %low, ^some, ^end
  ^some:
    nvvm.setmaxregister decrease 40
    llvm.br ^end
  ^end:
    llvm.return
  }
}

//--- counts.mlir
// Two warps disagree about how many threads a named barrier has.
// CHECK: seed 1: named barrier 1 used with {{64|96}} and with {{64|96}} threads
gpu.module @m attributes {launch = {threads = 96, tiles = [1], buffers = [], arguments = []}} {
  llvm.func @kernel() attributes {nvvm.kernel} {
    %1 = llvm.mlir.constant(1 : i32) : i32
    %32 = llvm.mlir.constant(32 : i32) : i32
    %64 = llvm.mlir.constant(64 : i32) : i32
    %96 = llvm.mlir.constant(96 : i32) : i32
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %low = llvm.icmp "ult" %tid, %32 : i32
    llvm.cond_br %low, ^two, ^three
  ^two:
    nvvm.barrier id = %1 number_of_threads = %64
    llvm.br ^end
  ^three:
    nvvm.barrier id = %1 number_of_threads = %96
    llvm.br ^end
  ^end:
    llvm.return
  }
}

//--- leftover.mlir
// One warp arrives and nobody takes its turn.
// CHECK: seed 1: the kernel ends with 32 of 64 threads at named barrier 2
gpu.module @m attributes {launch = {threads = 32, tiles = [1], buffers = [], arguments = []}} {
  llvm.func @kernel() attributes {nvvm.kernel, nvvm.reqntid = array<i32: 64, 1, 1>} {
    %2 = llvm.mlir.constant(2 : i32) : i32
    %32 = llvm.mlir.constant(32 : i32) : i32
    %64 = llvm.mlir.constant(64 : i32) : i32
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %low = llvm.icmp "ult" %tid, %32 : i32
    llvm.cond_br %low, ^arrive, ^end
  ^arrive:
    nvvm.barrier.arrive id = %2 number_of_threads = %64
    llvm.br ^end
  ^end:
    llvm.return
  }
}

//--- gone.mlir
// Each block arrives at the other's mbarrier, and nobody waits for it.
// CHECK: arrival at a block that has gone
gpu.module @m attributes {launch = {shared = 64, tiles = [1], threads = 32, buffers = [], arguments = []}} {
  llvm.mlir.global external @smem() {addr_space = 3 : i32} : !llvm.array<0 x i8>
  llvm.func @kernel() attributes {nvvm.kernel, nvvm.reqntid = array<i32: 32, 1, 1>, nvvm.cluster_dim = array<i32: 2, 1, 1>} {
    %smem = llvm.mlir.addressof @smem : !llvm.ptr<3>
    %0 = llvm.mlir.constant(0 : i32) : i32
    %1 = llvm.mlir.constant(1 : i32) : i32
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %rank = nvvm.read.ptx.sreg.cluster.ctarank : i32
    %first = llvm.icmp "eq" %tid, %0 : i32
    llvm.cond_br %first, ^init, ^meet
  ^init:
    nvvm.mbarrier.init %smem, %1 : !llvm.ptr<3>, i32
    nvvm.fence.mbarrier.init
    llvm.br ^meet
  ^meet:
    nvvm.cluster.arrive
    nvvm.cluster.wait
    llvm.cond_br %first, ^arrive, ^end
  ^arrive:
    %other = llvm.xor %rank, %1 : i32
    %there = nvvm.mapa %smem, %other : !llvm.ptr<3> -> !llvm.ptr<7>
    nvvm.mbarrier.arrive %there : !llvm.ptr<7>
    llvm.br ^end
  ^end:
    llvm.return
  }
}

//--- due.mlir
// The mbarrier expects bytes that nobody copies.
// CHECK: seed 1: the kernel ends while mbarrier +0 has 128 bytes due
gpu.module @m attributes {launch = {shared = 64, tiles = [1], threads = 32, buffers = [], arguments = []}} {
  llvm.mlir.global external @smem() {addr_space = 3 : i32} : !llvm.array<0 x i8>
  llvm.func @kernel() attributes {nvvm.kernel} {
    %smem = llvm.mlir.addressof @smem : !llvm.ptr<3>
    %0 = llvm.mlir.constant(0 : i32) : i32
    %1 = llvm.mlir.constant(1 : i32) : i32
    %bytes = llvm.mlir.constant(128 : i32) : i32
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %first = llvm.icmp "eq" %tid, %0 : i32
    llvm.cond_br %first, ^init, ^end
  ^init:
    nvvm.mbarrier.init %smem, %1 : !llvm.ptr<3>, i32
    %t = nvvm.mbarrier.arrive.expect_tx %smem, %bytes : !llvm.ptr<3>, i32 -> i64
    llvm.br ^end
  ^end:
    llvm.return
  }
}

//--- often.mlir
// Each of 32 threads arrives at an mbarrier that expects 31, and then waits.
// CHECK: seed 1: deadlock: nobody can go on
// CHECK-NEXT: thread(s) from block 0, warp group 0, thread 0 at nvvm.mbarrier.try_wait.parity (wait:0) often.mlir:{{[0-9]+}}: waits for mbarrier +0, parity 1, in phase 1: 30 of 31 arrivals and 0 bytes are due
gpu.module @m attributes {launch = {shared = 64, tiles = [1], threads = 32, buffers = [], arguments = []}} {
  llvm.mlir.global external @smem() {addr_space = 3 : i32} : !llvm.array<0 x i8>
  llvm.func @kernel() attributes {nvvm.kernel} {
    %smem = llvm.mlir.addressof @smem : !llvm.ptr<3>
    %0 = llvm.mlir.constant(0 : i32) : i32
    %1 = llvm.mlir.constant(1 : i32) : i32
    %31 = llvm.mlir.constant(31 : i32) : i32
    %ticks = llvm.mlir.constant(1000 : i32) : i32
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %first = llvm.icmp "eq" %tid, %0 : i32
    llvm.cond_br %first, ^init, ^meet
  ^init:
    nvvm.mbarrier.init %smem, %31 : !llvm.ptr<3>, i32
    llvm.br ^meet
  ^meet:
    nvvm.barrier
    %t = nvvm.mbarrier.arrive %smem : !llvm.ptr<3> -> i64
    nvvm.mbarrier.try_wait.parity %smem, %1, %ticks : !llvm.ptr<3>, i32, i32
    llvm.return
  }
}

//--- harmless.mlir
// A barrier that nothing needs says so.
// CHECK: without barrier:0 (nvvm.barrier0 harmless.mlir:{{[0-9]+}}): harmless: nobody shares anything
// CHECK: 1 of 1 guards matter or are known not to
gpu.module @m attributes {launch = {tiles = [1], threads = 32, buffers = [], arguments = []}} {
  llvm.func @kernel() attributes {nvvm.kernel} {
    nvvm.barrier0 {harmless = "nobody shares anything"}
    llvm.return
  }
}
