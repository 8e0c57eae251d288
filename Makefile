# SPDX-License-Identifier: Apache-2.0
# Two targets for people; the build itself is meson's (docs/building.md).
.PHONY: demo check install

# Measures the best device of this machine and ends with a page.
demo:
	@tools/setup demo
	@tools/demo

# Builds with gcc, clang and sanitizers, and runs every test.
check:
	@tools/setup check
	@tools/check

# make install [prefix=/usr] [DESTDIR=/tmp/package]
install:
	@test -f build/build.ninja || meson setup build --buildtype=release
	@test -z "$(prefix)" || meson configure build --prefix="$(prefix)"
	@DESTDIR="$(DESTDIR)" meson install -C build
