# What is installed below share/: manual pages and completions, which the program writes itself from its table of options; the
# catalogue and the schemas, for readers (the program has both inside); the licence.
set(PACE_SHARE ${CMAKE_BINARY_DIR}/share)
if(NOT CMAKE_CROSSCOMPILING)
  add_custom_command(
    OUTPUT ${PACE_SHARE}/made
    COMMAND ${CMAKE_COMMAND} -DPACELINE=$<TARGET_FILE:paceline> -DOUT=${PACE_SHARE} -P ${CMAKE_SOURCE_DIR}/cmake/make_share.cmake
    DEPENDS paceline cmake/make_share.cmake
    VERBATIM)
  add_custom_target(paceline_share ALL DEPENDS ${PACE_SHARE}/made)
  install(DIRECTORY ${PACE_SHARE}/man/ DESTINATION ${CMAKE_INSTALL_MANDIR})
  install(FILES ${PACE_SHARE}/completions/paceline
          DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/bash-completion/completions)
  install(FILES ${PACE_SHARE}/completions/paceline.fish DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/fish/vendor_completions.d)
  # Packages of Debian have a folder of their own for zsh.
  install(CODE "set(pace_zsh site-functions)
    if(CMAKE_INSTALL_PREFIX STREQUAL \"/usr\")
      set(pace_zsh vendor-completions)
    endif()
    file(INSTALL \"${PACE_SHARE}/completions/_paceline\"
         DESTINATION \"\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_DATAROOTDIR}/zsh/\${pace_zsh}\")")
endif()
install(DIRECTORY catalog DESTINATION ${CMAKE_INSTALL_DATADIR}/paceline)
install(DIRECTORY docs/schemas DESTINATION ${CMAKE_INSTALL_DATADIR}/paceline)
install(FILES LICENSE README.md CHANGELOG.md SECURITY.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(CODE "set(PACE_VERSION ${PROJECT_VERSION})")
install(SCRIPT cmake/debian_files.cmake)
