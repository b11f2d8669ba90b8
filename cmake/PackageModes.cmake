# Run by cpack before it packs. Whatever the umask was at the clone and here, all users may read what is in a package; and
# Debian's zsh has a folder of its own for what packages complete.
execute_process(COMMAND chmod -R u=rwX,go=rX ${CPACK_TEMPORARY_DIRECTORY} COMMAND_ERROR_IS_FATAL ANY)
if(CPACK_GENERATOR STREQUAL "DEB")
  file(GLOB folders ${CPACK_TEMPORARY_DIRECTORY}/*/usr/share/zsh)
  foreach(folder ${folders})
    file(RENAME ${folder}/site-functions ${folder}/vendor-completions)
  endforeach()
endif()
