/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The parts of a session that the store keeps as JSON text, one column each: settings, goals,
 * shape, gaps and distortions. Writing (columns_write.c) and reading (columns_read.c) stand in two
 * files because base/json_writer.h and jansson.h share names of functions. Pure.
 */
#pragma once

struct fail;
struct session;
struct sink;

void column_write_settings(const struct session *session, struct sink *sink);
void column_write_environment(const struct session *session, struct sink *sink);
void column_write_goals(const struct session *session, struct sink *sink);
void column_write_shape(const struct session *session, struct sink *sink);
void column_write_gaps(const struct session *session, struct sink *sink);
void column_write_distortions(const struct session *session, struct sink *sink);

/* Each fills its part of SESSION. Members that are missing keep what SESSION has; others of a wrong
 * type or out of range are -EBADMSG with the sentence. */
int column_read_settings(struct session *session, const char *text, struct fail *fail);
int column_read_goals(struct session *session, const char *text, struct fail *fail);
int column_read_shape(struct session *session, const char *text, struct fail *fail);
int column_read_gaps(struct session *session, const char *text, struct fail *fail);
int column_read_distortions(struct session *session, const char *text, struct fail *fail);
