// Every rule of the instructions with its message. Boundaries are in test/unit/isa/test_rules.py.
// RUN: nki-opt %s --split-input-file --verify-diagnostics

// Rules of all generations, checked without a target.
bir.module @m {
  bir.func @f {
    %a = bir.tensor "a" : !nki.mem<hbm 512x512xf32>
    %b = bir.tensor "b" : !nki.mem<hbm 512x512xbf16>
    %cc = bir.tensor "cc" : !nki.mem<hbm 512x512xf8e5m2_x4>
    %x = bir.tensor "x" : !nki.mem<sbuf 128x512xf32>
    %y = bir.tensor "y" : !nki.mem<sbuf 128x512xf32>
    %v = bir.tensor "v" : !nki.mem<sbuf 128x8xf32>
    %i = bir.tensor "i" : !nki.mem<sbuf 128x512xi32>
    %u = bir.tensor "u" : !nki.mem<sbuf 128x512xu8>
    %h = bir.tensor "h" : !nki.mem<sbuf 128x512xbf16>
    %w = bir.tensor "w" : !nki.mem<sbuf 128x40000xbf16>
    %q = bir.tensor "q" : !nki.mem<sbuf 128x512xi64>
    %c = bir.tensor "c" : !nki.mem<sbuf 128x512xf8e5m2_x4>
    %s = bir.tensor "s" : !nki.mem<sbuf 32x512xf32>
    %p = bir.tensor "p" at <0, 0> : !nki.mem<psum 128x512xf32>
    %pp = bir.tensor "pp" at <0, 0> : !nki.mem<psum 128x512xf32>
    %ph = bir.tensor "ph" at <0, 0> : !nki.mem<psum 128x1024xbf16>
    %pw = bir.tensor "pw" at <0, 0> : !nki.mem<psum 128x4096xf32>
    %odd = bir.tensor "odd" at <0, 2> : !nki.mem<sbuf 128x8xf32>

    // expected-error @+1 {{'bir.tensor_copy' op dst is in hbm, it must be in sbuf or psum [BIR412]}}
    bir.tensor_copy outs(%a[0 : 512] f32) ins(%s[0 : 1 | 0 : 512] f32)
    // expected-error @+1 {{'bir.load' op src is in sbuf, it must be in hbm, shared_hbm or private_hbm [X-DMAMEM]}}
    bir.load outs(%x[0 : 128 | 0 : 512] f32) ins(%y[0 : 128 | 0 : 512] f32)
    // expected-error @+1 {{'bir.dma_copy' op src accesses 512 elements, dst accesses 65536 [DMA-COUNT]}}
    bir.dma_copy outs(%x[0 : 128 | 0 : 512] f32) ins(%a[0 : 512] f32)
    // expected-error @+1 {{'bir.dma_copy' op dst reaches partition 254, its storage has 128 partitions [X-FMAX]}}
    bir.dma_copy outs(%x[0 : 2*128 | 0 : 512] f32) ins(%a[0 : 65536] f32)
    // expected-error @+1 {{'bir.tensor_copy' op dst has partition step 2, only step 1 is allowed [HW-P1]}}
    bir.tensor_copy outs(%x[0 : 2*64 | 0 : 512] f32) ins(%y[0 : 64 | 0 : 512] f32)
    // expected-error @+1 {{'bir.tensor_copy' op dst has 2 partition pairs, one is allowed [HW-P1]}}
    bir.tensor_copy outs(%x[0 : 64*2, 32 | 0 : 512] f32) ins(%y[0 : 64 | 0 : 512] f32)
    // expected-error @+1 {{'bir.tensor_copy' op dst accesses 8 partitions from partition 48, they must start at 0, 32, 64 or 96 [HW-P2]}}
    bir.tensor_copy outs(%x[48 : 8 | 0 : 512] f32) ins(%y[0 : 8 | 0 : 512] f32)
    // A bound that is a number is the number of its pair.
    // expected-error @+1 {{'bir.tensor_copy' op dst accesses 8 partitions from partition 48, they must start at 0, 32, 64 or 96 [HW-P2]}}
    bir.tensor_copy outs(%x[48 : min(32, 8) | 0 : 512] f32) ins(%y[0 : 8 | 0 : 512] f32)
    // expected-error @+1 {{'bir.tensor_copy' op dst accesses 64 partitions from partition 32, they must start at 0 or 64 [HW-P2]}}
    bir.tensor_copy outs(%x[32 : 64 | 0 : 512] f32) ins(%y[64 : 64 | 0 : 512] f32)
    // expected-error @+1 {{'bir.tensor_copy' op dst accesses 33 partitions from partition 96, they must start at 0 or 64 [HW-P2]}}
    bir.tensor_copy outs(%x[96 : 33 | 0 : 1] f32) ins(%y[0 : 33 | 0 : 1] f32)
    // expected-error @+1 {{'bir.tensor_copy' op dst reaches partition 47, its storage has 32 partitions [X-FMAX]}}
    bir.tensor_copy outs(%s[16 : 32 | 0 : 1] f32) ins(%y[0 : 32 | 0 : 1] f32)
    // expected-error @+1 {{'bir.tensor_copy' op dst reaches element 512 of a partition, it has 512 elements [X-FMAX]}}
    bir.tensor_copy outs(%x[0 : 128 | 1 : 512] f32) ins(%y[0 : 128 | 0 : 512] f32)
    // expected-error @+1 {{'bir.tensor_copy' op src reaches element -1 of a partition, the first one is 0 [X-FMAX]}}
    bir.tensor_copy outs(%x[0 : 128 | 0 : 512] f32) ins(%y[0 : 128 | 510 : -1*512] f32)
    // expected-error @+1 {{'bir.save' op dst reaches element 262144 of its tensor, it has 262144 elements [X-FMAX]}}
    bir.save outs(%a[262143 : 2] f32) ins(%x[0 : 1 | 0 : 2] f32)
    // expected-error @+1 {{'bir.memset' op dst starts at byte 2, which is no multiple of 4, the size of f32 [BIR429]}}
    bir.memset outs(%odd[0 : 128 | 0 : 8] f32) ins(0.0 : f32)
    // expected-error @+1 {{'bir.memset' op dst accesses 129 partitions, at most 128 allowed [X-PMAX]}}
    bir.memset outs(%x[0 : 129 | 0 : 512] f32) ins(0.0 : f32)
    // expected-error @+1 {{'bir.tensor_copy' op dst has 65537 elements a partition, at most 65536 allowed in sbuf [HW-SZ1]}}
    bir.tensor_copy outs(%w[0 : 128 | 0 : 65537] u8) ins(%w[0 : 128 | 0 : 65537] u8)
    // expected-error @+1 {{'bir.tensor_copy' op dst has 8194 elements a partition, at most 4096 allowed in psum [HW-SZ1]}}
    bir.tensor_copy outs(%pw[0 : 128 | 0 : 8194] u8) ins(%w[0 : 128 | 0 : 8194] u8)
    // expected-error @+1 {{'bir.memset' op dst has step 32768, -32768 to 32767 allowed [HW-AP2]}}
    bir.memset outs(%w[0 : 128 | 0 : 32768*2] bf16) ins(0.0 : f32)
    // expected-error @+1 {{'bir.tensor_copy' op dst is of type i64, engines take elements of at most 4 bytes [X-DT64]}}
    bir.tensor_copy outs(%q[0 : 128 | 0 : 512] i64) ins(%q[0 : 128 | 0 : 512] i64)
    // expected-error @+1 {{'bir.tensor_copy' op dst has 6 pairs, at most 5 allowed [BIR049]}}
    bir.tensor_copy outs(%x[0 : 128 | 0 : 8, 4, 4, 2, 2] f32) ins(%y[0 : 128 | 0 : 512] f32)
    // expected-error @+1 {{'bir.memset' op dst is a destination and repeats elements with step 0 [X-DSTEP]}}
    bir.memset outs(%x[0 : 128 | 0 : 0*512] f32) ins(0.0 : f32)
    // expected-error @+1 {{'bir.tensor_copy' op dst starts at byte 2 in PSUM, it must be a multiple of 4 [BIR312]}}
    bir.tensor_copy outs(%ph[0 : 128 | 1 : 2] bf16) ins(%h[0 : 128 | 0 : 2] bf16)
    // expected-error @+1 {{'bir.tensor_copy' op dst starts at byte 8 in PSUM in reverse order, it must be 2 behind a multiple of 4 [BIR312]}}
    bir.tensor_copy outs(%ph[0 : 128 | 4 : -1*4] bf16) ins(%h[0 : 128 | 0 : 4] bf16)
    // expected-error @+1 {{'bir.tensor_copy' op src accesses 64 partitions, dst accesses 128 [X-PEQ]}}
    bir.tensor_copy outs(%x[0 : 128 | 0 : 512] f32) ins(%y[0 : 64 | 0 : 512] f32)
    // expected-error @+1 {{'bir.tensor_copy' op src has 511 elements a partition, dst has 512 [X-FEQ]}}
    bir.tensor_copy outs(%x[0 : 128 | 0 : 512] f32) ins(%y[0 : 128 | 0 : 511] f32)
    // expected-error @+1 {{'bir.load' op src accesses 65024 elements, dst accesses 65536 [DMA-COUNT]}}
    bir.load outs(%x[0 : 128 | 0 : 512] f32) ins(%a[0 : 512*127, 512] f32)
    // expected-error @+1 {{'bir.tensor_tensor' op dst is of type bf16 in PSUM, it must be of a 4-byte type [BIR441]}}
    bir.tensor_tensor add outs(%ph[0 : 128 | 0 : 512] bf16) ins(%x[0 : 128 | 0 : 512] f32, %y[0 : 128 | 0 : 512] f32)
    // expected-error @+1 {{'bir.tensor_tensor' op data1 is of the packed type f8e5m2_x4, which this instruction cannot compute with [X-PACKED]}}
    bir.tensor_tensor add outs(%x[0 : 128 | 0 : 512] f32) ins(%c[0 : 128 | 0 : 512] f8e5m2_x4, %y[0 : 128 | 0 : 512] f32)
    // expected-error @+1 {{'bir.tensor_copy' op dst is of type f32 and src of type f8e5m2_x4, a packed type cannot be cast [X-PACKED]}}
    bir.tensor_copy outs(%x[0 : 128 | 0 : 512] f32) ins(%c[0 : 128 | 0 : 512] f8e5m2_x4)
    // expected-error @+1 {{'bir.load' op dst is of type f32 and src of type f8e5m2_x4, a packed type cannot be cast [X-DMACAST]}}
    bir.load outs(%x[0 : 128 | 0 : 512] f32) ins(%cc[0 : 65536] f8e5m2_x4)
    // expected-error @+1 {{'bir.load' op dst is of type f32 and src of type bf16, dge_type hwdge cannot cast [X-DMACAST]}}
    bir.load outs(%x[0 : 128 | 0 : 512] f32) ins(%b[0 : 65536] bf16) {dge_type = #nki.dge<hwdge>}
    // expected-error @+1 {{'bir.memset' op value is 256, u8 holds 0 to 255 [X-MEMSET]}}
    bir.memset outs(%u[0 : 128 | 0 : 512] u8) ins(256 : i32)
    // expected-error @+1 {{'bir.memset' op value is 0.5, i32 takes an integer [X-MEMSET]}}
    bir.memset outs(%i[0 : 128 | 0 : 512] i32) ins(0.5 : f32)
    // expected-error @+1 {{'bir.memset' op value is 1.0, a packed type takes only 0 [X-MEMSET]}}
    bir.memset outs(%c[0 : 128 | 0 : 512] f8e5m2_x4) ins(1.0 : f32)
    // expected-error @+1 {{'bir.reciprocal' op engine is act, it must be dve [BIR606]}}
    bir.reciprocal on act outs(%x[0 : 128 | 0 : 512] f32) ins(%y[0 : 128 | 0 : 512] f32)
    // expected-error @+1 {{'bir.stream_transpose' op engine is pe, it must be dve [BIR606]}}
    bir.stream_transpose on pe outs(%x[0 : 32 | 0 : 32] f32) ins(%y[0 : 32 | 0 : 32] f32)
    // expected-error @+1 {{'bir.memset' op dst is in psum, which engine pool cannot access [X-GPPSUM]}}
    bir.memset on pool outs(%p[0 : 128 | 0 : 512] f32) ins(0.0 : f32)
    // expected-error @+1 {{'bir.load' op engine is act, dge_type swdge needs dma or pool [X-SWDGE]}}
    bir.load on act outs(%x[0 : 128 | 0 : 512] f32) ins(%a[0 : 65536] f32) {dge_type = #nki.dge<swdge>}
    // expected-error @+1 {{'bir.load' op engine is pool, dge_type hwdge needs act, dma or sp [X-HWDGE]}}
    bir.load on pool outs(%x[0 : 128 | 0 : 512] f32) ins(%a[0 : 65536] f32) {dge_type = #nki.dge<hwdge>}
    // expected-error @+1 {{'bir.tensor_tensor' op data1 and data2 are both in psum, at most one may be [X-2PSUM]}}
    bir.tensor_tensor add outs(%x[0 : 128 | 0 : 512] f32) ins(%p[0 : 128 | 0 : 512] f32, %pp[0 : 128 | 0 : 512] f32)
    // expected-error @+1 {{'bir.tensor_tensor' op engine is dve, op pow needs pool [X-OPENG]}}
    bir.tensor_tensor pow on dve outs(%x[0 : 128 | 0 : 512] f32) ins(%y[0 : 128 | 0 : 512] f32, %y[0 : 128 | 0 : 512] f32)
    // expected-error @+1 {{'bir.tensor_tensor' op data1 is in psum, pow runs on engine pool, which cannot access it [X-GPPSUM]}}
    bir.tensor_tensor pow outs(%x[0 : 128 | 0 : 512] f32) ins(%p[0 : 128 | 0 : 512] f32, %y[0 : 128 | 0 : 512] f32)
    // expected-error @+1 {{'bir.tensor_tensor' op op is abs, it must be a binary operator [X-OP]}}
    bir.tensor_tensor abs outs(%x[0 : 128 | 0 : 512] f32) ins(%y[0 : 128 | 0 : 512] f32, %y[0 : 128 | 0 : 512] f32)
    // expected-error @+1 {{'bir.tensor_tensor' op dst is of type f32, bitwise_or needs integers [X-BITVEC]}}
    bir.tensor_tensor bitwise_or outs(%x[0 : 128 | 0 : 512] f32) ins(%i[0 : 128 | 0 : 512] i32, %i[0 : 128 | 0 : 512] i32)
    // expected-error @+1 {{'bir.tensor_tensor' op engine is pool, op bitwise_or needs dve [X-BITVEC]}}
    bir.tensor_tensor bitwise_or on pool outs(%i[0 : 128 | 0 : 512] i32) ins(%i[0 : 128 | 0 : 512] i32, %i[0 : 128 | 0 : 512] i32)
    // expected-error @+1 {{'bir.tensor_scalar_ptr' op operand0 has 2 elements a partition, exactly 1 needed [X-VEC]}}
    bir.tensor_scalar_ptr add outs(%x[0 : 128 | 0 : 512] f32) ins(%y[0 : 128 | 0 : 512] f32, operand0 = %v[0 : 128 | 0 : 2] f32)
    // expected-error @+1 {{'bir.tensor_scalar_ptr' op operand0 is of type bf16, arithmetic takes one f32 a partition [X-VECDT]}}
    bir.tensor_scalar_ptr add outs(%x[0 : 128 | 0 : 512] f32) ins(%y[0 : 128 | 0 : 512] f32, operand0 = %h[0 : 128 | 0 : 1] bf16)
    // expected-error @+1 {{'bir.tensor_scalar' op op0 is add, which needs operand0 [X-UNARY]}}
    bir.tensor_scalar add outs(%x[0 : 128 | 0 : 512] f32) ins(%y[0 : 128 | 0 : 512] f32)
    // expected-error @+1 {{'bir.tensor_scalar' op operand0 is given, op0 abs takes none or the number 0 [X-UNARY]}}
    bir.tensor_scalar abs outs(%x[0 : 128 | 0 : 512] f32) ins(%y[0 : 128 | 0 : 512] f32, operand0 = 1.0 : f32)
    // expected-error @+1 {{'bir.tensor_scalar' op op1 is mult, which needs operand1 [X-UNARY]}}
    bir.tensor_scalar add mult outs(%x[0 : 128 | 0 : 512] f32) ins(%y[0 : 128 | 0 : 512] f32, operand0 = 1.0 : f32)
    // expected-error @+1 {{'bir.tensor_scalar' op operand1 is given without op1 [X-UNARY]}}
    bir.tensor_scalar add outs(%x[0 : 128 | 0 : 512] f32) ins(%y[0 : 128 | 0 : 512] f32, operand0 = 1.0 : f32, operand1 = 1.0 : f32)
    // expected-error @+1 {{'bir.tensor_scalar' op op0 is add and op1 is bitwise_or, they must be both bitwise or both arithmetic operators [X-BITVEC]}}
    bir.tensor_scalar add bitwise_or outs(%i[0 : 128 | 0 : 512] i32) ins(%i[0 : 128 | 0 : 512] i32, operand0 = 1 : i32, operand1 = 1 : i32)
    // expected-error @+1 {{'bir.tensor_scalar' op engine is dve, op0 rsqrt needs act or pool [X-OPENG]}}
    bir.tensor_scalar rsqrt on dve outs(%x[0 : 128 | 0 : 512] f32) ins(%y[0 : 128 | 0 : 512] f32)
    // expected-error @+1 {{'bir.tensor_scalar_ptr' op op0 is bitwise_or, it must be an arithmetic operator [X-OP]}}
    bir.tensor_scalar_ptr bitwise_or add is_scalar_tensor_tensor outs(%x[0 : 128 | 0 : 512] f32) ins(%y[0 : 128 | 0 : 512] f32, operand0 = 1.0 : f32, operand1 = %y[0 : 128 | 0 : 512] f32)
    // expected-error @+1 {{'bir.tensor_scalar_ptr' op data has 4 pairs, at most 3 allowed [BIR133]}}
    bir.tensor_scalar_ptr mult add is_scalar_tensor_tensor outs(%x[0 : 128 | 0 : 512] f32) ins(%y[0 : 128 | 0 : 64*8, 8*8, 8] f32, operand0 = 1.0 : f32, operand1 = %y[0 : 128 | 0 : 512] f32)
    // expected-error @+1 {{'bir.tensor_scalar_ptr' op dst has 4 pairs, at most 3 allowed [BIR134]}}
    bir.tensor_scalar_ptr mult add is_scalar_tensor_tensor outs(%x[0 : 128 | 0 : 64*8, 8*8, 8] f32) ins(%y[0 : 128 | 0 : 512] f32, operand0 = 1.0 : f32, operand1 = %y[0 : 128 | 0 : 512] f32)
    // expected-error @+1 {{'bir.activation' op bias is of type f32r, it must be bf16, f16, f32, f8e3, f8e4, f8e4m3fn, f8e5, f8e8m0fnu, i16, i32, i8, u16, u32 or u8 [X-BIAS]}}
    bir.activation exp outs(%x[0 : 128 | 0 : 512] f32) ins(%y[0 : 128 | 0 : 512] f32, bias = %v[0 : 128 | 0 : 1] f32r)
    // expected-error @+1 {{'bir.activation' op scale is of type bf16, it must be f32 [X-SCALE]}}
    bir.activation exp outs(%x[0 : 128 | 0 : 512] f32) ins(%y[0 : 128 | 0 : 512] f32, scale = 2.0 : bf16)
    // expected-error @+1 {{'bir.activation' op reduce_res is given without accumulate [X-REDRES]}}
    bir.activation exp outs(%x[0 : 128 | 0 : 512] f32, reduce_res = %v[0 : 128 | 0 : 1] f32) ins(%y[0 : 128 | 0 : 512] f32)
    // expected-error @+1 {{'bir.activation' op reduce_op is max, it must be add [X-OP]}}
    bir.activation exp outs(%x[0 : 128 | 0 : 512] f32) ins(%y[0 : 128 | 0 : 512] f32) {reduce_op = #nki.alu<max>}
    // expected-error @+1 {{'bir.activation' op accumulate is load_accumulate, it must be accumulate, add_accumulate, idle, zero or zero_accumulate [X-ACCCMD]}}
    bir.activation exp outs(%x[0 : 128 | 0 : 512] f32) ins(%y[0 : 128 | 0 : 512] f32) {accumulate = #nki.accumulate<load_accumulate>}
    // expected-error @+1 {{'bir.tensor_reduce' op op is abs, it must be add, bitwise_and, bitwise_or, bitwise_xor, logical_and, logical_or, logical_xor, max, min, mult or subtract [X-OP]}}
    bir.tensor_reduce abs x outs(%v[0 : 128 | 0 : 1] f32) ins(%y[0 : 128 | 0 : 512] f32)
    // expected-error @+1 {{'bir.tensor_reduce' op axis is xyzwc, it must be x, xy, xyz or xyzw [X-AXIS]}}
    bir.tensor_reduce max xyzwc outs(%v[0 : 128 | 0 : 1] f32) ins(%y[0 : 128 | 0 : 512] f32)
    // expected-error @+1 {{'bir.tensor_reduce' op dst has 2 elements a partition, reducing data of 512 along axis x leaves 1 [X-REDUCE]}}
    bir.tensor_reduce max x outs(%v[0 : 128 | 0 : 2] f32) ins(%y[0 : 128 | 0 : 512] f32)
    // expected-error @+1 {{'bir.tensor_reduce' op axis is xy, but data has 1 free dimension [X-REDUCE]}}
    bir.tensor_reduce max xy outs(%v[0 : 128 | 0 : 1] f32) ins(%y[0 : 128 | 0 : 512] f32)
    // expected-error @+1 {{'bir.tensor_reduce' op negate is given, but op bitwise_and is not arithmetic [X-NEGATE]}}
    bir.tensor_reduce bitwise_and x negate outs(%i[0 : 128 | 0 : 1] i32) ins(%i[0 : 128 | 0 : 512] i32)
    // expected-error @+1 {{'bir.tensor_reduce' op dst accesses 2 partitions, exactly 1 needed [X-PEQ]}}
    bir.tensor_reduce add c outs(%x[0 : 2 | 0 : 512] f32) ins(%y[0 : 128 | 0 : 512] f32)
    // expected-error @+1 {{'bir.bn_stats' op data has 513 elements a partition, at most 512 allowed [X-BNSTATS]}}
    bir.bn_stats outs(%v[0 : 128 | 0 : 6] f32) ins(%w[0 : 128 | 0 : 513] bf16)
    // expected-error @+1 {{'bir.bn_stats' op dst has 5 elements a partition, exactly 6 needed [X-BN6]}}
    bir.bn_stats outs(%v[0 : 128 | 0 : 5] f32) ins(%y[0 : 128 | 0 : 512] f32)
    // expected-error @+1 {{'bir.bn_stats_aggregate' op data has 7 elements a partition, a multiple of 3 needed [BIR226]}}
    bir.bn_stats_aggregate outs(%v[0 : 128 | 0 : 2] f32) ins(%y[0 : 128 | 0 : 7] f32)
    // expected-error @+1 {{'bir.bn_stats_aggregate' op dst has 3 elements a partition, exactly 2 needed [X-BN2]}}
    bir.bn_stats_aggregate outs(%v[0 : 128 | 0 : 3] f32) ins(%y[0 : 128 | 0 : 6] f32)
    // expected-error @+1 {{'bir.iota' op pattern covers 511 elements, dst has 512 elements a partition [X-PATTERN]}}
    bir.iota outs(%i[0 : 128 | 0 : 512] i32) {pattern = #nki.pattern<1*511>}
    // expected-error @+1 {{'bir.iota' op pattern has 5 pairs, at most 4 allowed [X-PATTERN]}}
    bir.iota outs(%i[0 : 128 | 0 : 512] i32) {pattern = #nki.pattern<0*1, 0*1, 0*1, 0*1, 1*512>}
    // expected-error @+1 {{'bir.tensor_scalar_affine_select' op cmp_op is add, it must be is_equal, is_ge, is_gt, is_le, is_lt or not_equal [X-OP]}}
    bir.tensor_scalar_affine_select add outs(%x[0 : 128 | 0 : 512] f32) ins(%y[0 : 128 | 0 : 512] f32, 0.0 : f32) {pattern = #nki.pattern<1*512>}
    // expected-error @+1 {{'bir.select' op on_false has 2 elements a partition, it must have 1 or 512 as dst [X-VEC]}}
    bir.select outs(%x[0 : 128 | 0 : 512] f32) ins(%u[0 : 128 | 0 : 512] u8, %y[0 : 128 | 0 : 512] f32, %v[0 : 128 | 0 : 2] f32)
    // expected-error @+1 {{'bir.select' op predicate and on_true are both in psum, at most one may be [X-2PSUM]}}
    bir.select outs(%x[0 : 128 | 0 : 512] f32) ins(%pp[0 : 128 | 0 : 512] f32, %p[0 : 128 | 0 : 512] f32, 0.0 : f32)
    // expected-error @+1 {{'bir.copy_predicated' op src is of type bf16, dst is of type f32 [X-SAMEDT]}}
    bir.copy_predicated outs(%x[0 : 128 | 0 : 512] f32) ins(%h[0 : 128 | 0 : 512] bf16, %u[0 : 128 | 0 : 512] u8)
    // expected-error @+1 {{'bir.copy_predicated' op predicate is of type f32, it must be i16, i32, i8, u16, u32 or u8 [X-DTYPE]}}
    bir.copy_predicated outs(%x[0 : 128 | 0 : 512] f32) ins(%y[0 : 128 | 0 : 512] f32, %y[0 : 128 | 0 : 512] f32)
    // expected-error @+1 {{'bir.copy_predicated' op src is a number of type i32, f32 takes a floating-point number [X-SCALARDT]}}
    bir.copy_predicated outs(%x[0 : 128 | 0 : 512] f32) ins(1 : i32, %u[0 : 128 | 0 : 512] u8)
    // expected-error @+1 {{'bir.copy_predicated' op src is -1, u8 holds 0 to 255 [X-SCALARDT]}}
    bir.copy_predicated outs(%u[0 : 128 | 0 : 512] u8) ins(-1 : i32, %u[0 : 128 | 0 : 512] u8)
    // expected-error @+1 {{'bir.matmult' op stationary is of type i32, it must be bf16, f16, f32, f32r, f8e3, f8e4, f8e4m3fn, f8e5, i8 or u8 [X-MMDT]}}
    bir.matmult outs(%p[0 : 128 | 0 : 512] f32) ins(%i[0 : 128 | 0 : 128] i32, %h[0 : 128 | 0 : 512] bf16)
    // expected-error @+1 {{'bir.matmult' op stationary is of type bf16 and moving of type f32, 32-bit types pair only with each other [BIR034]}}
    bir.matmult outs(%p[0 : 128 | 0 : 512] f32) ins(%h[0 : 128 | 0 : 128] bf16, %x[0 : 128 | 0 : 512] f32)
    // expected-error @+1 {{'bir.matmult' op dst is of type i32, a matmul writes f32 or bf16 [BIR032]}}
    bir.matmult outs(%p[0 : 128 | 0 : 512] i32) ins(%h[0 : 128 | 0 : 128] bf16, %h[0 : 128 | 0 : 512] bf16)
    // expected-error @+1 {{'bir.matmult' op stationary has 129 elements a partition, at most 128 allowed [BIR040]}}
    bir.matmult outs(%pw[0 : 128 | 0 : 8192] bf16) ins(%h[0 : 128 | 0 : 129] bf16, %w[0 : 128 | 0 : 8192] bf16)
    // expected-error @+1 {{'bir.matmult' op dst reaches element 4096 of a partition, it has 4096 elements [X-FMAX]}}
    bir.matmult outs(%pw[0 : 1 | 0 : 4097] f32) ins(%h[0 : 128 | 0 : 1] bf16, %w[0 : 128 | 0 : 4097] bf16)
    // expected-error @+1 {{'bir.matmult' op stationary accesses 64 partitions, moving accesses 128 [BIR041]}}
    bir.matmult outs(%p[0 : 128 | 0 : 512] f32) ins(%h[0 : 64 | 0 : 128] bf16, %h[0 : 128 | 0 : 512] bf16)
    // expected-error @+1 {{'bir.matmult' op dst is [64, 512], but stationary [128, 128] and moving [128, 512] give [128, 512] [BIR041]}}
    bir.matmult outs(%p[0 : 64 | 0 : 512] f32) ins(%h[0 : 128 | 0 : 128] bf16, %h[0 : 128 | 0 : 512] bf16)
    // expected-error @+1 {{'bir.matmult' op moving is of type f16, stationary is of type bf16 [BIR035]}}
    bir.matmult is_transpose outs(%ph[0 : 64 | 0 : 128] bf16) ins(%h[0 : 128 | 0 : 64] bf16, %h[0 : 128 | 0 : 128] f16)
    // expected-error @+1 {{'bir.matmult' op dst is of type f32, transposing bf16 needs the same type [BIR032]}}
    bir.matmult is_transpose outs(%p[0 : 64 | 0 : 128] f32) ins(%h[0 : 128 | 0 : 64] bf16, %h[0 : 128 | 0 : 128] bf16)
    // expected-error @+1 {{'bir.matmult' op dst starts at partition 64, transposing needs 0 [BIR151]}}
    bir.matmult is_transpose outs(%ph[64 : 64 | 0 : 128] bf16) ins(%h[0 : 128 | 0 : 64] bf16, %h[0 : 128 | 0 : 128] bf16)
    // expected-error @+1 {{'bir.matmult' op stationary is of type bf16, perf_mode double_row needs fp8 [X-DROW]}}
    bir.matmult outs(%p[0 : 64 | 0 : 64] f32) ins(%h[0 : 128 | 0 : 64*2, 64] bf16, %h[0 : 128 | 0 : 64*2, 64] bf16) {perf_mode = #nki.perf_mode<double_row>}
    // expected-error @+1 {{'bir.matmult' op tile_size is given without tile_position [BIR050]}}
    bir.matmult outs(%p[0 : 128 | 0 : 512] f32) ins(%h[0 : 128 | 0 : 128] bf16, %h[0 : 128 | 0 : 512] bf16) params(tile_size = [128, 128])
    // expected-error @+1 {{'bir.matmult' op tile_size has row size 32, the operands need 64 [BIR052]}}
    bir.matmult outs(%p[0 : 32 | 0 : 512] f32) ins(%h[0 : 64 | 0 : 32] bf16, %h[0 : 64 | 0 : 512] bf16) params(tile_position = [0, 0], tile_size = [32, 32])
    // expected-error @+1 {{'bir.matmult' op tile_position has row 32, it must be a multiple of 64 with the tile inside 128 [BIR052]}}
    bir.matmult outs(%p[0 : 32 | 0 : 512] f32) ins(%h[0 : 64 | 0 : 32] bf16, %h[0 : 64 | 0 : 512] bf16) params(tile_position = [32, 0], tile_size = [64, 32])
    // expected-error @+1 {{'bir.stream_transpose' op data has 33 elements a partition, at most 32 allowed [X-TRANSPOSE]}}
    bir.stream_transpose outs(%x[0 : 33 | 0 : 32] f32) ins(%y[0 : 32 | 0 : 33] f32)
    // expected-error @+1 {{'bir.stream_transpose' op dst is [32, 16], the transpose of data is [16, 32] [X-TRSHAPE]}}
    bir.stream_transpose outs(%x[0 : 32 | 0 : 16] f32) ins(%y[0 : 32 | 0 : 16] f32)
  }
}

// -----

// Rules of gen3.
bir.module @m attributes {arch = #nki.arch<gen3>} {
  bir.func @f {
    %cc = bir.tensor "cc" : !nki.mem<hbm 512x512xf8e5m2_x4>
    %x = bir.tensor "x" : !nki.mem<sbuf 128x512xf32>
    %y = bir.tensor "y" : !nki.mem<sbuf 128x512xf32>
    %h = bir.tensor "h" : !nki.mem<sbuf 128x512xbf16>
    %w = bir.tensor "w" : !nki.mem<sbuf 128x40000xbf16>
    %pw = bir.tensor "pw" at <0, 0> : !nki.mem<psum 128x4096xf32>

    // expected-error @+1 {{'bir.tensor_tensor' op op is abs_max, which trn2 does not have [BIR532]}}
    bir.tensor_tensor abs_max outs(%x[0 : 128 | 0 : 512] f32) ins(%y[0 : 128 | 0 : 512] f32, %y[0 : 128 | 0 : 512] f32)
    // expected-error @+1 {{'bir.load' op dst is of type f8e5m2_x4, which trn2 does not have [BIR533]}}
    bir.load outs(%x[0 : 128 | 0 : 512] f8e5m2_x4) ins(%cc[0 : 65536] f8e5m2_x4)
    // expected-error @+1 {{'bir.matmult' op dst spans the PSUM banks 0 to 1, it must lie in one [BIR110]}}
    bir.matmult outs(%pw[0 : 128 | 256 : 512] f32) ins(%h[0 : 128 | 0 : 128] bf16, %h[0 : 128 | 0 : 512] bf16)
    // expected-error @+1 {{'bir.matmult' op moving has 513 elements a partition, at most 512 allowed [BIR039]}}
    bir.matmult outs(%pw[0 : 1 | 0 : 513] f32) ins(%h[0 : 128 | 0 : 1] bf16, %w[0 : 128 | 0 : 513] bf16)
    // expected-error @+1 {{'bir.tensor_scalar' op operators are (add, mult), engine act takes (add, -), (mult, -) or (mult, add) [BIR444]}}
    bir.tensor_scalar add mult on act outs(%x[0 : 128 | 0 : 512] f32) ins(%y[0 : 128 | 0 : 512] f32, operand0 = 1.0 : f32, operand1 = 2.0 : f32)
  }
}

// -----

// Rules of gen2.
bir.module @m attributes {arch = #nki.arch<gen2>} {
  bir.func @f {
    %a = bir.tensor "a" : !nki.mem<hbm 512x512xf32>
    %x = bir.tensor "x" : !nki.mem<sbuf 128x512xf32>
    %y = bir.tensor "y" : !nki.mem<sbuf 128x512xf32>
    %v = bir.tensor "v" : !nki.mem<sbuf 128x8xf32>
    %h = bir.tensor "h" : !nki.mem<sbuf 128x512xbf16>
    %f = bir.tensor "f" : !nki.mem<sbuf 128x512xf8e4>
    %p = bir.tensor "p" at <0, 0> : !nki.mem<psum 128x512xf32>

    // expected-error @+1 {{'bir.load' op dge_type is hwdge, which needs trn2 or newer; the target is trn1 [X-HWDGE]}}
    bir.load on sp outs(%x[0 : 128 | 0 : 512] f32) ins(%a[0 : 65536] f32) {dge_type = #nki.dge<hwdge>}
    // expected-error @+1 {{'bir.tensor_scalar' op engine is act, which needs trn2 or newer; the target is trn1 [X-ENGGEN]}}
    bir.tensor_scalar add on act outs(%x[0 : 128 | 0 : 512] f32) ins(%y[0 : 128 | 0 : 512] f32, operand0 = 1.0 : f32)
    // expected-error @+1 {{'bir.activation' op bias is a number, which exp takes from trn2 on [BIR605]}}
    bir.activation exp outs(%x[0 : 128 | 0 : 512] f32) ins(%y[0 : 128 | 0 : 512] f32, bias = 1.0 : f32)
    // expected-error @+1 {{'bir.activation' op bias is in storage, which reciprocal takes from trn2 on [X-RECBIAS]}}
    bir.activation reciprocal outs(%x[0 : 128 | 0 : 512] f32) ins(%y[0 : 128 | 0 : 512] f32, bias = %v[0 : 128 | 0 : 1] f32)
    // expected-error @+1 {{'bir.matmult' op perf_mode is double_row, which needs trn2 or newer; the target is trn1 [X-DROWGEN]}}
    bir.matmult outs(%p[0 : 64 | 0 : 64] f32) ins(%f[0 : 128 | 0 : 64*2, 64] f8e4, %f[0 : 128 | 0 : 64*2, 64] f8e4) {perf_mode = #nki.perf_mode<double_row>}
    // expected-error @+1 {{'bir.matmult' op tile_size is 32 x 32, which trn1 does not have [BIR052]}}
    bir.matmult outs(%p[0 : 32 | 0 : 512] f32) ins(%h[0 : 32 | 0 : 32] bf16, %h[0 : 32 | 0 : 512] bf16) params(tile_position = [0, 0], tile_size = [32, 32])
  }
}

// -----

bir.module @m {
  bir.func @f {
    %a = bir.tensor "a" at <0, 0>, <0, 64> {user_allocated} : !nki.mem<sbuf 128x16xf32, blocks 2>
    // expected-error @+1 {{'bir.tensor' op is user_allocated, but block 0 has no place}}
    %b = bir.tensor "b" {user_allocated} : !nki.mem<sbuf 128x16xf32>
    // expected-error @+1 {{'bir.tensor' op is user_allocated, but block 1 has no place}}
    %c = bir.tensor "c" at <0, 0>, <> {user_allocated} : !nki.mem<sbuf 128x16xf32, blocks 2>
  }
}
