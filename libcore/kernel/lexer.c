/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Source text to tokens.
 *
 * The bytes of the whole source are tested first, comments included, so that everything
 * after may take it as UTF-8; bad ones are reported and skipped. Then each token is read
 * by the function of its kind. Names are code points from U+00A1 on less a few classes,
 * which the table below lists; nothing is normalised.
 */
#include "config.h"

#include "libcore/kernel/tree.h"

#include <math.h>
#include <string.h>

typedef struct lexer {
    rk_unit *unit;
    const rk_source *source;
    const char *text;
    int32_t size;
    int32_t at;     /* next byte */
    int32_t bad_at; /* byte after the last bad character; a run of them is one error */
    rk_token *token;
    int32_t count;
    int32_t room;
} lexer;

/* --- characters --------------------------------------------------------------------- */

/* Decodes one code point; returns its bytes, or 0 where the bytes are not UTF-8. */
static int32_t decode(const char *text, int32_t size, uint32_t *out_point)
{
    const unsigned char *p = (const unsigned char *)text;
    if (p[0] < 0x80) {
        *out_point = p[0];
        return 1;
    }
    const int32_t n = p[0] >= 0xF0 ? 4 : p[0] >= 0xE0 ? 3 : 2;
    if (p[0] < 0xC2 || p[0] > 0xF4 || n > size) {
        return 0;
    }
    uint32_t point = p[0] & (0xFFU >> (n + 1));
    for (int32_t i = 1; i < n; i++) {
        if ((p[i] & 0xC0U) != 0x80U) {
            return 0;
        }
        point = point << 6 | (p[i] & 0x3FU);
    }
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    if (point < least[n] || point > 0x10FFFF || (point >= 0xD800 && point <= 0xDFFF)) {
        return 0;
    }
    *out_point = point;
    return n;
}

typedef struct point_range {
    uint32_t first;
    uint32_t last;
} point_range;

/* White space from U+00A1 on: categories Zs, Zl, Zp (Unicode 15). */
static const point_range white_space[] = {
    {0x1680, 0x1680}, {0x2000, 0x200A}, {0x2028, 0x2029},
    {0x202F, 0x202F}, {0x205F, 0x205F}, {0x3000, 0x3000},
};

/* Format characters from U+00A1 on (Cf), then private use (Co). There are no controls. */
static const point_range not_in_names[] = {
    {0x00AD, 0x00AD},   {0x0600, 0x0605},   {0x061C, 0x061C},   {0x06DD, 0x06DD},
    {0x070F, 0x070F},   {0x0890, 0x0891},   {0x08E2, 0x08E2},   {0x180E, 0x180E},
    {0x200B, 0x200F},   {0x202A, 0x202E},   {0x2060, 0x2064},   {0x2066, 0x206F},
    {0xFEFF, 0xFEFF},   {0xFFF9, 0xFFFB},   {0x110BD, 0x110BD}, {0x110CD, 0x110CD},
    {0x13430, 0x1343F}, {0x1BCA0, 0x1BCA3}, {0x1D173, 0x1D17A}, {0xE0001, 0xE0001},
    {0xE0020, 0xE007F}, {0xE000, 0xF8FF},   {0xF0000, 0xFFFFD}, {0x100000, 0x10FFFD},
};

static bool in_ranges(const point_range *range, size_t n, uint32_t point)
{
    for (size_t i = 0; i < n; i++) {
        if (point >= range[i].first && point <= range[i].last) {
            return true;
        }
    }
    return false;
}
#define IN_RANGES(table, point)                                                          \
    in_ranges((table), sizeof(table) / sizeof *(table), (point))

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_name_point(uint32_t point)
{
    if (point < 0x80) {
        return point == '_' || (point >= 'a' && point <= 'z') ||
               (point >= 'A' && point <= 'Z');
    }
    return point >= 0xA1 && !IN_RANGES(white_space, point) &&
           !IN_RANGES(not_in_names, point);
}

/* Bytes of the code point at `at` if it may begin a name, else 0. */
static int32_t name_point(const lexer *lex, int32_t at)
{
    uint32_t point = 0;
    const int32_t n = at < lex->size ? decode(lex->text + at, lex->size - at, &point) : 0;
    return n > 0 && is_name_point(point) ? n : 0;
}

