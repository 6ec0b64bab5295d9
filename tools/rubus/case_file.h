/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUBUS_TOOLS_CASE_FILE_H
#define RUBUS_TOOLS_CASE_FILE_H
/* What every reader of a case needs: the document, its members, its numbers. */
#include "command.h"

/* "PATH: WHERE: TEXT" on stderr; returns CLI_INPUT. where is the object that is wrong,
 * `array "A"`; NULL, here and below: the document itself. */
int case_bad(const char *path, const char *where, const char *format, ...)
    RUBUS_PRINTF(3, 4);

/* The object that the file holds; the caller gives it back. CLI_DONE, or an exit status
 * after a message with the place. */
int case_load(const char *path, json_t **out_document);
/* CLI_DONE if every member of the object is one of the words (ends with NULL); else a
 * message that lists them. where: the object, "array \"A\""; NULL: the document. */
int case_known(const char *path, const char *where, json_t *object,
               const char *const *words);
/* A member that is one of the words: its place; *out stays if it is not there. */
int case_word(const char *path, const char *where, json_t *object, const char *member,
              const char *const *words, int32_t *out);

/* A number, "nan", "inf" or "-inf"; false for anything else. */
bool case_real(const json_t *value, double *out);
/* The same; false also if it is finite and the real type cannot hold it. */
bool case_real_as(int32_t type, const json_t *value, double *out);
/* Writes it to element `at` of numbers of the type; false as before. */
bool case_put_real(int32_t type, void *data, int64_t at, const json_t *value);

#endif
