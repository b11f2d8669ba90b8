# What `cmake --install`, a package and a bundle hold. Two components: `tools` (executables, pages, completions, what is
# opened on demand) and `dev` (boxes as static libraries, their headers, pkg-config and CMake packages).
set(bam_private_libdir ${CMAKE_INSTALL_LIBDIR}/bam)  # of the CUDA library, and of all others in a bundle

get_property(bam_tools GLOBAL PROPERTY BAM_TOOLS)
install(TARGETS ${bam_tools} RUNTIME COMPONENT tools)
if(TARGET bam_cuda)
  install(TARGETS bam_cuda LIBRARY DESTINATION ${bam_private_libdir} COMPONENT tools)
endif()
foreach(section 1 5 7)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/man/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man${section} COMPONENT tools
    FILES_MATCHING PATTERN "*.${section}")
endforeach()
set(documents ${CMAKE_INSTALL_DATADIR}/doc/bam-lm)
install(FILES LICENSE DESTINATION ${documents} RENAME copyright COMPONENT tools)
install(FILES README.md CHANGELOG.md DESTINATION ${documents} COMPONENT tools)
install(DIRECTORY docs DESTINATION ${documents} COMPONENT tools)
install(DIRECTORY pipelines DESTINATION ${CMAKE_INSTALL_DATADIR}/bam COMPONENT tools USE_SOURCE_PERMISSIONS)

# Each tool writes its own completions, from the table that its parser has.
set(completions ${PROJECT_BINARY_DIR}/completions)
foreach(tool ${bam_tools})
  install(CODE "
    file(MAKE_DIRECTORY ${completions}/bash ${completions}/zsh)
    execute_process(COMMAND $<TARGET_FILE:${tool}> --print-completion bash OUTPUT_FILE ${completions}/bash/${tool} COMMAND_ERROR_IS_FATAL ANY)
    execute_process(COMMAND $<TARGET_FILE:${tool}> --print-completion zsh OUTPUT_FILE ${completions}/zsh/_${tool} COMMAND_ERROR_IS_FATAL ANY)"
    COMPONENT tools)
endforeach()
install(DIRECTORY ${completions}/bash/ DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions COMPONENT tools)
install(DIRECTORY ${completions}/zsh/ DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions COMPONENT tools)

get_property(bam_boxes GLOBAL PROPERTY BAM_BOXES)
install(TARGETS ${bam_boxes} bam_options EXPORT bam ARCHIVE COMPONENT dev)
foreach(box ${bam_boxes})
  get_target_property(folder ${box} SOURCE_DIR)
  string(REPLACE "bam_" "" name ${box})
  install(DIRECTORY ${folder}/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/bam/${name} COMPONENT dev
    FILES_MATCHING PATTERN "*.h" PATTERN cpu EXCLUDE PATTERN ref EXCLUDE PATTERN cuda EXCLUDE)
endforeach()

include(CMakePackageConfigHelpers)
set(bam_cmakedir ${CMAKE_INSTALL_LIBDIR}/cmake/bam)
install(EXPORT bam NAMESPACE bam:: DESTINATION ${bam_cmakedir} COMPONENT dev)
configure_package_config_file(cmake/bamConfig.cmake.in ${PROJECT_BINARY_DIR}/bamConfig.cmake INSTALL_DESTINATION ${bam_cmakedir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/bamConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/bamConfig.cmake ${PROJECT_BINARY_DIR}/bamConfigVersion.cmake cmake/FindOnednn.cmake
  DESTINATION ${bam_cmakedir} COMPONENT dev)

# The boxes as one group for the linker, since pkg-config knows no order of them.
list(TRANSFORM bam_boxes PREPEND "-l" OUTPUT_VARIABLE bam_link_boxes)
list(JOIN bam_link_boxes " " bam_link_boxes)
configure_file(cmake/bam.pc.in ${PROJECT_BINARY_DIR}/bam.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/bam.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT dev)

# cpack: bam-lm_VERSION_ARCH.deb and bam-lm-dev_VERSION_ARCH.deb, and a .tar.gz of everything.
set(CPACK_GENERATOR "DEB;TGZ")
set(CPACK_PACKAGE_NAME bam-lm)
set(CPACK_PACKAGE_VENDOR "The bam authors")
set(CPACK_PACKAGE_CONTACT "The bam authors")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "long-context language-model experiments as Unix tools")
set(CPACK_PACKAGE_DESCRIPTION "Trains language models with the Bayesian attention mechanism and other positional encodings, and\nmeasures them at long contexts: passkey retrieval, RULER, perplexity, multiple choice.")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_BAM_SOURCE ${PROJECT_SOURCE_DIR})
set(CPACK_PROJECT_CONFIG_FILE ${PROJECT_SOURCE_DIR}/cmake/PackageTime.cmake)
set(CPACK_PRE_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/cmake/PackageModes.cmake)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_ALL tools dev)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_TOOLS_PACKAGE_NAME bam-lm)
set(CPACK_DEBIAN_TOOLS_PACKAGE_SECTION science)
set(CPACK_DEBIAN_TOOLS_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_TOOLS_PACKAGE_RECOMMENDS "make, gawk | mawk, dict-gcide")
set(CPACK_DEBIAN_DEV_PACKAGE_NAME bam-lm-dev)
set(CPACK_DEBIAN_DEV_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEV_PACKAGE_DEPENDS
  "libdnnl-dev, libhdf5-dev, libsentencepiece-dev, libboost-program-options-dev, libzstd-dev, zlib1g-dev, libssl-dev, libsimdjson-dev, libnlopt-dev, libpcre2-dev, libutf8proc-dev")
include(CPack)
