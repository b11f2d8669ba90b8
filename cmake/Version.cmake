# Run at every build (cmake -P): writes OUTPUT, a header with the version and the commit, and touches it only when they change.
file(STRINGS ${SOURCE}/VERSION version LIMIT_COUNT 1)
execute_process(COMMAND git -C ${SOURCE} describe --always --dirty --abbrev=10 --exclude=*
  OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE status)
if(NOT status EQUAL 0)
  set(commit "")
endif()
set(text "#pragma once\n\ninline constexpr char kVersion[] = \"${version}\";\ninline constexpr char kCommit[] = \"${commit}\";\n")
if(EXISTS ${OUTPUT})
  file(READ ${OUTPUT} before)
endif()
if(NOT text STREQUAL "${before}")
  file(WRITE ${OUTPUT} "${text}")
endif()
