// Matrices stand by columns here, as the library's guide has it: entry (i,j) at i + j x leading dimension.
#include <cublasLt.h>

#include <bit>
#include <cstdint>
#include <new>

#include "cuda_on_host/toolkit/fake.h"

using bam::test::fake::machine;

namespace {

struct Layout {
  cudaDataType type;
  std::uint64_t rows, columns;
  std::int64_t stride;
};
struct Product {
  cublasComputeType_t compute;
  cudaDataType scale;
  cublasOperation_t transposed[2];
};
struct Wishes {
  std::uint64_t workspace;
  std::uint32_t reductions, alignment;
};
static_assert(sizeof(Layout) <= sizeof(cublasLtMatrixLayoutOpaque_t));
static_assert(sizeof(Product) <= sizeof(cublasLtMatmulDescOpaque_t));
static_assert(sizeof(Wishes) <= sizeof(cublasLtMatmulPreferenceOpaque_t));

template <typename T, typename Opaque>
T& inside(Opaque* opaque) {
  return *reinterpret_cast<T*>(opaque);
}

float load(const void* x, const Layout& at, std::uint64_t i, std::uint64_t j) {
  const auto place = static_cast<std::int64_t>(i) + static_cast<std::int64_t>(j) * at.stride;
  if (at.type == CUDA_R_32F) return static_cast<const float*>(x)[place];
  return std::bit_cast<float>(std::uint32_t{static_cast<const std::uint16_t*>(x)[place]} << 16);
}
void store(void* x, const Layout& at, std::uint64_t i, std::uint64_t j, float value) {
  const auto place = static_cast<std::int64_t>(i) + static_cast<std::int64_t>(j) * at.stride;
  if (at.type == CUDA_R_32F) {
    static_cast<float*>(x)[place] = value;
  } else {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    static_cast<std::uint16_t*>(x)[place] = static_cast<std::uint16_t>((bits + 0x7fffU + (bits >> 16 & 1U)) >> 16);
  }
}

}  // namespace

