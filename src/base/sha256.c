// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/sha256.h"

#include <stdint.h>
#include <string.h>

#define BLOCK 64

/* The first 32 bits of the fractional parts of the cube roots of the first 64 primes (4.2.2). */
static const uint32_t constants[64] = {
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4,
	0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe,
	0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f,
	0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7,
	0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc,
	0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
	0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116,
	0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
	0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
	0xc67178f2,
};

static uint32_t rotate(uint32_t x, unsigned by)
{
	return x >> by | x << (32 - by);
}

static void schedule(uint32_t words[64], const unsigned char block[BLOCK])
{
	for (size_t i = 0; i < 16; i++)
		words[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 |
			   (uint32_t)block[4 * i + 2] << 8 | block[4 * i + 3];
	for (size_t i = 16; i < 64; i++) {
		uint32_t a = words[i - 15], b = words[i - 2];

		words[i] = (rotate(b, 17) ^ rotate(b, 19) ^ b >> 10) + words[i - 7] +
			   (rotate(a, 7) ^ rotate(a, 18) ^ a >> 3) + words[i - 16];
	}
}

/* 6.2.2; state[0..8) are a to h. */
static void compress(uint32_t hash[8], const unsigned char block[BLOCK])
{
	uint32_t words[64], s[8];

	schedule(words, block);
	memcpy(s, hash, sizeof(s));
	for (size_t i = 0; i < 64; i++) {
		uint32_t one = s[7] + (rotate(s[4], 6) ^ rotate(s[4], 11) ^ rotate(s[4], 25)) +
			       ((s[4] & s[5]) ^ (~s[4] & s[6])) + constants[i] + words[i];
		uint32_t two = (rotate(s[0], 2) ^ rotate(s[0], 13) ^ rotate(s[0], 22)) +
			       ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));

		memmove(&s[1], &s[0], 7 * sizeof(s[0]));
		s[4] += one;
		s[0] = one + two;
	}
	for (size_t i = 0; i < 8; i++)
		hash[i] += s[i];
}

/* 5.1.1: a one, zeroes, and the length in bits as the last eight bytes. */
static void compress_rest(uint32_t hash[8], const unsigned char *data, size_t rest, uint64_t bits)
{
	unsigned char blocks[2 * BLOCK] = { 0 };
	size_t size = rest + 1 + 8 <= BLOCK ? BLOCK : 2 * BLOCK;

	memcpy(blocks, data, rest);
	blocks[rest] = 0x80;
	for (size_t i = 0; i < 8; i++)
		blocks[size - 1 - i] = (unsigned char)(bits >> (8 * i));
	for (size_t at = 0; at < size; at += BLOCK)
		compress(hash, blocks + at);
}

void sha256_text(const void *data, size_t size, char text[SHA256_TEXT])
{
	/* of the square roots of the first eight primes (5.3.3) */
	uint32_t hash[8] = { 0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
			     0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19 };
	const unsigned char *bytes = data;
	size_t at = 0;

	for (; size - at >= BLOCK; at += BLOCK)
		compress(hash, bytes + at);
	compress_rest(hash, bytes + at, size - at, (uint64_t)size * 8);
	for (size_t i = 0; i < 2 * SHA256_BYTES; i++)
		text[i] = "0123456789abcdef"[hash[i / 8] >> (28 - 4 * (i % 8)) & 0xf];
	text[2 * SHA256_BYTES] = '\0';
}
