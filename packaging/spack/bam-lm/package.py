# spack repo add packaging/spack's parent as its own documentation says, then: spack install bam-lm
from spack.package import *


class BamLm(CMakePackage):
    """Unix tools for long-context language-model experiments with the Bayesian attention mechanism."""

    license("MIT")
    version("main", branch="main")

    variant("cuda", default=False, description="Build the CUDA library that tools open on demand")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.22:", type="build")
    depends_on("ninja", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("boost+program_options")
    depends_on("hdf5~mpi")
    depends_on("nlopt")
    depends_on("onednn cpu_runtime=omp")
    depends_on("openssl")
    depends_on("pcre2+jit")
    depends_on("sentencepiece")
    depends_on("simdjson")
    depends_on("utf8proc")
    depends_on("zlib-api")
    depends_on("zstd")
    depends_on("cuda@12:", when="+cuda")

    generator("ninja")

    def cmake_args(self):
        return [
            self.define("BAM_TESTS", False),
            self.define("BAM_BENCH", False),
            self.define_from_variant("BAM_CUDA", "cuda"),
        ]
