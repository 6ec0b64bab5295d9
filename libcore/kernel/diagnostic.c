/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages of the kernel compiler, and the small services that every stage needs: arena
 * memory, names stored once, the budget of steps.
 *
 * A message is one heading (file:line:column), the source line, a caret under the place,
 * and what to do about it. Long lines are cut around the caret; a tab is shown as blanks,
 * so the caret stands right whatever the reader's tab width is.
 */
#include "config.h"

#include "libcore/kernel/tree.h"

#include <setjmp.h>
#include <string.h>

enum { ERRORS_SHOWN = 20, LINE_WIDTH = 120, TAB_WIDTH = 4 };

/* --- memory and names --------------------------------------------------------------- */

void *rk_new(rk_unit *unit, size_t nbyte)
{
    return rubus__arena_alloc(unit->arena, nbyte);
}

typedef struct name_entry {
    const char *text;
    int32_t size;
    uint32_t hash;
} name_entry;

typedef struct name_table { /* open addressing; at most half full */
    uint32_t room;          /* a power of two */
    uint32_t count;
    name_entry *entry;
} name_table;

static name_entry *name_slot(const name_table *table, const char *s, int32_t n,
                             uint32_t hash)
{
    uint32_t at = hash & (table->room - 1);
    for (;;) {
        name_entry *entry = &table->entry[at];
        if (entry->text == NULL || (entry->hash == hash && entry->size == n &&
                                    memcmp(entry->text, s, (size_t)n) == 0)) {
            return entry;
        }
        at = (at + 1) & (table->room - 1);
    }
}

static void name_table_grow(rk_unit *unit, name_table *table)
{
    const name_table before = *table;
    table->room = before.room == 0 ? 256 : 2 * before.room;
    table->entry = rk_new(unit, table->room * sizeof *table->entry);
    for (uint32_t i = 0; i < before.room; i++) {
        const name_entry *entry = &before.entry[i];
        if (entry->text != NULL) {
            *name_slot(table, entry->text, entry->size, entry->hash) = *entry;
        }
    }
}

static uint32_t name_hash(const char *s, int32_t n)
{
    uint32_t hash = 2166136261U; // FNV-1a
    for (int32_t i = 0; i < n; i++) {
        hash = (hash ^ (unsigned char)s[i]) * 16777619U;
    }
    return hash;
}

bool rk_is_interned(const rk_unit *unit, const char *s, int32_t n)
{
    const name_table *table = unit->names;
    return table != NULL && name_slot(table, s, n, name_hash(s, n))->text != NULL;
}

const char *rk_intern(rk_unit *unit, const char *s, int32_t n)
{
    if (unit->names == NULL) {
        unit->names = RK_NEW(unit, name_table);
    }
    name_table *table = unit->names;
    if (2 * table->count >= table->room) {
        name_table_grow(unit, table);
    }
    const uint32_t hash = name_hash(s, n);
    name_entry *entry = name_slot(table, s, n, hash);
    if (entry->text == NULL) {
        char *text = rk_new(unit, (size_t)n + 1);
        memcpy(text, s, (size_t)n); // n bytes, whatever they are
        entry->text = text;
        entry->size = n;
        entry->hash = hash;
        table->count++;
    }
    return entry->text;
}

/* --- places ------------------------------------------------------------------------- */

/* Whether a byte begins a code point. */
static bool begins(char c)
{
    return ((unsigned char)c & 0xC0U) != 0x80U;
}

static const char *line_begin(rk_span at)
{
    const char *text = at.source->text;
    int32_t begin = at.first;
    while (begin > 0 && text[begin - 1] != '\n') {
        begin--;
    }
    return text + begin;
}

void rk_line_column(rk_span at, int32_t *out_line, int32_t *out_column)
{
    const char *begin = line_begin(at);
    int32_t line = 1;
    for (const char *p = at.source->text; p < begin; p++) {
        line += *p == '\n';
    }
    int32_t column = 1;
    for (const char *p = begin; p < at.source->text + at.first; p++) {
        column += begins(*p);
    }
    *out_line = line;
    *out_column = column;
}

const char *rk_place(rk_unit *unit, rk_span at)
{
    int32_t line = 0;
    int32_t column = 0;
    rk_line_column(at, &line, &column);
    return rubus__arena_format(unit->arena, "%s:%d", at.source->name, line);
}

/* --- the source line and its caret -------------------------------------------------- */

typedef struct cell { /* what one code point shows */
    const char *text;
    size_t size;
    int32_t width; /* columns */
    size_t eaten;  /* bytes of the source */
} cell;

static cell cell_at(const char *p, const char *end)
{
    const unsigned char c = (unsigned char)*p;
    if (c == '\t') {
        return (cell){"    ", TAB_WIDTH, TAB_WIDTH, 1};
    }
    if (c < 0x20 || c == 0x7F) {
        return (cell){"?", 1, 1, 1};
    }
    if (c < 0x80) {
        return (cell){p, 1, 1, 1};
    }
    const size_t want = c >= 0xF0 ? 4 : c >= 0xE0 ? 3 : 2;
    size_t size = 1;
    while (size < want && p + size < end && !begins(p[size])) {
        size++;
    }
    if (c < 0xC2 || c > 0xF4 || size < want) {
        return (cell){"?", 1, 1, size};
    }
    // combining marks U+0300 to U+036F stand on the letter before them
    const unsigned char next = (unsigned char)p[1];
    const bool mark = c == 0xCC || (c == 0xCD && next < 0xB0);
    return (cell){p, size, mark ? 0 : 1, size};
}

