#include "kernels/cuda/product.h"

#include <cublasLt.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>

#include "base/error.h"
#include "kernels/cuda/ops.h"

namespace bam::cuda {
namespace {

void check(cublasStatus_t status, const char* what) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  throw Error(std::string("cuda: ") + what + ": " + cublasLtGetStatusString(status));
}

cudaDataType_t type_of(const ConstTensorView& x) {
  return is_half(x) ? CUDA_R_16BF : CUDA_R_32F;
}

// The least of the three matrices'.
std::uint32_t alignment_of(const MatmulArgs& args) {
  const auto of = [](const void* data) {
    const auto address = reinterpret_cast<std::uintptr_t>(data);
    return std::min<std::uintptr_t>(256, address & (~address + 1));
  };
  return static_cast<std::uint32_t>(std::min({of(args.a.data), of(args.b.data), of(args.c.data)}));
}

// Row-major c = op(a) op(b) is, by columns as the library has it, c' = op(b)' op(a)': b comes first, and every matrix
// is what it was with rows and columns exchanged.
class Plan {
 public:
  Plan(const MatmulArgs& args, cublasComputeType_t compute) {
    check(cublasLtMatmulDescCreate(&product_, compute, CUDA_R_32F), "matmul");
    set(CUBLASLT_MATMUL_DESC_TRANSA, args.transpose_b ? CUBLAS_OP_T : CUBLAS_OP_N);
    set(CUBLASLT_MATMUL_DESC_TRANSB, args.transpose_a ? CUBLAS_OP_T : CUBLAS_OP_N);
    first_ = layout(args.b);
    second_ = layout(args.a);
    result_ = layout(args.c);
  }
  ~Plan() {
    cublasLtMatrixLayoutDestroy(first_);
    cublasLtMatrixLayoutDestroy(second_);
    cublasLtMatrixLayoutDestroy(result_);
    cublasLtMatmulDescDestroy(product_);
  }
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;

  // False when the library has no kernel for it.
  bool find(cublasLtHandle_t library, const MatmulArgs& args, std::size_t workspace) {
    cublasLtMatmulPreference_t wishes = nullptr;
    check(cublasLtMatmulPreferenceCreate(&wishes), "matmul");
    const auto wish = [&](cublasLtMatmulPreferenceAttributes_t name, auto value) {
      check(cublasLtMatmulPreferenceSetAttribute(wishes, name, &value, sizeof value), "matmul");
    };
    wish(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, static_cast<std::uint64_t>(workspace));
    // Sums of parts in an order of their own, never by atomics: the same bits every time.
    wish(CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK,
         static_cast<std::uint32_t>(CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE));
    // One alignment for all: the plan serves every call whose least aligned matrix is aligned so.
    const std::uint32_t alignment = alignment_of(args);
    wish(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, alignment);
    wish(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, alignment);
    wish(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, alignment);
    wish(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, alignment);
    cublasLtMatmulHeuristicResult_t found{};
    int count = 0;
    const cublasStatus_t status =
        cublasLtMatmulAlgoGetHeuristic(library, product_, first_, second_, result_, result_, wishes, 1, &found, &count);
    cublasLtMatmulPreferenceDestroy(wishes);
    if (status != CUBLAS_STATUS_NOT_SUPPORTED) check(status, "matmul");
    found_ = status == CUBLAS_STATUS_SUCCESS && count > 0;
    algorithm_ = found.algo;
    return found_;
  }

  bool found() const { return found_; }

  void run(cublasLtHandle_t library, const MatmulArgs& args, void* workspace, std::size_t bytes, void* stream) const {
    const float one = 1;
    const float before = args.accumulate ? 1 : 0;
    check(
        cublasLtMatmul(library, product_, &one, args.b.data, first_, args.a.data, second_, &before, args.c.data,
                       result_, args.c.data, result_, &algorithm_, workspace, bytes, static_cast<cudaStream_t>(stream)),
        "matmul");
  }

 private:
  void set(cublasLtMatmulDescAttributes_t name, cublasOperation_t value) {
    check(cublasLtMatmulDescSetAttribute(product_, name, &value, sizeof value), "matmul");
  }
  static cublasLtMatrixLayout_t layout(const ConstTensorView& x) {
    cublasLtMatrixLayout_t made = nullptr;
    const auto rows = static_cast<std::uint64_t>(x.shape[0]);
    const auto columns = static_cast<std::uint64_t>(x.shape[1]);
    check(cublasLtMatrixLayoutCreate(&made, type_of(x), columns, rows, x.shape[1]), "matmul");
    return made;
  }

  cublasLtMatmulDesc_t product_ = nullptr;
  cublasLtMatrixLayout_t first_ = nullptr, second_ = nullptr, result_ = nullptr;
  cublasLtMatmulAlgo_t algorithm_{};
  bool found_ = false;
};

}  // namespace

class Product::Library {
 public:
  explicit Library(bool tf32) : tf32_(tf32) { check(cublasLtCreate(&library_), "cuBLASLt"); }
  ~Library() {
    plans_.clear();
    cublasLtDestroy(library_);
  }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  void run(const MatmulArgs& args, const Context& ctx) {
    const Key key{args.a.shape[0], args.a.shape[1], args.c.shape[1], args.transpose_a,  args.transpose_b,
                  args.accumulate, args.a.dtype,    args.c.dtype,    alignment_of(args)};
    auto& plan = plans_[key];
    if (plan == nullptr) {
      plan =
          std::make_unique<Plan>(args, tf32_ && !is_half(args.a) ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F);
      plan->find(library_, args, kWorkspace);
    }
    if (!plan->found()) return plain_product(args, ctx);
    const Scratch<char> workspace(ctx, kWorkspace);
    plan->run(library_, args, workspace.data(), kWorkspace, ctx.stream);
  }

 private:
  using Key = std::tuple<Index, Index, Index, bool, bool, bool, DType, DType, std::uint32_t>;
  static constexpr Index kWorkspace = Index{32} << 20;  // what the library's guide asks for on Hopper

  bool tf32_;
  cublasLtHandle_t library_ = nullptr;
  std::map<Key, std::unique_ptr<Plan>> plans_;
};

Product::Product(bool tf32) : library_(std::make_unique<Library>(tf32)) {}
Product::~Product() = default;

void Product::run(const MatmulArgs& args, const Context& ctx) {
  if (args.c.count() == 0) return;
  if (args.a.count() == 0) return plain_product(args, ctx);  // a sum of nothing
  library_->run(args, ctx);
}

}  // namespace bam::cuda
