// A ring of two stages, products of a warp group and a bulk store: passes under
// any schedule, and each guard that is left out is noticed.
// RUN: %mille-emulate %s --seeds=4 --print | FileCheck %s
// CHECK: passed with 4 seed(s)
// 256 products of 0.5 and 0.25
// CHECK: buffer 2: 32 32 32
// RUN: %mille-emulate %s --seeds=2 --break=all | FileCheck %s --check-prefix=BREAK
// BREAK: fence:0 {{.*}}: caught with 2 of 2: mbarrier +20480 used by a copy without fence.mbarrier.init
// BREAK: barrier:0 {{.*}}: caught with 2 of 2: mbarrier +20480 used
// BREAK: wait:0 {{.*}}: caught with 2 of 2: {{1 arrival.*expects 0 more of 1|a box at .* overwrites}}
// BREAK: wait:1 {{.*}}: caught with 2 of 2: a product reads {{.* before anything orders the write by a copy|.* which was never written}}
// BREAK: fence:1 {{.*}}: caught with 2 of 2: a product of registers that were written since the last wgmma.fence
// BREAK: wait:2 {{.*}}: caught with 2 of 2: {{sums are read|a box at .* overwrites what products}}
// BREAK: release:0 {{.*}}: caught with 2 of 2: deadlock: nobody can go on
// BREAK: fence:2 {{.*}}: caught with 2 of 2: a bulk store reads +{{.*}} without fence.proxy after the store by thread
// BREAK: barrier:1 {{.*}}: caught with 2 of 2: a bulk store reads +{{.*before anything orders the write by thread|.*which was never written}}
// BREAK: wait:3 {{.*}}: caught with 2 of 2: thread 128 ends before its bulk stores have read shared memory
// BREAK: 10 of 10 guards matter or are known not to
// A guard by name; a name that no guard has.
// RUN: not %mille-emulate %s --seeds=1 --break=release:7 | FileCheck %s --check-prefix=NAME
// NAME: the kernel has no 'release:7'
// RUN: %mille-emulate %s --seeds=1 --break=release:0 | FileCheck %s --check-prefix=DEAD
// DEAD: without release:0 (nvvm.mbarrier.arrive guards.mlir:{{[0-9]+}}): caught with 1 of 1: deadlock