static int32_t width_of(const char *p, const char *end)
{
    int64_t width = 0;
    while (p < end) {
        const cell one = cell_at(p, end);
        width += one.width;
        p += one.eaten;
    }
    return width > INT32_MAX / 2 ? INT32_MAX / 2 : (int32_t)width;
}

static void add_repeated(rubus__text *out, const char *s, int32_t n)
{
    for (int32_t i = 0; i < n; i++) {
        rubus__text_add(out, s);
    }
}

/* Columns [from, to) of a line. */
static void add_columns(rubus__text *out, const char *p, const char *end, int32_t from,
                        int32_t to)
{
    int32_t column = 0;
    while (p < end && column < to) {
        const cell one = cell_at(p, end);
        if (column >= from && column + one.width <= to) {
            rubus__text_add_n(out, one.text, one.size);
        } else if (column + one.width > from) {
            // a tab that the cut goes through
            const int32_t left = column < from ? column + one.width - from : to - column;
            add_repeated(out, " ", left);
        }
        column += one.width;
        p += one.eaten;
    }
}

static void add_line(rubus__text *out, rk_span at)
{
    static const char dots[] = "...";
    const int32_t ndot = (int32_t)sizeof dots - 1;
    const char *begin = line_begin(at);
    const char *text_end = at.source->text + at.source->size;
    const char *end = memchr(begin, '\n', (size_t)(text_end - begin));
    end = end == NULL ? text_end : end;
    if (end > begin && end[-1] == '\r') {
        end--;
    }
    const char *first = at.source->text + at.first;
    const char *last = at.source->text + at.last;
    first = first > end ? end : first;
    last = last > end ? end : last < first ? first : last;

    const int32_t width = width_of(begin, end);
    const int32_t caret = width_of(begin, first);
    int32_t length = width_of(first, last);
    int32_t from = 0;
    int32_t to = width;
    if (width > LINE_WIDTH) {
        const int32_t shown = LINE_WIDTH - 2 * ndot;
        from = caret - shown / 2;
        from = from > width - shown ? width - shown : from;
        from = from < 0 ? 0 : from;
        to = from + shown;
    }
    const int32_t indent = from > 0 ? ndot : 0;
    rubus__text_add(out, from > 0 ? dots : "");
    add_columns(out, begin, end, from, to);
    rubus__text_add(out, to < width ? dots : "");
    rubus__text_add(out, "\n");
    add_repeated(out, " ", indent + caret - from);
    rubus__text_add(out, "^");
    length = length > to - caret ? to - caret : length;
    add_repeated(out, "~", length - 1);
    rubus__text_add(out, "\n");
}

/* --- messages ----------------------------------------------------------------------- */

static const char *format(rk_unit *unit, const char *message, va_list args)
{
    va_list again;
    va_copy(again, args);
    const int size = rubus__vsnprintf(NULL, 0, message, again);
    va_end(again);
    if (size < 0) {
        return message;
    }
    char *text = rk_new(unit, (size_t)size + 1);
    rubus__vsnprintf(text, (size_t)size + 1, message, args);
    return text;
}

static void add_heading(rk_unit *unit, rk_span at)
{
    int32_t line = 0;
    int32_t column = 0;
    rk_line_column(at, &line, &column);
    rubus__text_format(&unit->messages, "%s:%d:%d: ", at.source->name, line, column);
}

void rk_error(rk_unit *unit, rk_code code, rk_span at, const char *cure,
              const char *message, ...)
{
    rubus__text *out = &unit->messages;
    if (unit->nerror >= ERRORS_SHOWN) {
        if (unit->nerror_dropped++ == 0) {
            rubus__text_format(out, "%s: only the first %d errors are shown\n",
                               at.source->name, ERRORS_SHOWN);
        }
        return;
    }
    unit->nerror++;
    va_list args;
    va_start(args, message);
    const char *text = format(unit, message, args);
    va_end(args);
    add_heading(unit, at);
    rubus__text_format(out, "error[K%03d]: ", (int)code);
    rubus__text_add(out, text);
    rubus__text_add(out, "\n");
    add_line(out, at);
    if (cure != NULL) {
        rubus__text_add(out, "  help: ");
        rubus__text_add(out, cure);
        rubus__text_add(out, "\n");
    }
}

void rk_note(rk_unit *unit, rk_span at, const char *message, ...)
{
    if (unit->nerror_dropped > 0) {
        return; // the error that it belongs to is not shown
    }
    va_list args;
    va_start(args, message);
    const char *text = format(unit, message, args);
    va_end(args);
    add_heading(unit, at);
    rubus__text_add(&unit->messages, "note: ");
    rubus__text_add(&unit->messages, text);
    rubus__text_add(&unit->messages, "\n");
    add_line(&unit->messages, at);
}

int32_t rk_error_count(const rk_unit *unit)
{
    return unit->nerror;
}

_Noreturn void rk_give_up(rk_unit *unit)
{
    if (unit->status == RUBUS_OK) {
        unit->status = RUBUS_ECOMPILE;
    }
    longjmp(*(jmp_buf *)unit->leave, 1);
}

void rk_stop_if_many(rk_unit *unit)
{
    if (unit->nerror_dropped > 0) {
        rk_give_up(unit);
    }
}

void rk_spend(rk_unit *unit, int64_t n, rk_span at)
{
    unit->budget -= n;
    if (unit->budget < 0) {
        rk_error(unit, RK_TOO_LARGE, at, "split the kernel, or use fewer nested ops",
                 "this needs more steps than the compiler allows");
        rk_give_up(unit);
    }
}
