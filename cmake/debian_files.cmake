# What Debian asks of a package's files: manual pages and changes compressed, and whose the work is. An install script that does
# its work for the package alone, which is put together below DESTDIR for the prefix /usr. PACE_VERSION is the version.
if(CMAKE_INSTALL_PREFIX STREQUAL "/usr" AND NOT "$ENV{DESTDIR}" STREQUAL "")
  set(root "$ENV{DESTDIR}/usr/share")
  set(doc "${root}/doc/paceline")
  string(TIMESTAMP now "%a, %d %b %Y %H:%M:%S +0000" UTC)
  file(WRITE "${doc}/changelog"
       "paceline (${PACE_VERSION}) unstable; urgency=medium\n\n  * CHANGELOG.md beside this file lists what users notice.\n\n"
       " -- The Paceline developers <paceline@invalid>  ${now}\n")
  file(WRITE "${doc}/copyright"
       "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\nUpstream-Name: Paceline\n\n"
       "Files: *\nCopyright: 2026 The Paceline developers\nLicense: Apache-2.0\n"
       " The full text is in /usr/share/common-licenses/Apache-2.0.\n")
  file(REMOVE "${doc}/LICENSE")
  file(GLOB pages "${root}/man/man1/paceline*.1")
  execute_process(COMMAND gzip -9nf ${pages} "${doc}/changelog" COMMAND_ERROR_IS_FATAL ANY)
endif()
