/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * HdrHistogram's interval log (its HistogramLogWriter, format 1.3; hdrhistogram.org), read by its
 * tools and plotters. A histogram is written in the V2 encoding: numbers big-endian, a header of 40
 * bytes, counts as histogram_encode packs them, compressed by zlib under a header of 8, in base64.
 * Ours and theirs have the same buckets (lowest value 1, three digits), so nothing is rounded.
 */
#pragma once

struct histogram;
struct session;
struct sink;

/* Writes the log: one line for all CPUs without a tag, then one for each with "Tag=cpuN" (threadN
 * where threads are not pinned). Times are seconds since the session's start, Interval_Max
 * milliseconds; the session has been concluded. -ENOMEM, or the sink's error. */
int hdr_write_log(const struct session *session, struct sink *sink);

/* Writes HISTOGRAM as the last field of a line. -ENOMEM, or the sink's error. */
int hdr_encode(const struct histogram *histogram, struct sink *sink);
/* Reads such a field, which must be of our layout and nothing else. -EBADMSG leaves HISTOGRAM
 * empty; -ENOMEM. min and max are then the ends of their buckets. */
int hdr_decode(const char *base64, struct histogram *histogram);
