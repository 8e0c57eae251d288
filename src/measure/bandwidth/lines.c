// SPDX-License-Identifier: Apache-2.0
// The lines of `bandwidth`, one row each.
#include "measure/bandwidth/bandwidth.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static const char *const group_names[TARE_LINE_GROUPS] = {
	[TARE_LINES_COPY] = "copy",
	[TARE_LINES_TWICE] = "twice",
	[TARE_LINES_BOTH] = "both",
	[TARE_LINES_HOST_MEMORY] = "host-memory",
	[TARE_LINES_KERNEL] = "kernel",
	[TARE_LINES_SHARED] = "shared",
	[TARE_LINES_MAP] = "map",
	[TARE_LINES_RECTANGLE] = "rectangle",
	[TARE_LINES_UNALIGNED] = "unaligned",
	[TARE_LINES_FIRST_TOUCH] = "first-touch",
	[TARE_LINES_PAGES] = "pages",
	[TARE_LINES_IMAGE] = "image",
};

const struct tare_line_row tare_lines[TARE_LINE_COUNT] = {
	[TARE_LINE_SHARED_TO_SHARED] = { "shared-to-shared", TARE_LINES_COPY, "shared → shared",
	                                 "both resident; counted once", false },
	[TARE_LINE_HEAP_TO_DEVICE] = { "heap-to-device", TARE_LINES_COPY, "heap → device",
	                               "pageable", true },
	[TARE_LINE_DEVICE_TO_HEAP] = { "device-to-heap", TARE_LINES_COPY, "device → heap",
	                               "pageable", true },
	[TARE_LINE_DEVICE_TO_DEVICE] = { "device-to-device", TARE_LINES_COPY, "device → device",
	                                 "counted once: bytes copied, not read and written",
	                                 false },
	[TARE_LINE_HOST_TO_DEVICE] = { "host-to-device", TARE_LINES_COPY, "host → device", "pinned",
	                               false },
	[TARE_LINE_DEVICE_TO_HOST] = { "device-to-host", TARE_LINES_COPY, "device → host", "pinned",
	                               false },
	[TARE_LINE_DEVICE_TWICE] = { "device-to-device-twice", TARE_LINES_TWICE,
	                             "device → device, twice",
	                             "the same copies: bytes read and bytes written", false },
	[TARE_LINE_BOTH_TO_DEVICE] = { "both-to-device", TARE_LINES_BOTH,
	                               "both ways, host → device",
	                               "this direction alone, while the other runs", false },
	[TARE_LINE_BOTH_TO_HOST] = { "both-to-host", TARE_LINES_BOTH, "both ways, device → host",
	                             "this direction alone, while the other runs", false },
	[TARE_LINE_BOTH_TOTAL] = { "both-total", TARE_LINES_BOTH, "both ways, together",
	                           "the bytes of both directions", false },
	[TARE_LINE_COMBINED_TO_DEVICE] = { "combined-to-device", TARE_LINES_HOST_MEMORY,
	                                   "write-combined → device",
	                                   "pinned, not cached by the host", false },
	[TARE_LINE_REGISTERED_TO_DEVICE] = { "registered-to-device", TARE_LINES_HOST_MEMORY,
	                                     "registered → device",
	                                     "ordinary memory, pinned afterwards", false },
	[TARE_LINE_DEVICE_TO_REGISTERED] = { "device-to-registered", TARE_LINES_HOST_MEMORY,
	                                     "device → registered",
	                                     "ordinary memory, pinned afterwards", false },
	[TARE_LINE_KERNEL_TO_DEVICE] = { "kernel-to-device", TARE_LINES_KERNEL,
	                                 "kernel, host → device",
	                                 "a kernel reads mapped host memory (zero copy)", false },
	[TARE_LINE_KERNEL_TO_HOST] = { "kernel-to-host", TARE_LINES_KERNEL, "kernel, device → host",
	                               "a kernel writes mapped host memory (zero copy)", false },
	[TARE_LINE_KERNEL_ON_DEVICE] = { "kernel-on-device", TARE_LINES_KERNEL,
	                                 "kernel, device → device", "counted once", false },
	[TARE_LINE_SHARED_FAULT] = { "shared-fault", TARE_LINES_SHARED, "kernel reads shared",
	                             "the host wrote it last: pages move when touched", false },
	[TARE_LINE_SHARED_PREFETCH] = { "shared-prefetch", TARE_LINES_SHARED,
	                                "prefetch, kernel reads shared",
	                                "the same; a prefetch goes before", false },
	[TARE_LINE_SHARED_RESIDENT] = { "shared-resident", TARE_LINES_SHARED,
	                                "kernel reads resident shared",
	                                "the same; on the device already", false },
	[TARE_LINE_SHARED_READ_MOSTLY] = { "shared-read-mostly", TARE_LINES_SHARED,
	                                   "kernel reads shared, read-mostly",
	                                   "as shared-fault, advised: mostly read", false, true },
	[TARE_LINE_SHARED_PREFER_DEVICE] = { "shared-prefer-device", TARE_LINES_SHARED,
	                                     "kernel reads shared, device preferred",
	                                     "as shared-fault, advised: on the device", false,
	                                     true },
	[TARE_LINE_SHARED_PREFER_HOST] = { "shared-prefer-host", TARE_LINES_SHARED,
	                                   "kernel reads shared, host preferred",
	                                   "as shared-fault, advised: on the host", false, true },
	[TARE_LINE_SHARED_BACK_FAULT] = { "shared-back-fault", TARE_LINES_SHARED,
	                                  "host reads shared",
	                                  "the device wrote it last; host time", true, true },
	[TARE_LINE_SHARED_BACK_PREFETCH] = { "shared-back-prefetch", TARE_LINES_SHARED,
	                                     "prefetch, host reads shared",
	                                     "the same; a prefetch goes before", true, true },
	[TARE_LINE_MAP_READ] = { "map-read", TARE_LINES_MAP, "map for reading", NULL, true },
	[TARE_LINE_UNMAP_WRITTEN] = { "unmap-written", TARE_LINES_MAP, "unmap after writing", NULL,
	                              true },
	[TARE_LINE_RECTANGLE_TO_DEVICE] = { "rectangle-to-device", TARE_LINES_RECTANGLE,
	                                    "rectangle, host → device",
	                                    "rows of 4 KB, every other one of the host's", false },
	[TARE_LINE_RECTANGLE_TO_HOST] = { "rectangle-to-host", TARE_LINES_RECTANGLE,
	                                  "rectangle, device → host",
	                                  "rows of 4 KB, every other one of the host's", false },
	[TARE_LINE_NARROW_TO_DEVICE] = { "narrow-to-device", TARE_LINES_RECTANGLE,
	                                 "narrow rectangle, host → device",
	                                 "rows of 256 B, every other one of the host's", false,
	                                 true },
	[TARE_LINE_NARROW_TO_HOST] = { "narrow-to-host", TARE_LINES_RECTANGLE,
	                               "narrow rectangle, device → host",
	                               "rows of 256 B, every other one of the host's", false,
	                               true },
	[TARE_LINE_UNALIGNED_1] = { "heap-to-device+1", TARE_LINES_UNALIGNED,
	                            "heap → device, 1 B off a page", NULL, true },
	[TARE_LINE_UNALIGNED_64] = { "heap-to-device+64", TARE_LINES_UNALIGNED,
	                             "heap → device, 64 B off a page", NULL, true },
	[TARE_LINE_UNALIGNED_4096] = { "heap-to-device+4096", TARE_LINES_UNALIGNED,
	                               "heap → device, one page on", "control: aligned, elsewhere",
	                               true },
	[TARE_LINE_FIRST_TOUCH_HEAP] = { "device-to-heap-first", TARE_LINES_FIRST_TOUCH,
	                                 "device → heap, first touch",
	                                 "pages appear during the copy", true },
	[TARE_LINE_FIRST_TOUCH_SHARED] = { "shared-to-shared-first", TARE_LINES_FIRST_TOUCH,
	                                   "shared → shared, first touch",
	                                   "pages appear during the copy", true },
	[TARE_LINE_SMALL_TO_DEVICE] = { "small-pages-to-device", TARE_LINES_PAGES,
	                                "heap of small pages → device", "touched before", true },
	[TARE_LINE_TRANSPARENT_TO_DEVICE] = { "transparent-pages-to-device", TARE_LINES_PAGES,
	                                      "heap of transparent huge pages → device",
	                                      "pages of 2 MB by madvise, touched before", true },
	[TARE_LINE_EXPLICIT_TO_DEVICE] = { "explicit-pages-to-device", TARE_LINES_PAGES,
	                                   "heap of explicit huge pages → device",
	                                   "pages of 2 MB that were set aside, touched before",
	                                   true },
	[TARE_LINE_DEVICE_TO_SMALL] = { "device-to-small-pages", TARE_LINES_PAGES,
	                                "device → heap of small pages", "touched before", true },
	[TARE_LINE_DEVICE_TO_TRANSPARENT] = { "device-to-transparent-pages", TARE_LINES_PAGES,
	                                      "device → heap of transparent huge pages",
	                                      "pages of 2 MB by madvise, touched before", true },
	[TARE_LINE_DEVICE_TO_EXPLICIT] = { "device-to-explicit-pages", TARE_LINES_PAGES,
	                                   "device → heap of explicit huge pages",
	                                   "pages of 2 MB that were set aside, touched before",
	                                   true },
	[TARE_LINE_FIRST_TOUCH_SMALL] = { "device-to-small-pages-first", TARE_LINES_PAGES,
	                                  "device → small pages, first touch",
	                                  "pages appear during the copy", true },
	[TARE_LINE_FIRST_TOUCH_TRANSPARENT] = { "device-to-transparent-pages-first",
	                                        TARE_LINES_PAGES,
	                                        "device → transparent huge pages, first touch",
	                                        "pages appear during the copy", true },
	[TARE_LINE_FIRST_TOUCH_EXPLICIT] = { "device-to-explicit-pages-first", TARE_LINES_PAGES,
	                                     "device → explicit huge pages, first touch",
	                                     "pages appear during the copy", true },
	[TARE_LINE_TO_IMAGE_2D] = { "host-to-image-2d", TARE_LINES_IMAGE, "host → 2D image",
	                            "a whole image, pixels of 4 B", false },
	[TARE_LINE_FROM_IMAGE_2D] = { "image-2d-to-host", TARE_LINES_IMAGE, "2D image → host",
	                              "a whole image, pixels of 4 B", false },
	[TARE_LINE_TO_IMAGE_3D] = { "host-to-image-3d", TARE_LINES_IMAGE, "host → 3D image",
	                            "a whole image, pixels of 4 B", false },
	[TARE_LINE_FROM_IMAGE_3D] = { "image-3d-to-host", TARE_LINES_IMAGE, "3D image → host",
	                              "a whole image, pixels of 4 B", false },
};