/* End of the name characters from `at` on, digits included. */
static int32_t name_end(const lexer *lex, int32_t at)
{
    for (;;) {
        const int32_t n =
            at < lex->size && is_digit(lex->text[at]) ? 1 : name_point(lex, at);
        if (n == 0) {
            return at;
        }
        at += n;
    }
}

static char peek(const lexer *lex, int32_t ahead)
{
    // the text ends with a NUL, so one byte past the end may be looked at
    return lex->at + ahead <= lex->size ? lex->text[lex->at + ahead] : '\0';
}

static rk_span span(const lexer *lex, int32_t first, int32_t last)
{
    return (rk_span){lex->source, first, last};
}

static rk_token *add_token(lexer *lex, rk_token_kind kind, int32_t first, int32_t last)
{
    if (lex->count == lex->room) {
        const int32_t room = lex->room == 0 ? 256 : 2 * lex->room;
        rk_token *token = rk_new(lex->unit, (size_t)room * sizeof *token);
        if (lex->count > 0) {
            memcpy(token, lex->token, (size_t)lex->count * sizeof *token);
        }
        lex->token = token;
        lex->room = room;
    }
    rk_token *token = &lex->token[lex->count++];
    token->kind = kind;
    token->at = span(lex, first, last);
    lex->at = last;
    return token;
}

/* --- bad bytes ---------------------------------------------------------------------- */

/* Reports each run of NUL bytes, and of bytes that are not UTF-8. */
static void check_bytes(const lexer *lex)
{
    int32_t at = lex->at;
    while (at < lex->size) {
        uint32_t point = 0;
        const int32_t n = decode(lex->text + at, lex->size - at, &point);
        if (n > 0 && point != 0) {
            at += n;
            continue;
        }
        const int32_t first = at;
        if (n > 0) {
            while (at < lex->size && lex->text[at] == '\0') {
                at++;
            }
            rk_error(lex->unit, RK_BAD_CHARACTER, span(lex, first, at),
                     "save the file as text in UTF-8, without NUL bytes",
                     "NUL byte at byte %d of the file", first);
        } else {
            while (at < lex->size &&
                   decode(lex->text + at, lex->size - at, &point) == 0) {
                at++;
            }
            rk_error(lex->unit, RK_BAD_UTF8, span(lex, first, at),
                     "save the file as text in UTF-8",
                     "byte %d of the file, 0x%02X, is not UTF-8", first,
                     (unsigned)(unsigned char)lex->text[first]);
        }
        rk_stop_if_many(lex->unit);
    }
}

static const char *cure_of_point(uint32_t point)
{
    switch (point) {
    case '&':
        return "write `&&` for \"and\"; there are no operations on bits";
    case '|':
        return "write `||` for \"or\"; there are no operations on bits";
    case '.':
        return "a number needs a digit beside its point";
    case '\'':
        return "names cannot contain `'`; the prime U+2032 is allowed";
    default:
        break;
    }
    if (point == 0xA0 || IN_RANGES(white_space, point)) {
        return "write an ordinary blank";
    }
    return point >= 0x80 ? "names cannot contain it; remove it" : "remove it";
}

/* A character that begins no token; bytes that check_bytes has reported are skipped. */
static void bad_character(lexer *lex)
{
    uint32_t point = 0;
    const int32_t first = lex->at;
    const int32_t n = decode(lex->text + first, lex->size - first, &point);
    lex->at += n > 0 ? n : 1;
    const bool goes_on = lex->bad_at == first;
    lex->bad_at = lex->at;
    if (n == 0 || point == 0 || goes_on) {
        return;
    }
    const rk_span at = span(lex, first, lex->at);
    const char *cure = cure_of_point(point);
    if (point > 0x20 && point < 0x7F) {
        rk_error(lex->unit, RK_BAD_CHARACTER, at, cure, "`%c` means nothing here",
                 (char)point);
    } else {
        rk_error(lex->unit, RK_BAD_CHARACTER, at, cure,
                 "the character U+%04X means nothing here", (unsigned)point);
    }
}

/* --- numbers ------------------------------------------------------------------------ */

static int32_t skip_digits(const lexer *lex, int32_t at)
{
    while (is_digit(lex->text[at])) {
        at++;
    }
    return at;
}

