# Run at every build (cmake -P): writes OUTPUT, a header with a digest of everything that the kernel library and the tools
# must have in common: the kernels' sources and interface, and the compiler's conventions. Touched only when it changes.
file(GLOB sources ${SOURCE}/kernels/*.h ${SOURCE}/kernels/*.cpp ${SOURCE}/kernels/ops/*.h ${SOURCE}/kernels/cuda/*
  ${SOURCE}/lib/base/types.h ${SOURCE}/lib/base/error.h)
list(SORT sources)
set(digests "${COMPILER}")
foreach(source ${sources})
  file(SHA256 ${source} digest)
  string(APPEND digests " ${digest}")
endforeach()
string(SHA256 id "${digests}")
string(SUBSTRING ${id} 0 16 id)
set(text "#pragma once\n\ninline constexpr char kBuildId[] = \"${id}\";\n")
if(EXISTS ${OUTPUT})
  file(READ ${OUTPUT} before)
endif()
if(NOT text STREQUAL "${before}")
  file(WRITE ${OUTPUT} "${text}")
endif()
