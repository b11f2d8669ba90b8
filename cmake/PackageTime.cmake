# Read by cpack. What is in a package bears the time of the commit, so that the packages of two builds have the same bytes.
if(NOT DEFINED ENV{SOURCE_DATE_EPOCH})
  execute_process(COMMAND git -C ${CPACK_BAM_SOURCE} log -1 --format=%ct
    OUTPUT_VARIABLE time OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE status)
  if(status EQUAL 0)
    set(ENV{SOURCE_DATE_EPOCH} ${time})
  endif()
endif()
