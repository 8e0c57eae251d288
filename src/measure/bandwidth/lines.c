// SPDX-License-Identifier: Apache-2.0
// The lines of `bandwidth`, one row each.
#include "measure/bandwidth/bandwidth.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

const struct tare_line_row tare_lines[TARE_LINE_COUNT] = {
	[TARE_LINE_SHARED_TO_SHARED] = { "shared-to-shared", "copy", "shared → shared",
	                                 "both resident; counted once", false },
	[TARE_LINE_HEAP_TO_DEVICE] = { "heap-to-device", "copy", "heap → device", "pageable",
	                               true },
	[TARE_LINE_DEVICE_TO_HEAP] = { "device-to-heap", "copy", "device → heap", "pageable",
	                               true },
	[TARE_LINE_DEVICE_TO_DEVICE] = { "device-to-device", "copy", "device → device",
	                                 "counted once: bytes copied, not read and written",
	                                 false },
	[TARE_LINE_HOST_TO_DEVICE] = { "host-to-device", "copy", "host → device", "pinned", false },
	[TARE_LINE_DEVICE_TO_HOST] = { "device-to-host", "copy", "device → host", "pinned", false },
	[TARE_LINE_DEVICE_TWICE] = { "device-to-device-twice", "twice", "device → device, twice",
	                             "the same copies: bytes read and bytes written", false },
	[TARE_LINE_BOTH_TO_DEVICE] = { "both-to-device", "both", "both ways, host → device",
	                               "this direction alone, while the other runs", false },
	[TARE_LINE_BOTH_TO_HOST] = { "both-to-host", "both", "both ways, device → host",
	                             "this direction alone, while the other runs", false },
	[TARE_LINE_BOTH_TOTAL] = { "both-total", "both", "both ways, together",
	                           "the bytes of both directions", false },
	[TARE_LINE_COMBINED_TO_DEVICE] = { "combined-to-device", "host-memory",
	                                   "write-combined → device",
	                                   "pinned, not cached by the host", false },
	[TARE_LINE_REGISTERED_TO_DEVICE] = { "registered-to-device", "host-memory",
	                                     "registered → device",
	                                     "ordinary memory, pinned afterwards", false },
	[TARE_LINE_DEVICE_TO_REGISTERED] = { "device-to-registered", "host-memory",
	                                     "device → registered",
	                                     "ordinary memory, pinned afterwards", false },
	[TARE_LINE_KERNEL_TO_DEVICE] = { "kernel-to-device", "kernel", "kernel, host → device",
	                                 "a kernel reads mapped host memory (zero copy)", false },
	[TARE_LINE_KERNEL_TO_HOST] = { "kernel-to-host", "kernel", "kernel, device → host",
	                               "a kernel writes mapped host memory (zero copy)", false },
	[TARE_LINE_KERNEL_ON_DEVICE] = { "kernel-on-device", "kernel", "kernel, device → device",
	                                 "counted once", false },
	[TARE_LINE_SHARED_FAULT] = { "shared-fault", "shared", "kernel reads shared",
	                             "the host wrote it last: pages move when touched", false },
	[TARE_LINE_SHARED_PREFETCH] = { "shared-prefetch", "shared",
	                                "prefetch, kernel reads shared",
	                                "the same; a prefetch goes before", false },
	[TARE_LINE_SHARED_RESIDENT] = { "shared-resident", "shared", "kernel reads resident shared",
	                                "the same; on the device already", false },
	[TARE_LINE_SHARED_READ_MOSTLY] = { "shared-read-mostly", "shared",
	                                   "kernel reads shared, read-mostly",
	                                   "as shared-fault, advised: mostly read", false, true },
	[TARE_LINE_SHARED_PREFER_DEVICE] = { "shared-prefer-device", "shared",
	                                     "kernel reads shared, device preferred",
	                                     "as shared-fault, advised: on the device", false,
	                                     true },
	[TARE_LINE_SHARED_PREFER_HOST] = { "shared-prefer-host", "shared",
	                                   "kernel reads shared, host preferred",
	                                   "as shared-fault, advised: on the host", false, true },
	[TARE_LINE_SHARED_BACK_FAULT] = { "shared-back-fault", "shared", "host reads shared",
	                                  "the device wrote it last; host time", true, true },
	[TARE_LINE_SHARED_BACK_PREFETCH] = { "shared-back-prefetch", "shared",
	                                     "prefetch, host reads shared",
	                                     "the same; a prefetch goes before", true, true },
	[TARE_LINE_MAP_READ] = { "map-read", "map", "map for reading", NULL, true },
	[TARE_LINE_UNMAP_WRITTEN] = { "unmap-written", "map", "unmap after writing", NULL, true },
	[TARE_LINE_RECTANGLE_TO_DEVICE] = { "rectangle-to-device", "rectangle",
	                                    "rectangle, host → device",
	                                    "rows of 4 KB, every other one of the host's", false },
	[TARE_LINE_RECTANGLE_TO_HOST] = { "rectangle-to-host", "rectangle",
	                                  "rectangle, device → host",
	                                  "rows of 4 KB, every other one of the host's", false },
	[TARE_LINE_NARROW_TO_DEVICE] = { "narrow-to-device", "rectangle",
	                                 "narrow rectangle, host → device",
	                                 "rows of 256 B, every other one of the host's", false,
	                                 true },
	[TARE_LINE_NARROW_TO_HOST] = { "narrow-to-host", "rectangle",
	                               "narrow rectangle, device → host",
	                               "rows of 256 B, every other one of the host's", false,
	                               true },
	[TARE_LINE_UNALIGNED_1] = { "heap-to-device+1", "unaligned",
	                            "heap → device, 1 B off a page", NULL, true },
	[TARE_LINE_UNALIGNED_64] = { "heap-to-device+64", "unaligned",
	                             "heap → device, 64 B off a page", NULL, true },
	[TARE_LINE_UNALIGNED_4096] = { "heap-to-device+4096", "unaligned",
	                               "heap → device, one page on", "control: aligned, elsewhere",
	                               true },
	[TARE_LINE_FIRST_TOUCH_HEAP] = { "device-to-heap-first", "first-touch",
	                                 "device → heap, first touch",
	                                 "pages appear during the copy", true },
	[TARE_LINE_FIRST_TOUCH_SHARED] = { "shared-to-shared-first", "first-touch",
	                                   "shared → shared, first touch",
	                                   "pages appear during the copy", true },
	[TARE_LINE_SMALL_TO_DEVICE] = { "small-pages-to-device", "pages",
	                                "heap of small pages → device", "touched before", true },
	[TARE_LINE_TRANSPARENT_TO_DEVICE] = { "transparent-pages-to-device", "pages",
	                                      "heap of transparent huge pages → device",
	                                      "pages of 2 MB by madvise, touched before", true },
	[TARE_LINE_EXPLICIT_TO_DEVICE] = { "explicit-pages-to-device", "pages",
	                                   "heap of explicit huge pages → device",
	                                   "pages of 2 MB that were set aside, touched before",
	                                   true },
	[TARE_LINE_DEVICE_TO_SMALL] = { "device-to-small-pages", "pages",
	                                "device → heap of small pages", "touched before", true },
	[TARE_LINE_DEVICE_TO_TRANSPARENT] = { "device-to-transparent-pages", "pages",
	                                      "device → heap of transparent huge pages",
	                                      "pages of 2 MB by madvise, touched before", true },
	[TARE_LINE_DEVICE_TO_EXPLICIT] = { "device-to-explicit-pages", "pages",
	                                   "device → heap of explicit huge pages",
	                                   "pages of 2 MB that were set aside, touched before",
	                                   true },
	[TARE_LINE_FIRST_TOUCH_SMALL] = { "device-to-small-pages-first", "pages",
	                                  "device → small pages, first touch",
	                                  "pages appear during the copy", true },
	[TARE_LINE_FIRST_TOUCH_TRANSPARENT] = { "device-to-transparent-pages-first", "pages",
	                                        "device → transparent huge pages, first touch",
	                                        "pages appear during the copy", true },
	[TARE_LINE_FIRST_TOUCH_EXPLICIT] = { "device-to-explicit-pages-first", "pages",
	                                     "device → explicit huge pages, first touch",
	                                     "pages appear during the copy", true },
	[TARE_LINE_TO_IMAGE_2D] = { "host-to-image-2d", "image", "host → 2D image",
	                            "a whole image, pixels of 4 B", false },
	[TARE_LINE_FROM_IMAGE_2D] = { "image-2d-to-host", "image", "2D image → host",
	                              "a whole image, pixels of 4 B", false },
	[TARE_LINE_TO_IMAGE_3D] = { "host-to-image-3d", "image", "host → 3D image",
	                            "a whole image, pixels of 4 B", false },
	[TARE_LINE_FROM_IMAGE_3D] = { "image-3d-to-host", "image", "3D image → host",
	                              "a whole image, pixels of 4 B", false },
};

// Bits of the lines whose name or group is `word`; 0 when there is none.
static uint64_t find(const char *word, size_t length)
{
	uint64_t found = 0;

	for (int i = 0; i < TARE_LINE_COUNT; i++) {
		const struct tare_line_row *row = &tare_lines[i];
		if ((strlen(row->name) == length && strncmp(row->name, word, length) == 0) ||
		    (strlen(row->group) == length && strncmp(row->group, word, length) == 0) ||
		    (length == 3 && strncmp(word, "all", 3) == 0))
			found |= UINT64_C(1) << i;
	}
	return found;
}

static int refuse(const char *word, size_t length, struct tare_error *error)
{
	char groups[160] = "";
	const char *group = "";
	size_t used = 0;

	for (int i = 0; i < TARE_LINE_COUNT; i++) {
		if (strcmp(group, tare_lines[i].group) == 0)
			continue;
		group = tare_lines[i].group;
		used += (size_t)snprintf(groups + used, sizeof groups - used, "%s%s",
		                         used ? ", " : "", group);
	}
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
