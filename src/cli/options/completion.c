// SPDX-License-Identifier: Apache-2.0
// Completion scripts for bash, zsh and fish, made from the option table.
#include "cli/options/commands.h"
#include "cli/options/groups.h"
#include "cli/options/words.h"
#include "measure/bandwidth/bandwidth.h"

#include <errno.h>
#include <string.h>

// Words that --device takes on every machine.
static const char device_words[] = "simulated opencl cuda levelzero";

// What follows an option in bash: files, devices, words or anything.
static void write_bash_action(const struct tare_option *option, FILE *file)
{
	bool files = option->value == TARE_VALUE_OUTPUT || option->value == TARE_VALUE_FILE ||
	             tare_words_or_file(option->words);

	if (option->value == TARE_VALUE_DEVICE) {
		fputs("COMPREPLY=($(compgen -W \"$devices\" -- \"$current\")); ", file);
	} else if (tare_words_are_list(option->words)) {
		fputs("local head=; [[ $current == *,* ]] && head=${current%,*},\n"
		      "\t\tCOMPREPLY=($(compgen -P \"$head\" -W '",
		      file);
		tare_words_write(option->words, " ", file);
		fputs("' -- \"${current##*,}\")); ", file);
	} else if (files || option->words) {
		fprintf(file, "COMPREPLY=($(compgen %s-W '", files ? "-f " : "");
		tare_words_write(option->words, " ", file);
		fputs("' -- \"$current\")); ", file);
	}
	fputs("return", file);
}

// One name may mean different things: "latency--device|latency-d) ... ;;".
static void write_bash_option(const char *command, const struct tare_option *option, FILE *file)
{
	if (option->value == TARE_VALUE_NONE || option->value == TARE_VALUE_OPTIONAL)
		return;
	fprintf(file, "\t%s--%s", command, option->name);
	if (option->letter)
		fprintf(file, "|%s-%c", command, option->letter);
	fputs(")\n\t\t", file);
	write_bash_action(option, file);
	fputs(" ;;\n", file);
}

static void write_commands(const struct tare_command *const *commands, const char *separator,
                           FILE *file)
{
	bool first = true;

	for (; *commands; commands++) {
		if ((*commands)->hidden)
			continue;
		fprintf(file, "%s%s", first ? "" : separator, (*commands)->name);
		first = false;
	}
}

// Where the command is: --ze-cpu may stand before it, which bash splits at its '='.
static void write_bash_first(const struct tare_command *const *commands, FILE *file)
{
	fputs("# bash completion for tare, made from its option table\n"
	      "_tare()\n{\n"
	      "\tlocal current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}\n"
	      "\tlocal first=1 options=\n"
	      "\tif [[ ${COMP_WORDS[1]} == --ze-cpu && $COMP_CWORD -gt 1 ]]; then\n"
	      "\t\tfirst=2\n\t\t[[ ${COMP_WORDS[2]} == = ]] && first=4\n\tfi\n"
	      "\tlocal command=${COMP_WORDS[first]}\n",
	      file);
	fprintf(file, "\tlocal devices='%s'\n", device_words);
	fputs("\tif [ \"$COMP_CWORD\" -lt \"$first\" ]; then\n"
	      "\t\tCOMPREPLY=($(compgen -f -- \"${current#=}\")); return\n\tfi\n"
	      "\tif [ \"$COMP_CWORD\" -eq \"$first\" ]; then\n\t\tCOMPREPLY=($(compgen -W '",
	      file);
	write_commands(commands, " ", file);
	fputs(" --help --version --ze-cpu' -- \"$current\")); return\n\tfi\n", file);
}

static void write_bash(const struct tare_command *const *commands, FILE *file)
{
	const struct tare_option *option;

	write_bash_first(commands, file);
	fputs("\tcase $command$previous in\n", file);
	for (size_t c = 0; commands[c]; c++)
		for (size_t i = 0; (option = tare_command_option(commands[c], i)); i++)
			write_bash_option(commands[c]->name, option, file);
	fputs("\tesac\n\tcase $command in\n", file);
	for (size_t c = 0; commands[c]; c++) {
		if (commands[c]->hidden)
			continue;
		fprintf(file, "\t%s) options='", commands[c]->name);
		for (size_t i = 0; (option = tare_command_option(commands[c], i)); i++)
			fprintf(file, "--%s ", option->name);
		fputs("' ;;\n", file);
	}
	fputs("\tesac\n"
	      "\tif [[ $current == -* ]]; then\n"
	      "\t\tCOMPREPLY=($(compgen -W \"$options\" -- \"$current\"))\n"
	      "\telif [ \"$command\" = render ]; then\n"
	      "\t\tCOMPREPLY=($(compgen -f -- \"$current\"))\n"
	      "\telif [[ $command == report || $command == export ]]; then\n"
	      "\t\tCOMPREPLY=($(compgen -d -- \"$current\"))\n"
	      "\telif [[ $command == record || $command == run ]]; then\n"
	      "\t\tCOMPREPLY=($(compgen -c -f -- \"$current\"))\n"
	      "\telif [ \"$command\" = help ]; then\n"
	      "\t\tCOMPREPLY=($(compgen -W '",
	      file);
	write_commands(commands, " ", file);
	fputs("' -- \"$current\"))\n\tfi\n}\ncomplete -F _tare tare\n", file);
}

