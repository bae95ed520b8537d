module @m {
  func.func public @main(%arg0: tensor<300xf32>) -> tensor<300xf32> {
    %0 = stablehlo.cosine %arg0 : tensor<300xf32>
    %1 = stablehlo.add %arg0, %arg0 : tensor<300xf32>
    return %1 : tensor<300xf32>
  }
}
