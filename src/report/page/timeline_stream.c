// SPDX-License-Identifier: Apache-2.0
#include "report/page/timeline.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

// Level 3 takes half the time of the usual 6; a page of a million commands gets 5 % longer.
enum { LEVEL = 3, IN_BYTES = 1 << 16, OUT_BYTES = 3 << 14 };

struct timeline_stream {
	FILE *file;
	z_stream deflate;
	size_t in_used;
	uint64_t written;
	unsigned char in[IN_BYTES], out[OUT_BYTES];
	char text[OUT_BYTES / 3 * 4];
};

struct timeline_stream *timeline_stream_new(FILE *file)
{
	struct timeline_stream *stream = calloc(1, sizeof *stream);

	if (!stream)
		return NULL;
	stream->file = file;
	if (deflateInit(&stream->deflate, LEVEL) != Z_OK) {
		free(stream);
		return NULL;
	}
	stream->deflate.next_out = stream->out;
	stream->deflate.avail_out = OUT_BYTES;
	return stream;
}

void timeline_stream_free(struct timeline_stream *stream)
{
	if (!stream)
		return;
	deflateEnd(&stream->deflate);
	free(stream);
}

// All but the last piece are of OUT_BYTES, a multiple of three.
static void write_base64(struct timeline_stream *stream, size_t count)
{
	static const char digits[] =
	    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	size_t used = 0;

	for (size_t i = 0; i < count; i += 3) {
		unsigned left = (unsigned)(count - i);
		unsigned group = (unsigned)stream->out[i] << 16;
		if (left > 1)
			group |= (unsigned)stream->out[i + 1] << 8;
		if (left > 2)
			group |= stream->out[i + 2];
		stream->text[used++] = digits[group >> 18];
		stream->text[used++] = digits[group >> 12 & 63];
		stream->text[used++] = left > 1 ? digits[group >> 6 & 63] : '=';
		stream->text[used++] = left > 2 ? digits[group & 63] : '=';
	}
	fwrite(stream->text, 1, used, stream->file);
	stream->written += used;
}

static void deflate_some(struct timeline_stream *stream, int flush)
{
	z_stream *deflating = &stream->deflate;
	int state = Z_OK;

	deflating->next_in = stream->in;
	deflating->avail_in = (unsigned)stream->in_used;
	stream->in_used = 0;
	while (deflating->avail_in > 0 || (flush == Z_FINISH && state != Z_STREAM_END)) {
		state = deflate(deflating, flush);
		if (deflating->avail_out > 0)
			continue;
		write_base64(stream, OUT_BYTES);
		deflating->next_out = stream->out;
		deflating->avail_out = OUT_BYTES;
	}
}

void timeline_stream_add(struct timeline_stream *stream, const void *bytes, size_t count)
{
	const unsigned char *from = bytes;

	while (count > 0) {
		size_t room = IN_BYTES - stream->in_used, some = count < room ? count : room;
		memcpy(stream->in + stream->in_used, from, some);
		stream->in_used += some;
		from += some;
		count -= some;
		if (stream->in_used == IN_BYTES)
			deflate_some(stream, Z_NO_FLUSH);
	}
}

uint64_t timeline_stream_written(const struct timeline_stream *stream)
{
	return stream->written;
}

uint64_t timeline_stream_end(struct timeline_stream *stream)
{
	deflate_some(stream, Z_FINISH);
	write_base64(stream, OUT_BYTES - stream->deflate.avail_out);
	return stream->written;
}