extern "C" {

cublasStatus_t cublasLtCreate(cublasLtHandle_t* handle) {
  *handle = reinterpret_cast<cublasLtHandle_t>(&machine());
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtDestroy(cublasLtHandle_t) {
  return CUBLAS_STATUS_SUCCESS;
}
const char* cublasLtGetStatusString(cublasStatus_t) {
  return "some status";
}

cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t* made, cublasComputeType_t compute, cudaDataType_t scale) {
  *made = new cublasLtMatmulDescOpaque_t{};
  inside<Product>(*made) = {compute, scale, {CUBLAS_OP_N, CUBLAS_OP_N}};
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t made) {
  delete made;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t made, cublasLtMatmulDescAttributes_t name,
                                              const void* value, std::size_t bytes) {
  if (bytes != sizeof(cublasOperation_t)) return CUBLAS_STATUS_INVALID_VALUE;
  if (name != CUBLASLT_MATMUL_DESC_TRANSA && name != CUBLASLT_MATMUL_DESC_TRANSB) return CUBLAS_STATUS_INVALID_VALUE;
  inside<Product>(made).transposed[name == CUBLASLT_MATMUL_DESC_TRANSB ? 1 : 0] =
      *static_cast<const cublasOperation_t*>(value);
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t* made, cudaDataType type, std::uint64_t rows,
                                          std::uint64_t columns, std::int64_t stride) {
  if (stride < static_cast<std::int64_t>(rows)) return CUBLAS_STATUS_INVALID_VALUE;
  *made = new cublasLtMatrixLayoutOpaque_t{};
  inside<Layout>(*made) = {type, rows, columns, stride};
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t made) {
  delete made;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t* made) {
  *made = new cublasLtMatmulPreferenceOpaque_t{};
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t made) {
  delete made;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t made,
                                                    cublasLtMatmulPreferenceAttributes_t name, const void* value,
                                                    std::size_t bytes) {
  const bool is_workspace = name == CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES;
  if (bytes != (is_workspace ? sizeof(std::uint64_t) : sizeof(std::uint32_t))) return CUBLAS_STATUS_INVALID_VALUE;
  Wishes& wishes = inside<Wishes>(made);
  if (is_workspace) {
    wishes.workspace = *static_cast<const std::uint64_t*>(value);
  } else if (name == CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK) {
    wishes.reductions = *static_cast<const std::uint32_t*>(value);
  } else {
    wishes.alignment = *static_cast<const std::uint32_t*>(value);
  }
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t, cublasLtMatmulDesc_t, cublasLtMatrixLayout_t,
                                              cublasLtMatrixLayout_t, cublasLtMatrixLayout_t, cublasLtMatrixLayout_t,
                                              cublasLtMatmulPreference_t wishes, int,
                                              cublasLtMatmulHeuristicResult_t* to, int* count) {
  ++machine().searches;
  *count = 0;
  if (!machine().has_kernels) return CUBLAS_STATUS_NOT_SUPPORTED;
  *count = 1;
  *to = {};
  to->algo.data[0] = inside<Wishes>(wishes).workspace;
  to->algo.data[1] = inside<Wishes>(wishes).alignment;
  to->algo.data[2] = inside<Wishes>(wishes).reductions;
  return CUBLAS_STATUS_SUCCESS;
}

// D = alpha op(A) op(B) + beta C. Refuses what the library would: sizes that do not fit, a workspace or a matrix that
// is less aligned than was promised.
cublasStatus_t cublasLtMatmul(cublasLtHandle_t, cublasLtMatmulDesc_t product, const void* alpha, const void* a,
                              cublasLtMatrixLayout_t a_layout, const void* b, cublasLtMatrixLayout_t b_layout,
                              const void* beta, const void* c, cublasLtMatrixLayout_t c_layout, void* d,
                              cublasLtMatrixLayout_t d_layout, const cublasLtMatmulAlgo_t* algorithm, void* workspace,
                              std::size_t bytes, cudaStream_t) {
  const auto& how = inside<Product>(product);
  const auto &at_a = inside<Layout>(a_layout), &at_b = inside<Layout>(b_layout), &at_c = inside<Layout>(c_layout),
             &at_d = inside<Layout>(d_layout);
  const bool turns_a = how.transposed[0] == CUBLAS_OP_T, turns_b = how.transposed[1] == CUBLAS_OP_T;
  const std::uint64_t depth = turns_a ? at_a.rows : at_a.columns;
  const bool fits =
      (turns_a ? at_a.columns : at_a.rows) == at_d.rows && (turns_b ? at_b.columns : at_b.rows) == depth &&
      (turns_b ? at_b.rows : at_b.columns) == at_d.columns && at_c.rows == at_d.rows && at_c.columns == at_d.columns;
  const auto aligned = [](const void* data, std::uint64_t to) {
    return reinterpret_cast<std::uintptr_t>(data) % to == 0;
  };
  const bool right_memory = aligned(a, algorithm->data[1]) && aligned(b, algorithm->data[1]) &&
                            aligned(d, algorithm->data[1]) && aligned(workspace, 256) && bytes >= algorithm->data[0];
  if (!fits || !right_memory || how.scale != CUDA_R_32F) return CUBLAS_STATUS_INVALID_VALUE;
  machine().tf32 = how.compute == CUBLAS_COMPUTE_32F_FAST_TF32;
  machine().workspace = bytes;
  for (std::uint64_t i = 0; i < at_d.rows; ++i) {
    for (std::uint64_t j = 0; j < at_d.columns; ++j) {
      float sum = 0;
      for (std::uint64_t k = 0; k < depth; ++k) {
        sum += load(a, at_a, turns_a ? k : i, turns_a ? i : k) * load(b, at_b, turns_b ? j : k, turns_b ? k : j);
      }
      const float before = *static_cast<const float*>(beta);  // 0: what is there is not read
      store(d, at_d, i, j, *static_cast<const float*>(alpha) * sum + (before != 0 ? before * load(c, at_c, i, j) : 0));
    }
  }
  return CUBLAS_STATUS_SUCCESS;
}

}  // extern "C"