// Text inside a zsh specification: brackets and colons have a meaning there.
static void write_zsh_text(const char *text, FILE *file)
{
	for (; *text; text++) {
		if (strchr("[]:\\", *text))
			fputc('\\', file);
		if (*text == '\'')
			fputs("'\\'", file);
		fputc(*text, file);
	}
}

static void write_zsh_value(const struct tare_option *option, FILE *file)
{
	switch (option->value) {
	case TARE_VALUE_NONE:
		return;
	case TARE_VALUE_OPTIONAL:
		fputs("::file:_files", file);
		return;
	case TARE_VALUE_OUTPUT:
	case TARE_VALUE_FILE:
		fputs(":file:_files", file);
		return;
	case TARE_VALUE_DEVICE:
		fprintf(file, ":device:(%s)", device_words);
		return;
	default:
		break;
	}
	fputs(":", file);
	write_zsh_text(option->words ? option->name : option->value_name, file);
	fputs(tare_words_are_list(option->words)  ? ":_values -s , word "
	      : tare_words_or_file(option->words) ? ":{_files; compadd "
	      : option->words                     ? ":("
	                                          : ": ",
	      file);
	tare_words_write(option->words, " ", file);
	if (tare_words_or_file(option->words))
		fputs("}", file);
	else if (option->words && !tare_words_are_list(option->words))
		fputs(")", file);
}

static void write_zsh_operand(const struct tare_command *const *commands, enum tare_operand operand,
                              FILE *file)
{
	switch (operand) {
	case TARE_OPERAND_RESULT:
		fputs(" \\\n\t\t\t'1:result:_files -g \"*.json\"'", file);
		break;
	case TARE_OPERAND_TRACE:
		fputs(" \\\n\t\t\t'1:trace:_files -/'", file);
		break;
	case TARE_OPERAND_PROGRAM:
		fputs(" \\\n\t\t\t'(-):program:_command_names -e'"
		      " \\\n\t\t\t'*::argument:_normal'",
		      file);
		break;
	case TARE_OPERAND_COMMAND:
		fputs(" \\\n\t\t\t'1:command:(", file);
		write_commands(commands, " ", file);
		fputs(")'", file);
		break;
	case TARE_OPERAND_NONE:
	case TARE_OPERAND_WORD:
		break;
	}
}

static void write_zsh_command(const struct tare_command *const *commands,
                              const struct tare_command *command, FILE *file)
{
	const struct tare_option *option;

	fprintf(file, "\t%s)\n\t\t_arguments", command->name);
	for (size_t i = 0; (option = tare_command_option(command, i)); i++) {
		if (option->letter)
			fprintf(file, " \\\n\t\t\t'(-%c --%s)'{-%c,--%s}'[", option->letter,
			        option->name, option->letter, option->name);
		else
			fprintf(file, " \\\n\t\t\t'--%s%s[", option->name,
			        option->value == TARE_VALUE_OPTIONAL ? "=-" : "");
		write_zsh_text(option->summary, file);
		fputs("]", file);
		write_zsh_value(option, file);
		fputs("'", file);
	}
	write_zsh_operand(commands, command->operand, file);
	fputs(" ;;\n", file);
}

static void write_zsh(const struct tare_command *const *commands, FILE *file)
{
	fputs("#compdef tare\n# zsh completion for tare, made from its option table\n"
	      "_tare() {\n"
	      "\t[[ $words[2] == --ze-cpu* ]] && (( CURRENT > 2 )) && shift words && (( CURRENT-- "
	      "))\n"
	      "\tif (( CURRENT == 2 )); then\n\t\tlocal -a commands=(\n",
	      file);
	for (size_t i = 0; commands[i]; i++) {
		if (commands[i]->hidden)
			continue;
		fprintf(file, "\t\t\t'%s:", commands[i]->name);
		write_zsh_text(commands[i]->summary, file);
		fputs("'\n", file);
	}
	fputs("\t\t\t'--ze-cpu:shows the command a Level Zero device on this CPU'\n"
	      "\t\t)\n\t\t_describe command commands\n\t\treturn\n\tfi\n"
	      "\tlocal command=$words[2]\n\tshift words\n\t(( CURRENT-- ))\n\tcase $command in\n",
	      file);
	for (size_t c = 0; commands[c]; c++)
		if (!commands[c]->hidden)
			write_zsh_command(commands, commands[c], file);
	fputs("\tesac\n}\n_tare \"$@\"\n", file);
}

