# Run by cpack between installing and packing: Debian keeps manual pages and changelogs compressed, without a time in them.
file(GLOB_RECURSE pages ${CPACK_TEMPORARY_DIRECTORY}/*.1)
list(FILTER pages INCLUDE REGEX /man/man1/)
file(GLOB_RECURSE changelogs ${CPACK_TEMPORARY_DIRECTORY}/changelog)
if(pages OR changelogs)
  execute_process(COMMAND gzip -9 -n -f ${pages} ${changelogs} COMMAND_ERROR_IS_FATAL ANY)
endif()
