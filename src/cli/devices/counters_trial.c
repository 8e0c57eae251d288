// SPDX-License-Identifier: Apache-2.0
#include "cli/devices/counters_trial.h"

#include "sample/sample.h"

#include <errno.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

struct question {
	char backend[16];
	uint32_t index;
};

struct answer {
	int status;
	struct tare_error error;
};

enum { INTERVAL_NS = 1000000 };
static int trier = -1; // the socket to the process that tries

static int try_it(const struct question *question, struct tare_error *error)
{
	struct tare_sampling *sampling = NULL;
	struct tare_sampling_end end = { 0 };
	int64_t ready_ns = 0;
	int status = tare_sampling_begin(question->backend, question->index, INTERVAL_NS, &sampling,
	                                 &ready_ns, error);

	if (status < 0)
		return status;
	tare_sampling_end(sampling, NULL, &end, NULL);
	if (end.status < 0)
		*error = end.error;
	return end.status;
}

// Until tare ends.
static void answer_all(int asked)
{
	struct question question;

	while (recv(asked, &question, sizeof question, 0) == (ssize_t)sizeof question) {
		struct answer answer = { 0 };
		answer.status = try_it(&question, &answer.error);
		if (send(asked, &answer, sizeof answer, MSG_NOSIGNAL) != (ssize_t)sizeof answer)
			break;
	}
	_exit(0);
}

void tare_counters_trial_prepare(void)
{
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
		return;
	fflush(NULL);
	if (fork() == 0) {
		close(ends[0]);
		answer_all(ends[1]);
	}
	close(ends[1]);
	trier = ends[0];
}

int tare_counters_trial(const char *backend, uint32_t index, struct tare_error *error)
{
	struct question question = { .index = index };
	struct answer answer;

	snprintf(question.backend, sizeof question.backend, "%s", backend);
	if (send(trier, &question, sizeof question, MSG_NOSIGNAL) != (ssize_t)sizeof question ||
	    recv(trier, &answer, sizeof answer, 0) != (ssize_t)sizeof answer)
		return tare_fail(error, EIO, "no process could try to read counters");
	if (answer.status < 0)
		*error = answer.error;
	return answer.status;
}
