// SPDX-License-Identifier: Apache-2.0
#include "cli/terminal/terminal.h"

#include <langinfo.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

unsigned tare_terminal_columns(int descriptor)
{
	const char *said = getenv("COLUMNS");
	struct winsize size;
	unsigned long columns = 0;

	if (isatty(descriptor) && ioctl(descriptor, TIOCGWINSZ, &size) == 0)
		columns = size.ws_col;
	if (columns == 0 && said)
		columns = strtoul(said, NULL, 10);
	if (columns == 0)
		columns = 80;
	if (columns < 40)
		columns = 40;
	return columns > 500 ? 500 : (unsigned)columns;
}

struct tare_text_options tare_terminal_text_options(int verbosity)
{
	const char *no_colour = getenv("NO_COLOR");
	const char *terminal = getenv("TERM");

	return (struct tare_text_options){
		.columns = tare_terminal_columns(STDOUT_FILENO),
		.colour = isatty(STDOUT_FILENO) && !(no_colour && no_colour[0]) &&
		          !(terminal && strcmp(terminal, "dumb") == 0),
		.ascii = strcmp(nl_langinfo(CODESET), "UTF-8") != 0,
		.verbosity = verbosity,
	};
}
