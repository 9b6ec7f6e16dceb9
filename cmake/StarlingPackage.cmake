# SPDX-License-Identifier: Apache-2.0
# `cmake --build --preset release --target package` makes Debian packages: starling, which runs, with its unit for
# systemd, manual and completion; and libstarling-dev, which other programs are built against.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_VENDOR "The Starling authors")
set(CPACK_PACKAGE_CONTACT "The Starling authors <starling@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY ${PROJECT_DESCRIPTION})
set(CPACK_PACKAGE_CHECKSUM SHA256)
# The unit names the program by the path that it will have, so what is packed is installed as if at that path.
set(CPACK_SET_DESTDIR ON)
set(CPACK_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_ALL runtime dev)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_NAME starling)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SECTION admin)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_RECOMMENDS "openssh-client")
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SUGGESTS "etcd-server, slurm-client")
set(CPACK_DEBIAN_RUNTIME_PACKAGE_CONTROL_EXTRA ${PROJECT_SOURCE_DIR}/launch/package/postinst ${PROJECT_SOURCE_DIR}/launch/package/postrm)
set(CPACK_DEBIAN_DEV_PACKAGE_NAME libstarling-dev)
set(CPACK_DEBIAN_DEV_PACKAGE_SECTION libdevel)
# What starlingConfig.cmake asks for, and what the libraries themselves are linked with.
set(CPACK_DEBIAN_DEV_PACKAGE_DEPENDS "libzmq3-dev, cppzmq-dev, libflatbuffers-dev, libboost-graph-dev, libyaml-cpp-dev, \
libpugixml-dev, nlohmann-json3-dev, libcli11-dev, libspdlog-dev, libfmt-dev, zlib1g-dev, libssl-dev, libsqlite3-dev, libeigen3-dev, \
coinor-libclp-dev, coinor-libcbc-dev, libhwloc-dev")
include(CPack)
