#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs a program built for ThreadSanitizer, which on some kernels finds no room for its shadow
# unless addresses are not random, and on some none at all. Further arguments are the program's.
program=$1
shift
run=
"$program" --probe >/dev/null 2>&1 || run='setarch -R'
if ! $run "$program" --probe >/dev/null 2>&1; then
	echo '1..0 # SKIP ThreadSanitizer cannot start on this kernel'
	exit 0
fi
# The child of a fork with threads may start its helper.
TSAN_OPTIONS="die_after_fork=0 atexit_sleep_ms=0 halt_on_error=1 exitcode=66 $TSAN_OPTIONS" exec $run "$program" "$@"
