# From a clone, with Spack 1.0 or later; what is built is what the clone has committed on main:
#   spack repo add packaging/spack_repo/bam
#   spack install bam-lm
from pathlib import Path

from spack_repo.builtin.build_systems.cmake import CMakePackage

from spack.package import *


class BamLm(CMakePackage):
    """Unix tools for long-context language-model experiments with the Bayesian attention mechanism."""

    git = Path(__file__).resolve().parents[5].as_uri()

    license("MIT")
    version("main", branch="main")

    variant("cuda", default=False, description="Build the CUDA library that tools open on demand")
    variant("mpi", default=True, description="Build the library for several ranks that bam-train opens on demand")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.22:", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("boost+program_options")
    depends_on("hdf5~mpi")
    depends_on("nlopt~python")
    depends_on("onednn cpu_runtime=omp")
    depends_on("openssl")
    depends_on("pcre2+jit")
    depends_on("sentencepiece")
    depends_on("simdjson")
    depends_on("utf8proc")
    depends_on("zlib-api")
    depends_on("zstd")
    depends_on("cuda@12:", when="+cuda")
    depends_on("mpi", when="+mpi")

    generator("ninja")

    def cmake_args(self):
        return [
            self.define("BAM_TESTS", False),
            self.define("BAM_BENCH", False),
            self.define_from_variant("BAM_CUDA", "cuda"),
            self.define_from_variant("BAM_MPI", "mpi"),
        ]
