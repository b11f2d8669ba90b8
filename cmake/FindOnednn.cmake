# oneDNN by header and library. Its own CMake package, as Debian ships it, asks for OpenCL development files,
# which only its GPU part would use.
find_path(ONEDNN_INCLUDE_DIR dnnl.hpp REQUIRED)
find_library(ONEDNN_LIBRARY dnnl REQUIRED)
add_library(DNNL::dnnl UNKNOWN IMPORTED)
set_target_properties(DNNL::dnnl PROPERTIES
  IMPORTED_LOCATION ${ONEDNN_LIBRARY} INTERFACE_INCLUDE_DIRECTORIES ${ONEDNN_INCLUDE_DIR})
