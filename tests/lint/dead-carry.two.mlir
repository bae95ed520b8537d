module @m {
  func.func public @main(%x: tensor<300xf32>) -> tensor<300xf32> {
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %r:4 = stablehlo.while(%i = %zero, %a = %x, %b = %x, %c = %x) : tensor<i32>, tensor<300xf32>, tensor<300xf32>, tensor<300xf32>
    cond {
      %n = stablehlo.constant dense<10> : tensor<i32>
      %l = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %l : tensor<i1>
    } do {
      %one = stablehlo.constant dense<1> : tensor<i32>
      %j = stablehlo.add %i, %one : tensor<i32>
      %d = stablehlo.sine %a : tensor<300xf32>
      %e = stablehlo.add %b, %c : tensor<300xf32>
      %f = stablehlo.multiply %c, %b : tensor<300xf32>
      stablehlo.return %j, %d, %e, %f : tensor<i32>, tensor<300xf32>, tensor<300xf32>, tensor<300xf32>
    }
    return %r#1 : tensor<300xf32>
  }
}