static const char *cure_of_suffix(const char *digits, int32_t ndigit, const char *suffix,
                                  int32_t nsuffix)
{
    if (ndigit == 1 && *digits == '0' && (*suffix == 'x' || *suffix == 'X')) {
        return "write it as a decimal number";
    }
    if (*suffix == '.') {
        return "a number has one point";
    }
    if (nsuffix == 1 && strchr("fFdDhHlLuU", *suffix) != NULL) {
        return "leave the suffix out: how wide numbers are is chosen when a module is "
               "built";
    }
    return "put an operator between the number and the name: 2 * x";
}

/* The end of the number at lex->at by its grammar; *out_real: it has point or exponent.
 * */
static int32_t number_end(lexer *lex, bool *out_real)
{
    const char *text = lex->text;
    int32_t end = skip_digits(lex, lex->at);
    *out_real = text[end] == '.';
    if (*out_real) {
        end = skip_digits(lex, end + 1);
    }
    if (text[end] == 'e' || text[end] == 'E') {
        const int32_t sign = text[end + 1] == '+' || text[end + 1] == '-' ? 1 : 0;
        if (is_digit(text[end + 1 + sign])) {
            *out_real = true;
            return skip_digits(lex, end + 1 + sign);
        }
        if (name_end(lex, end) == end + 1) {
            *out_real = true;
            end += 1 + sign;
            rk_error(lex->unit, RK_BAD_NUMBER, span(lex, lex->at, end),
                     "write digits after the `e`: 1e-3", "exponent without digits");
        }
    }
    return end;
}

/* Skips what clings to the number's end and belongs to no number. */
static int32_t refuse_suffix(lexer *lex, int32_t end)
{
    int32_t last = end;
    while (lex->text[last] == '.' || name_end(lex, last) > last) {
        last = lex->text[last] == '.' ? last + 1 : name_end(lex, last);
    }
    if (last > end) {
        const char *suffix = lex->text + end;
        rk_error(lex->unit, RK_BAD_NUMBER, span(lex, lex->at, last),
                 cure_of_suffix(lex->text + lex->at, end - lex->at, suffix, last - end),
                 "`%.*s` is not a number", (int)(last - lex->at), lex->text + lex->at);
    }
    return last;
}

static void read_real(lexer *lex, rk_token *token, const char *text)
{
    // a literal that overflows the type that is not used is harmless: math.rk has such
    const bool fits64 = rubus__parse_f64(text, &token->real);
    const bool fits32 = rubus__parse_f32(text, &token->real32);
    token->real = fits64 ? token->real : HUGE_VAL;
    token->real32 = fits32 ? token->real32 : HUGE_VALF;
    const bool fits = lex->unit->numbers.f64 ? fits64 : fits32;
    if (!fits && !lex->source->library) {
        rk_error(lex->unit, RK_BAD_NUMBER, token->at,
                 "write a smaller number; 1/0.0 gives infinity",
                 "the number is too large for %s",
                 lex->unit->numbers.f64 ? "f64" : "f32");
    }
}

static void lex_number(lexer *lex)
{
    const int32_t first = lex->at;
    const int32_t errors = lex->unit->nerror + lex->unit->nerror_dropped;
    bool real = false;
    const int32_t end = number_end(lex, &real);
    const int32_t last = refuse_suffix(lex, end);
    const bool bad = lex->unit->nerror + lex->unit->nerror_dropped != errors;
    rk_token *token = add_token(lex, real ? RK_TOKEN_REAL : RK_TOKEN_INT, first, last);
    token->name = bad ? "0" : rk_intern(lex->unit, lex->text + first, end - first);
    if (bad) {
        return;
    }
    if (real) {
        read_real(lex, token, token->name);
    } else if (!rubus__parse_i64(token->name, &token->i)) {
        rk_error(lex->unit, RK_INT_TOO_LARGE, token->at,
                 "write a real number: put a point after it",
                 "the int literal is larger than 9223372036854775807");
    }
}

/* --- other tokens ------------------------------------------------------------------- */

static bool is_keyword(const char *name)
{
    static const char *const keyword[] = {
        "import", "kernel", "reduce",   "op",     "func", "in",   "out",   "inout",
        "real",   "int",    "bool",     "index",  "let",  "if",   "else",  "for",
        "while",  "break",  "continue", "return", "over", "true", "false",
    };
    for (size_t i = 0; i < sizeof keyword / sizeof *keyword; i++) {
        if (name[0] == keyword[i][0] && strcmp(name, keyword[i]) == 0) {
            return true;
        }
    }
    return false;
}

