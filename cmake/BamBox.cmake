# One target per box of the house. A box sees the headers of the boxes it links, and of no other:
# "io/shard.h" is found through build/include/io/io -> lib/io, so an include that skips a floor does not compile.

add_library(bam_options INTERFACE)
target_compile_options(bam_options INTERFACE
  -Wall -Wextra -Wconversion -Wshadow -Wnon-virtual-dtor -fno-math-errno
  $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)  # false alarms about std::variant (GCC bug 80635)
if(BAM_WERROR)
  target_compile_options(bam_options INTERFACE -Werror)
endif()
if(BAM_SANITIZE)
  # Undefined behaviour ends a program as a bad address does: a line on standard error fails no test.
  target_compile_options(bam_options INTERFACE -fsanitize=${BAM_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(bam_options INTERFACE -fsanitize=${BAM_SANITIZE})
endif()

# bam_box(NAME [boxes and libraries it may use...]) - static library bam_NAME of all sources beside the caller's CMakeLists.txt.
function(bam_box name)
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  if(NOT sources)  # headers only
    set(sources ${CMAKE_CURRENT_BINARY_DIR}/empty.cpp)
    file(TOUCH ${sources})
  endif()
  add_library(bam_${name} STATIC ${sources})
  set(window ${CMAKE_BINARY_DIR}/include/${name})
  file(MAKE_DIRECTORY ${window})
  file(CREATE_LINK ${CMAKE_CURRENT_SOURCE_DIR} ${window}/${name} SYMBOLIC)
  target_include_directories(bam_${name} PUBLIC $<BUILD_INTERFACE:${window}> $<INSTALL_INTERFACE:include/bam>)
  target_link_libraries(bam_${name} PRIVATE bam_options PUBLIC ${ARGN})
  set_target_properties(bam_${name} PROPERTIES LINKER_LANGUAGE CXX)
  if(BAM_PRECOMPILE)
    target_precompile_headers(bam_${name} PRIVATE <algorithm> <filesystem> <functional> <memory> <optional> <span> <string>
      <unordered_map> <vector>)
  endif()
  set_property(GLOBAL APPEND PROPERTY BAM_BOXES bam_${name})
endfunction()
