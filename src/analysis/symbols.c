// SPDX-License-Identifier: Apache-2.0
#include "analysis/symbols.h"

int tare_symbols_open(const struct tare_recording *recording, struct tare_symbols **symbols,
                      struct tare_error *error)
{
	(void)recording, (void)error;
	*symbols = NULL;
	return 0;
}

void tare_symbols_free(struct tare_symbols *symbols)
{
	(void)symbols;
}

size_t tare_symbols_frames(struct tare_symbols *symbols, uint32_t stack,
                           const struct tare_frame **frames)
{
	(void)symbols, (void)stack;
	*frames = NULL;
	return 0;
}

const struct tare_frame *tare_symbols_site(struct tare_symbols *symbols, uint32_t stack)
{
	(void)symbols, (void)stack;
	return NULL;
}

const char *tare_symbols_text(struct tare_symbols *symbols, uint32_t stack)
{
	(void)symbols, (void)stack;
	return "";
}

const char *tare_symbols_problem(const struct tare_symbols *symbols)
{
	(void)symbols;
	return NULL;
}