!sums = !llvm.struct<(f32, f32, f32, f32)>
gpu.module @m attributes {launch = {shared = 20544, tiles = [1],
    buffers = [{type = memref<64x256xbf16>, value = 0.5 : f32},
               {type = memref<8x256xbf16>, value = 0.25 : f32},
               {type = memref<64x8xf32>, out}],
    arguments = [{tensor = 0, box = [64, 64]}, {tensor = 1, box = [64, 8]},
                 {address = 2}]}} {
  llvm.mlir.global external @smem() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
  // Group 0 loads, group 1 multiplies. Shared memory: two stages of 9216 bytes
  // (64 rows of A, 8 of B), the out at 18432, mbarriers full and empty of each
  // stage at 20480.
  llvm.func @product(%a: !llvm.ptr, %b: !llvm.ptr, %c: !llvm.ptr<1>)
      attributes {nvvm.kernel, nvvm.reqntid = array<i32: 256, 1, 1>} {
    %0 = llvm.mlir.constant(0 : i32) : i32
    %1 = llvm.mlir.constant(1 : i32) : i32
    %2 = llvm.mlir.constant(2 : i32) : i32
    %4 = llvm.mlir.constant(4 : i32) : i32
    %128 = llvm.mlir.constant(128 : i32) : i32
    %ticks = llvm.mlir.constant(1000 : i32) : i32
    %stage = llvm.mlir.constant(9216 : i32) : i32
    %smem = llvm.mlir.addressof @smem : !llvm.ptr<3>
    %base = llvm.ptrtoint %smem : !llvm.ptr<3> to i32
    %full = llvm.getelementptr %smem[20480] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    %empty = llvm.getelementptr %smem[20496] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %first = llvm.icmp "eq" %tid, %0 : i32
    llvm.cond_br %first, ^init, ^start
  ^init:
    %full1 = llvm.getelementptr %full[8] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    %empty1 = llvm.getelementptr %empty[8] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    nvvm.mbarrier.init %full, %1 : !llvm.ptr<3>, i32
    nvvm.mbarrier.init %full1, %1 : !llvm.ptr<3>, i32
    nvvm.mbarrier.init %empty, %128 : !llvm.ptr<3>, i32
    nvvm.mbarrier.init %empty1, %128 : !llvm.ptr<3>, i32
    nvvm.fence.mbarrier.init
    llvm.br ^start
  ^start:
    nvvm.barrier
    %consumes = llvm.icmp "uge" %tid, %128 : i32
    llvm.cond_br %consumes, ^consume(%0 : i32), ^loader
  ^loader:
    llvm.cond_br %first, ^load(%0 : i32), ^end
  ^load(%l: i32):
    %ls = llvm.and %l, %1 : i32
    %lp = llvm.lshr %l, %1 : i32
    %lq = llvm.xor %lp, %1 : i32
    %lparity = llvm.and %lq, %1 : i32
    %lfull = llvm.getelementptr %full[%ls] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i64
    %lempty = llvm.getelementptr %empty[%ls] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i64
    nvvm.mbarrier.try_wait.parity %lempty, %lparity, %ticks : !llvm.ptr<3>, i32, i32
    %bytes = llvm.mlir.constant(9216 : i32) : i32
    %t = nvvm.mbarrier.arrive.expect_tx %lfull, %bytes : !llvm.ptr<3>, i32 -> i64
    %loff = llvm.mul %ls, %stage : i32
    %lown = llvm.getelementptr %smem[%loff] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
    %la = llvm.addrspacecast %lown : !llvm.ptr<3> to !llvm.ptr<7>
    %lb = llvm.getelementptr %la[8192] : (!llvm.ptr<7>) -> !llvm.ptr<7>, i8
    %64 = llvm.mlir.constant(64 : i32) : i32
    %k = llvm.mul %l, %64 : i32
    nvvm.cp.async.bulk.tensor.shared.cluster.global %la, %a, %lfull, box[%k, %0] : !llvm.ptr<7>, !llvm.ptr
    nvvm.cp.async.bulk.tensor.shared.cluster.global %lb, %b, %lfull, box[%k, %0] : !llvm.ptr<7>, !llvm.ptr
    %l1 = llvm.add %l, %1 : i32
    %lmore = llvm.icmp "ult" %l1, %4 : i32
    llvm.cond_br %lmore, ^load(%l1 : i32), ^end
  ^consume(%zero: i32):
    %none = llvm.mlir.undef : !sums
    %f0 = llvm.mlir.constant(0.0 : f32) : f32
    %n0 = llvm.insertvalue %f0, %none[0] : !sums
    %n1 = llvm.insertvalue %f0, %n0[1] : !sums
    %n2 = llvm.insertvalue %f0, %n1[2] : !sums
    %n3 = llvm.insertvalue %f0, %n2[3] : !sums
    llvm.br ^multiply(%zero, %n3 : i32, !sums)
  ^multiply(%m: i32, %sums: !sums):
    %ms = llvm.and %m, %1 : i32
    %mp = llvm.lshr %m, %1 : i32
    %mfull = llvm.getelementptr %full[%ms] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i64
    %mempty = llvm.getelementptr %empty[%ms] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i64
    nvvm.mbarrier.try_wait.parity %mfull, %mp, %ticks : !llvm.ptr<3>, i32, i32
    %moff = llvm.mul %ms, %stage : i32
    %ma = llvm.add %base, %moff : i32
    %mask = llvm.mlir.constant(262143 : i32) : i32
    %mlow = llvm.and %ma, %mask : i32
    %msixteen = llvm.lshr %mlow, %4 : i32
    %mwide = llvm.zext %msixteen : i32 to i64
    // lines of 128 bytes, swizzled; 8 lines are 1024 bytes apart
    %form = llvm.mlir.constant(4611686293305294848 : i64) : i64
    %da = llvm.or %mwide, %form : i64
    %behind = llvm.mlir.constant(512 : i64) : i64
    %db = llvm.add %da, %behind : i64
    %s16 = llvm.mlir.constant(2 : i64) : i64
    %da1 = llvm.add %da, %s16 : i64
    %da2 = llvm.add %da1, %s16 : i64
    %da3 = llvm.add %da2, %s16 : i64
    %db1 = llvm.add %db, %s16 : i64
    %db2 = llvm.add %db1, %s16 : i64
    %db3 = llvm.add %db2, %s16 : i64
    nvvm.wgmma.fence.aligned
    %p0 = nvvm.wgmma.mma_async %da, %db, %sums, #nvvm.shape<m = 64, n = 8, k = 16>, D [<f32>, #nvvm.wgmma_scale_out<one>], A [<bf16>, #nvvm.wgmma_scale_in<one>, <row>], B [<bf16>, #nvvm.wgmma_scale_in<one>, <col>] : !sums -> !sums
    %p1 = nvvm.wgmma.mma_async %da1, %db1, %p0, #nvvm.shape<m = 64, n = 8, k = 16>, D [<f32>, #nvvm.wgmma_scale_out<one>], A [<bf16>, #nvvm.wgmma_scale_in<one>, <row>], B [<bf16>, #nvvm.wgmma_scale_in<one>, <col>] : !sums -> !sums
    %p2 = nvvm.wgmma.mma_async %da2, %db2, %p1, #nvvm.shape<m = 64, n = 8, k = 16>, D [<f32>, #nvvm.wgmma_scale_out<one>], A [<bf16>, #nvvm.wgmma_scale_in<one>, <row>], B [<bf16>, #nvvm.wgmma_scale_in<one>, <col>] : !sums -> !sums
    %p3 = nvvm.wgmma.mma_async %da3, %db3, %p2, #nvvm.shape<m = 64, n = 8, k = 16>, D [<f32>, #nvvm.wgmma_scale_out<one>], A [<bf16>, #nvvm.wgmma_scale_in<one>, <row>], B [<bf16>, #nvvm.wgmma_scale_in<one>, <col>] : !sums -> !sums
    nvvm.wgmma.commit.group.sync.aligned
    nvvm.wgmma.wait.group.sync.aligned 0
    %r = nvvm.mbarrier.arrive %mempty : !llvm.ptr<3> -> i64
    %m1 = llvm.add %m, %1 : i32
    %mmore = llvm.icmp "ult" %m1, %4 : i32
    llvm.cond_br %mmore, ^multiply(%m1, %p3 : i32, !sums), ^store
  ^store:
    %c0 = llvm.extractvalue %p3[0] : !sums
    %c1 = llvm.extractvalue %p3[1] : !sums
    %c2 = llvm.extractvalue %p3[2] : !sums
    %c3 = llvm.extractvalue %p3[3] : !sums
    %ready = llvm.inline_asm has_side_effects asm_dialect = att "// after products", "=f,=f,=f,=f,0,1,2,3" %c0, %c1, %c2, %c3 : (f32, f32, f32, f32) -> !sums
    %v0 = llvm.extractvalue %ready[0] : !sums
    %v1 = llvm.extractvalue %ready[1] : !sums
    %v2 = llvm.extractvalue %ready[2] : !sums
    %v3 = llvm.extractvalue %ready[3] : !sums
    // Lane l of warp w has the rows 16 w + l / 4 and 8 more, columns 2 (l % 4).
    %31 = llvm.mlir.constant(31 : i32) : i32
    %16 = llvm.mlir.constant(16 : i32) : i32
    %32 = llvm.mlir.constant(32 : i32) : i32
    %lane = llvm.and %tid, %31 : i32
    %thread = llvm.sub %tid, %128 : i32
    %warp = llvm.udiv %thread, %32 : i32
    %warprow = llvm.mul %warp, %16 : i32
    %lanerow = llvm.udiv %lane, %4 : i32
    %row = llvm.add %warprow, %lanerow : i32
    %pair = llvm.urem %lane, %4 : i32
    %rowwords = llvm.mul %row, %4 : i32
    %at = llvm.add %rowwords, %pair : i32
    %out = llvm.getelementptr %smem[18432] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    %o0 = llvm.getelementptr %out[%at] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i64
    %o0b = llvm.getelementptr %o0[4] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    %o1 = llvm.getelementptr %o0[256] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    %o1b = llvm.getelementptr %o0[260] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    llvm.store %v0, %o0 : f32, !llvm.ptr<3>
    llvm.store %v1, %o0b : f32, !llvm.ptr<3>
    llvm.store %v2, %o1 : f32, !llvm.ptr<3>
    llvm.store %v3, %o1b : f32, !llvm.ptr<3>
    nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
    nvvm.barrier id = %1 number_of_threads = %128
    %leads = llvm.icmp "eq" %thread, %0 : i32
    llvm.cond_br %leads, ^send, ^end
  ^send:
    %all = llvm.mlir.constant(2048 : i32) : i32
    nvvm.cp.async.bulk.global.shared.cta %c, %out, %all : !llvm.ptr<1>, !llvm.ptr<3>
    nvvm.cp.async.bulk.commit.group
    nvvm.cp.async.bulk.wait_group 0
    llvm.br ^end
  ^end:
    llvm.return
  }
}
