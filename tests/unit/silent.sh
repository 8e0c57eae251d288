#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs a test under the Level Zero loader's validation layer. What the layer refuses fails inside the
# test; a word of it, or of anything else, on standard error fails here.
ZE_ENABLE_VALIDATION_LAYER=1 ZE_ENABLE_PARAMETER_VALIDATION=1
export ZE_ENABLE_VALIDATION_LAYER ZE_ENABLE_PARAMETER_VALIDATION
said=$(mktemp) || exit 99
"$@" 2>"$said"
status=$?
if [ -s "$said" ]; then
	sed 's/^/# /' "$said"
	echo "Bail out! there were words on standard error"
	status=1
fi
rm -f "$said"
exit "$status"
