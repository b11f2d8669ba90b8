# What a library of kernels that is opened on demand must have in common with the tools; looked up at each build.
# Target bam_build_id makes build_id.h in BAM_BUILD_ID_FOLDER.
set(BAM_BUILD_ID_FOLDER ${CMAKE_BINARY_DIR}/generated/build_id)
string(REGEX MATCH "^[0-9]+" compiler_release "${CMAKE_CXX_COMPILER_VERSION}")
add_custom_target(bam_build_id BYPRODUCTS ${BAM_BUILD_ID_FOLDER}/build_id.h
  COMMAND ${CMAKE_COMMAND} -DSOURCE=${PROJECT_SOURCE_DIR} -DOUTPUT=${BAM_BUILD_ID_FOLDER}/build_id.h
    "-DCOMPILER=${CMAKE_CXX_COMPILER_ID} ${compiler_release}" -P ${PROJECT_SOURCE_DIR}/cmake/BuildId.cmake
  COMMENT "Build id of the kernels")
# Compiled once more into each library of kernels: nothing is looked up in the executable that opens it.
set(BAM_SHARED_KERNEL_SOURCES ${PROJECT_SOURCE_DIR}/kernels/tensor.cpp ${PROJECT_SOURCE_DIR}/kernels/check.cpp
  ${PROJECT_SOURCE_DIR}/kernels/step_sizes.cpp)
