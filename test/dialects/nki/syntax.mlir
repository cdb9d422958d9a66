// What the custom syntax of instructions allows beside the form in which it is printed.
// RUN: nki-opt %s | filecheck %s
// RUN: nki-opt %s | nki-opt | filecheck %s

bir.module @m {
  bir.func @f {
    %t = bir.tensor "t" : !nki.mem<sbuf 128x512xf32>
    %v.1 = bir.tensor "v" : !nki.mem<sbuf 128x8xf32>
    %r = bir.register "r"

    // Words, engine and name come in any order; required operands may be named, optional ones come in any order.
    // CHECK: bir.tensor_scalar_ptr subtract mult reverse0 on dve "n" outs(%t[0 : 128 | 0 : 512] f32) ins(%t[0 : 128 | 0 : 512] f32, operand0 = %v.1[0 : 128 | 0 : 1] f32, operand1 = 2.0 : f32)
    bir.tensor_scalar_ptr "n" reverse0 on dve subtract mult outs(dst = %t[0 : 128 | 0 : 512] f32)
      ins(operand1 = 2.0 : f32, operand0 = %v.1[0:128|0:1] f32, data = %t[0:128|0:512]f32)

    // Comments and line breaks stand between all words and inside of patterns.
    // CHECK: bir.tensor_tensor add "c" outs(%t[0 : 128 | 0 : 512] f32) ins(%t[0 : 128 | 0 : 512] f32, %t[0 : 128 | 511 : -1*512] f32) {nki.note = "(outs"}
    bir.tensor_tensor // no parameter: max outs(
      add "c" // another
      outs(// the destination, with a parenthesis )
        %t[0 : 128 // partitions
          | 0 : 512 // elements, with a bracket ]
        ] f32
      ) // ins come next
      ins(
        %t[0 : 128 | 0 : 512] f32,
        // the second one is read backwards
        %t[0 : 128 | 511 : -1*512] f32
      )
      {nki.note = "(outs"}

    // An optional operand that is first in the class may come after the others.
    // CHECK: bir.activation exp outs(%t[0 : 128 | 0 : 512] f32, reduce_res = %v.1[0 : 128 | 1 : 1] f32) ins(%t[0 : 128 | 0 : 512] f32, bias = %v.1[0 : 128 | 0 : 1] f32) {accumulate = #nki.accumulate<zero>, nki.a, nki.b = "last"}
    bir.activation exp outs(reduce_res = %v.1[0 : 128 | 1 : 1] f32, %t[0 : 128 | 0 : 512] f32)
      ins(bias = %v.1[0 : 128 | 0 : 1] f32, %t[0 : 128 | 0 : 512] f32) {nki.a, accumulate = #nki.accumulate<zero>, nki.b = "last"}

    // Expressions are added up; nested quotients keep their parentheses; a guard may have them, too.
    bir.loop %i = 0 to 4 affine {
      // CHECK: bir.memset outs(%t[0 : 32 | ((((%i + 2) floordiv 3) + 1) mod 2) + %i : 1] f32) ins(0.0 : f32) when(((%i floordiv 2) mod 2) - 1 ge 0, %i eq 0)
      bir.memset outs(%t[0 : 32 | (((%i + 5) floordiv 3) mod 2) + 2*%i - %i : 1] f32) ins(0.0 : f32) when(((%i floordiv 2) mod 2) - 1 ge 0, (%i) eq 0)
    }

    // A name may hold anything.
    // CHECK: bir.register_move "a \22quoted\22 \5Cname\0A \C3\A9" outs(%r) ins(-1 : i32)
    bir.register_move "a \"quoted\" \\name\n é" outs(%r) ins(-1 : i32)
    // CHECK: bir.register_move "" outs(%r) ins(0 : i32)
    bir.register_move "" outs(%r) ins(0 : i32)
  }
}