static void write_fish_quoted(const char *text, FILE *file)
{
	fputc('\'', file);
	for (; *text; text++) {
		if (*text == '\'' || *text == '\\')
			fputc('\\', file);
		fputc(*text, file);
	}
	fputc('\'', file);
}

static void write_fish_value(const struct tare_option *option, FILE *file)
{
	bool list = tare_words_are_list(option->words), files = tare_words_or_file(option->words);

	if (option->value == TARE_VALUE_NONE || option->value == TARE_VALUE_OPTIONAL)
		return;
	files = files || option->value == TARE_VALUE_OUTPUT || option->value == TARE_VALUE_FILE;
	fputs(files ? " -rF" : " -x", file);
	if (option->value == TARE_VALUE_DEVICE)
		fprintf(file, " -a '%s'", device_words);
	if (!option->words)
		return;
	fputs(list ? " -a '(__fish_append , " : " -a '", file);
	tare_words_write(option->words, " ", file);
	fputs(list ? ")'" : "'", file);
}

static void write_fish(const struct tare_command *const *commands, FILE *file)
{
	const struct tare_option *option;

	fputs("# fish completion for tare, made from its option table\n"
	      "complete -c tare -f\n"
	      "complete -c tare -n __fish_use_subcommand -l version -d 'the version'\n"
	      "complete -c tare -n __fish_use_subcommand -l ze-cpu"
	      " -d 'shows the command a Level Zero device on this CPU'\n",
	      file);
	for (size_t i = 0; commands[i]; i++) {
		if (commands[i]->hidden)
			continue;
		fprintf(file, "complete -c tare -n __fish_use_subcommand -a %s -d ",
		        commands[i]->name);
		write_fish_quoted(commands[i]->summary, file);
		fputc('\n', file);
	}
	for (size_t c = 0; commands[c]; c++)
		for (size_t i = 0;
		     !commands[c]->hidden && (option = tare_command_option(commands[c], i)); i++) {
			fprintf(file, "complete -c tare -n '__fish_seen_subcommand_from %s' -l %s",
			        commands[c]->name, option->name);
			if (option->letter)
				fprintf(file, " -s %c", option->letter);
			write_fish_value(option, file);
			fputs(" -d ", file);
			write_fish_quoted(option->summary, file);
			fputc('\n', file);
		}
	fputs(
	    "complete -c tare -n '__fish_seen_subcommand_from render record report run export' -F\n"
	    "complete -c tare -n '__fish_seen_subcommand_from help' -a '",
	    file);
	write_commands(commands, " ", file);
	fputs("'\n", file);
}

// The completion script for "bash", "zsh" or "fish". Returns 0, or -EINVAL for another shell.
static int write_completion(const struct tare_command *const *commands, const char *shell,
                            FILE *file)
{
	if (strcmp(shell, "bash") == 0)
		write_bash(commands, file);
	else if (strcmp(shell, "zsh") == 0)
		write_zsh(commands, file);
	else if (strcmp(shell, "fish") == 0)
		write_fish(commands, file);
	else
		return -EINVAL;
	return 0;
}

// The lines of bandwidth in scdoc, by group.
static void write_man_lines(FILE *file)
{
	for (size_t i = 0; i < TARE_LINE_COUNT; i++) {
		if (i == 0 || tare_lines[i].group != tare_lines[i - 1].group)
			fprintf(file, "%s*%s*\n\t", i ? "\n\n" : "",
			        tare_line_group_name(tare_lines[i].group));
		else
			fputs(", ", file);
		fprintf(file, "*%s*", tare_lines[i].name);
	}
	fputs("\n\n", file);
}

static int run(const struct tare_settings *settings, struct tare_error *error)
{
	const char *what = settings->operands[0];
	const char *name = settings->operand_count > 1 ? settings->operands[1] : NULL;
	const struct tare_command *command =
	    name ? tare_command_find(settings->commands, name) : NULL;

	if (strcmp(what, "man") == 0 && command) {
		tare_man_options_write(command, stdout);
		return TARE_EXIT_OK;
	}
	if (strcmp(what, "lines") == 0) {
		write_man_lines(stdout);
		return TARE_EXIT_OK;
	}
	if (write_completion(settings->commands, what, stdout) == 0)
		return TARE_EXIT_OK;
	return tare_usage(
	    error, "cannot describe '%s'; it describes bash, zsh, fish, man COMMAND, lines", what);
}

const struct tare_command tare_describe_command = {
	.name = "describe",
	.operands = "WHAT [COMMAND]",
	.operand = TARE_OPERAND_WORD,
	.operands_min = 1,
	.operands_max = 2,
	.hidden = true,
	.summary = "the option table, for completions and man pages",
	.description = "Writes what the build makes from the option table: the completion script "
	               "for bash, zsh "
	               "or fish, the OPTIONS of a man page (man COMMAND), or its LINES (lines).",
	.run = run,
	.options = { &tare_help_options },
};