const char *tare_line_group_name(enum tare_line_group group)
{
	return group_names[group];
}

// Bits of the lines whose name or group is `word`; 0 when there is none.
static uint64_t find(const char *word, size_t length)
{
	uint64_t found = 0;

	for (int i = 0; i < TARE_LINE_COUNT; i++) {
		const struct tare_line_row *row = &tare_lines[i];
		const char *group = group_names[row->group];
		if ((strlen(row->name) == length && strncmp(row->name, word, length) == 0) ||
		    (strlen(group) == length && strncmp(group, word, length) == 0) ||
		    (length == 3 && strncmp(word, "all", 3) == 0))
			found |= UINT64_C(1) << i;
	}
	return found;
}

static int refuse(const char *word, size_t length, struct tare_error *error)
{
	char groups[160] = "";
	size_t used = 0;

	for (int i = 0; i < TARE_LINE_GROUPS; i++)
		used += (size_t)snprintf(groups + used, sizeof groups - used, "%s%s",
		                         used ? ", " : "", group_names[i]);
	return tare_fail(error, EINVAL,
	                 "no line '%.*s'; there are the groups %s, all, and single lines such as "
	                 "host-to-device: see tare-bandwidth(1)",
	                 (int)(length < 40 ? length : 40), word, groups);
}

int tare_parse_lines(const char *text, uint64_t *lines, struct tare_error *error)
{
	uint64_t parsed = 0;

	for (const char *word = text;;) {
		size_t length = strcspn(word, ",");
		uint64_t found;
		while (length && *word == ' ') {
			word++;
			length--;
		}
		size_t end = length;
		while (end && word[end - 1] == ' ')
			end--;
		found = find(word, end);
		if (!found)
			return refuse(word, end, error);
		parsed |= found;
		if (!word[length])
			break;
		word += length + 1;
	}
	*lines = parsed;
	return 0;
}
