/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SHA-256 (FIPS 180-4): to tell whether two texts are the same without keeping them. Pure. */
#pragma once

#include <stddef.h>

#define SHA256_BYTES 32
#define SHA256_TEXT  (2 * SHA256_BYTES + 1)

/* The digest of SIZE bytes in hexadecimal, NUL-terminated. SIZE is below 2^61. */
void sha256_text(const void *data, size_t size, char text[SHA256_TEXT]);
