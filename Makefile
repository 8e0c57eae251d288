# SPDX-License-Identifier: Apache-2.0
# Targets for people; the build itself is meson's (docs/building.md).
.PHONY: demo check check-thorough test install

# Measures the best device of this machine and ends with a page.
demo:
	@tools/setup demo
	@tools/demo

# What every change must pass: gcc; unit, golden, end-to-end and browser tests.
check:
	@tools/setup check
	@tools/check quick

# The rest: clang, sanitizers, fuzzing, long programs, what decides by timing.
check-thorough:
	@tools/setup check
	@tools/check thorough

# The tests of `make check` in a tree that it has built.
test:
	@tools/check test

# make install [prefix=/usr] [DESTDIR=/tmp/package]
install:
	@test -f build/build.ninja || meson setup build --buildtype=release
	@test -z "$(prefix)" || meson configure build --prefix="$(prefix)"
	@DESTDIR="$(DESTDIR)" meson install -C build