static void lex_name(lexer *lex)
{
    const int32_t first = lex->at;
    const int32_t last = name_end(lex, first);
    const char *name = rk_intern(lex->unit, lex->text + first, last - first);
    add_token(lex, is_keyword(name) ? RK_TOKEN_KEYWORD : RK_TOKEN_NAME, first, last)
        ->name = name;
}

static void lex_string(lexer *lex)
{
    const int32_t first = lex->at;
    int32_t last = first + 1;
    while (last < lex->size && lex->text[last] != '"' && lex->text[last] != '\n') {
        last++;
    }
    const char *contents = rk_intern(lex->unit, lex->text + first + 1, last - first - 1);
    if (last < lex->size && lex->text[last] == '"') {
        last++;
    } else {
        rk_error(lex->unit, RK_OPEN_STRING, span(lex, first, last),
                 "end it with `\"` on the same line", "the string has no end");
    }
    add_token(lex, RK_TOKEN_STRING, first, last)->name = contents;
}

static void skip_comment(lexer *lex)
{
    const int32_t first = lex->at;
    lex->at += 2;
    if (lex->text[first + 1] == '/') {
        while (lex->at < lex->size && lex->text[lex->at] != '\n') {
            lex->at++;
        }
        return;
    }
    while (lex->at < lex->size && !(peek(lex, 0) == '*' && peek(lex, 1) == '/')) {
        lex->at++;
    }
    if (lex->at < lex->size) {
        lex->at += 2;
    } else {
        rk_error(lex->unit, RK_OPEN_COMMENT, span(lex, first, first + 2),
                 "end it with `*/`", "the comment has no end");
    }
}

/* Bytes of the operator or bracket at lex->at, the longest that fits; 0 if there is none.
 * */
static int32_t punct_size(const lexer *lex)
{
    static const char pairs[][3] = {"+=", "-=", "*=", "/=", "%=", "++", "--",
                                    "==", "!=", "<=", ">=", "&&", "||"};
    const char c = peek(lex, 0);
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        if (c == pairs[i][0] && peek(lex, 1) == pairs[i][1]) {
            return 2;
        }
    }
    return c != '\0' && strchr("()[]{},;:?=+-*/%^!<>", c) != NULL ? 1 : 0;
}

static void lex_one(lexer *lex)
{
    const char c = peek(lex, 0);
    if (c == ' ' || (c >= '\t' && c <= '\r')) {
        lex->at++;
    } else if (c == '/' && (peek(lex, 1) == '/' || peek(lex, 1) == '*')) {
        skip_comment(lex);
    } else if (is_digit(c) || (c == '.' && is_digit(peek(lex, 1)))) {
        lex_number(lex);
    } else if (name_point(lex, lex->at) > 0) {
        lex_name(lex);
    } else if (c == '"') {
        lex_string(lex);
    } else if (punct_size(lex) > 0) {
        const int32_t first = lex->at;
        const int32_t n = punct_size(lex);
        add_token(lex, RK_TOKEN_PUNCT, first, first + n)->name =
            rk_intern(lex->unit, lex->text + first, n);
    } else {
        bad_character(lex);
    }
}

rk_token *rk_lex(rk_unit *unit, const rk_source *source, int32_t first, int32_t last,
                 int32_t *out_count)
{
    lexer lex = {.unit = unit,
                 .source = source,
                 .text = source->text,
                 .size = last,
                 .at = first,
                 .bad_at = -1};
    check_bytes(&lex);
    static const char byte_order_mark[] = "\xEF\xBB\xBF";
    if (first == 0 && lex.size >= 3 && memcmp(lex.text, byte_order_mark, 3) == 0) {
        lex.at = 3;
    }
    while (lex.at < lex.size) {
        lex_one(&lex);
        rk_stop_if_many(unit);
    }
    // the end stands after the last token, where what is missing would be written
    const int32_t end = lex.count > 0 ? lex.token[lex.count - 1].at.last : first;
    add_token(&lex, RK_TOKEN_END, end, end)->name = "";
    *out_count = lex.count;
    return lex.token;
}
