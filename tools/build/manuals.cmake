# The completion of bash, printed by the program, and manual pages, made by help2man from what --help says: made when the program
# is installed or packed, so that nobody who builds waits for them. Without help2man there are no pages, and a line says so.
# Included by the top CMakeLists.txt; the installation runs it as a script with PROGRAM, FOLDER, VERSION and DATE.
if(NOT PROGRAM)
  set(manuals ${PROJECT_BINARY_DIR}/manuals)
  execute_process(COMMAND git log -1 --format=%ct WORKING_DIRECTORY ${PROJECT_SOURCE_DIR} OUTPUT_VARIABLE date ERROR_QUIET
                  OUTPUT_STRIP_TRAILING_WHITESPACE)
  install(CODE "execute_process(COMMAND \"${CMAKE_COMMAND}\" \"-DPROGRAM=$<TARGET_FILE:dma>\" \"-DFOLDER=${manuals}\"
                -DVERSION=${PROJECT_VERSION} -DDATE=${date} -P \"${CMAKE_CURRENT_LIST_FILE}\" COMMAND_ERROR_IS_FATAL ANY)"
          COMPONENT program)
  install(DIRECTORY ${manuals}/man1 DESTINATION ${CMAKE_INSTALL_MANDIR} COMPONENT program)
  install(FILES ${manuals}/bash/dma DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions COMPONENT program)
  return()
endif()

file(REMOVE_RECURSE ${FOLDER})
file(MAKE_DIRECTORY ${FOLDER}/man1 ${FOLDER}/bash)
execute_process(COMMAND ${PROGRAM} completion bash OUTPUT_FILE ${FOLDER}/bash/dma COMMAND_ERROR_IS_FATAL ANY)
find_program(HELP2MAN help2man)
if(NOT HELP2MAN)
  message(STATUS "dma: no manual pages, because help2man is missing (Debian: help2man)")
  return()
endif()
set(ENV{SOURCE_DATE_EPOCH} "${DATE}")  # two packages of one commit are the same

# The page of the command that these words name (none: the program), then those of the commands that its --help lists.
function(write_pages words)
  list(JOIN words "-" name)
  string(REGEX REPLACE "-$" "" name "dma-${name}")
  execute_process(COMMAND ${PROGRAM} ${words} --help OUTPUT_VARIABLE help COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX MATCH "^[^\n]+" purpose "${help}")
  list(JOIN words " " line)
  string(STRIP "${PROGRAM} ${line}" program)
  execute_process(COMMAND ${HELP2MAN} --no-info --no-discard-stderr --version-string=${VERSION} --name=${purpose}
                          --output=${FOLDER}/man1/${name}.1 "${program}" COMMAND_ERROR_IS_FATAL ANY)
  # help2man knows programs of one word; man looks for dma-fit.
  file(READ ${FOLDER}/man1/${name}.1 page)
  string(REPLACE "-" "\\-" escaped ${name})
  string(REPLACE "\ndma ${line} \\- " "\n${escaped} \\- " page "${page}")
  file(WRITE ${FOLDER}/man1/${name}.1 "${page}")
  if(help MATCHES "\nSubcommands:\n(([^\n]+\n)+)")
    string(REGEX MATCHALL "(^|\n)  [a-z]+" below "${CMAKE_MATCH_1}")
    foreach(word IN LISTS below)
      string(STRIP ${word} word)
      set(longer ${words} ${word})
      write_pages("${longer}")
    endforeach()
  endif()
endfunction()
write_pages("")
