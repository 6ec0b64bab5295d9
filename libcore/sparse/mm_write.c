/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writing Matrix Market files: the structure is checked first, then lines go through a
 * buffer, and gzip if the name asks for it, into a file that appears when it is whole.
 */
#include "config.h"

#include "libcore/sparse/mm.h"

#include <math.h>
#include <string.h>

enum { BUFFER_ROOM = 64 * 1024, LINE_ROOM = 96 };

/* --- bytes to the file -------------------------------------------------------------- */

typedef struct sink {
    rubus__file *file;
    char *buffer;
    size_t size;
    bool packed;
    z_stream z;
    char *packed_buffer;
    rubus_status st; /* of the first failure; later calls do nothing */
} sink;

static voidpf packed_alloc(voidpf user, uInt count, uInt size)
{
    (void)user;
    return rubus__alloc_array(count, size);
}

static void packed_free(voidpf user, voidpf p)
{
    (void)user;
    rubus__free(p);
}

static bool is_packed_name(const char *path)
{
    const size_t n = strlen(path);
    return n > 3 && rubus__equal_nocase(path + n - 3, ".gz");
}

static rubus_status sink_open_packed(sink *s)
{
    s->packed_buffer = rubus__alloc_aligned(BUFFER_ROOM, 64);
    if (s->packed_buffer == NULL) {
        return RUBUS_ENOMEM;
    }
    s->z.zalloc = packed_alloc;
    s->z.zfree = packed_free;
    const int result = deflateInit2(&s->z, Z_DEFAULT_COMPRESSION, Z_DEFLATED,
                                    16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
    if (result != Z_OK) {
        return result == Z_MEM_ERROR
                   ? RUBUS_ENOMEM
                   : rubus__fail(RUBUS_EINTERNAL, "zlib cannot begin: %d", result);
    }
    s->packed = true;
    return RUBUS_OK;
}

/* A failure is kept in s->st; sink_close must follow. */
static void sink_open(sink *s, const char *path)
{
    memset(s, 0, sizeof *s);
    s->buffer = rubus__alloc_aligned(BUFFER_ROOM, 64);
    s->st = s->buffer == NULL ? RUBUS_ENOMEM : RUBUS_OK;
    if (s->st == RUBUS_OK && is_packed_name(path)) {
        s->st = sink_open_packed(s);
    }
    if (s->st == RUBUS_OK) {
        s->st = rubus__file_create(path, &s->file);
    }
}

static void flush_packed(sink *s, bool last)
{
    s->z.next_in = (Bytef *)s->buffer;
    s->z.avail_in = (uInt)s->size;
    int result = Z_OK;
    do {
        s->z.next_out = (Bytef *)s->packed_buffer;
        s->z.avail_out = BUFFER_ROOM;
        result = deflate(&s->z, last ? Z_FINISH : Z_NO_FLUSH);
        const size_t n = BUFFER_ROOM - s->z.avail_out;
        s->st = n == 0 ? RUBUS_OK : rubus__file_add(s->file, s->packed_buffer, n);
    } while (s->st == RUBUS_OK &&
             (last ? result != Z_STREAM_END : s->z.avail_out == 0 || s->z.avail_in > 0));
}

static void flush(sink *s, bool last)
{
    if (s->st != RUBUS_OK) {
        s->size = 0;
        return;
    }
    if (s->packed) {
        flush_packed(s, last);
    } else {
        s->st = rubus__file_add(s->file, s->buffer, s->size);
    }
    s->size = 0;
}

static rubus_status sink_close(sink *s)
{
    if (s->st == RUBUS_OK) {
        flush(s, true);
    }
    if (s->packed) {
        deflateEnd(&s->z);
    }
    rubus__free(s->packed_buffer);
    rubus__free(s->buffer);
    if (s->st == RUBUS_OK) {
        return rubus__file_finish(s->file);
    }
    rubus__file_discard(s->file);
    return s->st;
}

/* Room for a line; the caller writes there and adds to s->size. */
static inline char *line_room(sink *s)
{
    if (BUFFER_ROOM - s->size < LINE_ROOM) {
        flush(s, false);
    }
    return s->buffer + s->size;
}

static void put_char(sink *s, char c)
{
    *line_room(s) = c;
    s->size++;
}

/* --- lines -------------------------------------------------------------------------- */

static char *put_count(char *out, int64_t n)
{
    char back[20];
    int size = 0;
    do {
        back[size++] = (char)('0' + n % 10);
        n /= 10;
    } while (n != 0);
    while (size > 0) {
        *out++ = back[--size];
    }
    return out;
}

static char *put_value(char *out, int32_t real, const void *values, int64_t k)
{
    if (real == RUBUS_F32) {
        return out + rubus__print_f32(((const float *)values)[k], out);
    }
    return out + rubus__print_f64(((const double *)values)[k], out);
}

static void put_banner(sink *s, const char *format, const char *field,
                       const char *symmetry, const char *comment)
{
    char *out = line_room(s);
    s->size += (size_t)rubus__snprintf(
        out, LINE_ROOM, "%%%%MatrixMarket matrix %s %s %s\n", format, field, symmetry);
    if (comment == NULL || *comment == '\0') {
        return;
    }
    put_char(s, '%');
    for (; *comment != '\0'; comment++) {
        const bool last = comment[1] == '\0';
        if (*comment == '\n' && last) {
            break;
        }
        put_char(s, rubus__mm_is_line_end(*comment) ? '\n' : *comment);
        if (rubus__mm_is_line_end(*comment)) {
            put_char(s, '%');
        }
    }
    put_char(s, '\n');
}

static int64_t index_at(const rubus_mm_csr *csr, const void *array, int64_t k)
{
    return csr->index == RUBUS_I64 ? ((const int64_t *)array)[k]
                                   : ((const int32_t *)array)[k];
}

static void put_entries(sink *s, const rubus_mm_csr *csr)
{
    const bool lower = csr->symmetry == RUBUS_MM_SYMMETRIC;
    for (int64_t i = 0; i < csr->nrow && s->st == RUBUS_OK; i++) {
        const int64_t end = index_at(csr, csr->rowptr, i + 1);
        for (int64_t k = index_at(csr, csr->rowptr, i); k < end; k++) {
            const int64_t j = index_at(csr, csr->colval, k);
            if (lower && j > i) {
                continue;
            }
            char *const line = line_room(s);
            char *out = put_count(line, i + 1);
            *out++ = ' ';
            out = put_count(out, j + 1);
            if (csr->nzval != NULL) {
                *out++ = ' ';
                out = put_value(out, csr->real, csr->nzval, k);
            }
            *out++ = '\n';
            s->size += (size_t)(out - line);
        }
    }
}

/* --- checks ------------------------------------------------------------------------- */

static rubus_status check_types(const char *call, int32_t real, int32_t index)
{
    if (real != RUBUS_F64 && real != RUBUS_F32) {
        return rubus__fail(RUBUS_EINVAL,
                           "%s: real is %d: RUBUS_F64 or RUBUS_F32 is needed", call,
                           (int)real);
    }
    if (index != RUBUS_I32 && index != RUBUS_I64) {
        return rubus__fail(RUBUS_EINVAL,
                           "%s: index is %d: RUBUS_I32 or RUBUS_I64 is needed", call,
                           (int)index);
    }
    return RUBUS_OK;
}

static rubus_status check_sizes(const rubus_mm_csr *csr)
{
    if (csr->nrow < 0 || csr->ncol < 0 || csr->nnz < 0) {
        return rubus__fail(
            RUBUS_EINVAL, "rubus_mm_write: a negative size: %lld x %lld, %lld entries",
            (long long)csr->nrow, (long long)csr->ncol, (long long)csr->nnz);
    }
    if ((csr->rowptr == NULL && csr->nrow > 0) || (csr->colval == NULL && csr->nnz > 0)) {
        return rubus__fail(RUBUS_EINVAL, "rubus_mm_write: %s is NULL",
                           csr->rowptr == NULL && csr->nrow > 0 ? "rowptr" : "colval");
    }
    if (csr->symmetry != RUBUS_MM_GENERAL && csr->symmetry != RUBUS_MM_SYMMETRIC) {
        return rubus__fail(RUBUS_EINVAL,
                           "rubus_mm_write: symmetry is %d: RUBUS_MM_GENERAL or "
                           "RUBUS_MM_SYMMETRIC is needed",
                           (int)csr->symmetry);
    }
    return RUBUS_OK;
}

static rubus_status check_row(const rubus_mm_csr *csr, int64_t i, int64_t begin,
                              int64_t end)
{
    int64_t before = -1;
    for (int64_t k = begin; k < end; k++) {
        const int64_t j = index_at(csr, csr->colval, k);
        if (j < 0 || j >= csr->ncol) {
            return rubus__fail(
                RUBUS_EINVAL,
                "rubus_mm_write: row %lld, entry %lld: column %lld is not in "
                "0..%lld",
                (long long)i, (long long)k, (long long)j, (long long)csr->ncol - 1);
        }
        if (csr->symmetry == RUBUS_MM_SYMMETRIC && j <= before) {
            return rubus__fail(RUBUS_EINVAL,
                               "rubus_mm_write: row %lld, entry %lld: column %lld behind "
                               "%lld: the columns of a symmetric matrix must ascend",
                               (long long)i, (long long)k, (long long)j,
                               (long long)before);
        }
        before = j;
    }
    return RUBUS_OK;
}

static rubus_status check_rows(const rubus_mm_csr *csr)
{
    int64_t begin = csr->nrow > 0 ? index_at(csr, csr->rowptr, 0) : 0;
    if (begin != 0) {
        return rubus__fail(RUBUS_EINVAL, "rubus_mm_write: rowptr[0] is %lld, not 0",
                           (long long)begin);
    }
    for (int64_t i = 0; i < csr->nrow; i++) {
        const int64_t end = index_at(csr, csr->rowptr, i + 1);
        if (end < begin || end > csr->nnz) {
            return rubus__fail(
                RUBUS_EINVAL,
                "rubus_mm_write: row %lld: rowptr goes from %lld to %lld, of "
                "%lld entries",
                (long long)i, (long long)begin, (long long)end, (long long)csr->nnz);
        }
        const rubus_status st = check_row(csr, i, begin, end);
        if (st != RUBUS_OK) {
            return st;
        }
        begin = end;
    }
    if (begin != csr->nnz) {
        return rubus__fail(RUBUS_EINVAL,
                           "rubus_mm_write: rowptr ends at %lld, of %lld entries",
                           (long long)begin, (long long)csr->nnz);
    }
    return RUBUS_OK;
}

/* The position of (i, j), by halving; -1 if it is not stored. */
static int64_t find(const rubus_mm_csr *csr, int64_t i, int64_t j)
{
    int64_t low = index_at(csr, csr->rowptr, i);
    int64_t high = index_at(csr, csr->rowptr, i + 1);
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        const int64_t at = index_at(csr, csr->colval, middle);
        if (at == j) {
            return middle;
        }
        if (at < j) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return -1;
}

static bool values_equal(const rubus_mm_csr *csr, int64_t k, int64_t m)
{
    if (csr->nzval == NULL) {
        return true;
    }
    const double a = csr->real == RUBUS_F32 ? (double)((const float *)csr->nzval)[k]
                                            : ((const double *)csr->nzval)[k];
    const double b = csr->real == RUBUS_F32 ? (double)((const float *)csr->nzval)[m]
                                            : ((const double *)csr->nzval)[m];
    return a == b || (isnan(a) && isnan(b));
}

/* Counts the lower triangle; every entry must have its equal on the other side. */
static rubus_status check_symmetric(const rubus_mm_csr *csr, int64_t *out_n)
{
    if (csr->nrow != csr->ncol) {
        return rubus__fail(
            RUBUS_ESHAPE,
            "rubus_mm_write: a symmetric matrix must be square, this one is "
            "%lld x %lld",
            (long long)csr->nrow, (long long)csr->ncol);
    }
    int64_t n = 0;
    for (int64_t i = 0; i < csr->nrow; i++) {
        const int64_t end = index_at(csr, csr->rowptr, i + 1);
        for (int64_t k = index_at(csr, csr->rowptr, i); k < end; k++) {
            const int64_t j = index_at(csr, csr->colval, k);
            n += j <= i;
            const int64_t other = j == i ? k : find(csr, j, i);
            if (other < 0 || !values_equal(csr, k, other)) {
                return rubus__fail(
                    RUBUS_ESHAPE,
                    "rubus_mm_write: not symmetric: the entry (%lld,%lld), "
                    "counted from 0, %s at (%lld,%lld)",
                    (long long)i, (long long)j,
                    other < 0 ? "has no other" : "has another value", (long long)j,
                    (long long)i);
            }
        }
    }
    *out_n = n;
    return RUBUS_OK;
}

/* --- public calls ------------------------------------------------------------------- */

RUBUS_API rubus_status rubus_mm_write(const char *path, const rubus_mm_csr *csr)
{
    if (path == NULL || csr == NULL || csr->struct_size == 0) {
        return rubus__fail(RUBUS_EINVAL, "rubus_mm_write: %s",
                           path == NULL  ? "path is NULL"
                           : csr == NULL ? "csr is NULL"
                                         : "csr.struct_size is 0");
    }
    rubus_mm_csr a;
    memset(&a, 0, sizeof a);
    memcpy(&a, csr, csr->struct_size < sizeof a ? csr->struct_size : sizeof a);
    a.index = a.index == 0 ? RUBUS_I32 : a.index;
    a.real = a.real == 0 ? RUBUS_F64 : a.real;
    a.symmetry = a.symmetry == 0 ? RUBUS_MM_GENERAL : a.symmetry;
    int64_t n = a.nnz;
    rubus_status st = check_types("rubus_mm_write", a.real, a.index);
    if (st == RUBUS_OK) {
        st = check_sizes(&a);
    }
    if (st == RUBUS_OK) {
        st = check_rows(&a);
    }
    if (st == RUBUS_OK && a.symmetry == RUBUS_MM_SYMMETRIC) {
        st = check_symmetric(&a, &n);
    }
    if (st != RUBUS_OK) {
        return st;
    }
    sink s;
    sink_open(&s, path);
    if (s.st == RUBUS_OK) {
        put_banner(&s, "coordinate", a.nzval == NULL ? "pattern" : "real",
                   a.symmetry == RUBUS_MM_SYMMETRIC ? "symmetric" : "general", a.comment);
        char *out = line_room(&s);
        s.size +=
            (size_t)rubus__snprintf(out, LINE_ROOM, "%lld %lld %lld\n", (long long)a.nrow,
                                    (long long)a.ncol, (long long)n);
        put_entries(&s, &a);
    }
    return sink_close(&s);
}

RUBUS_API rubus_status rubus_mm_write_array(const char *path, int32_t real, int64_t nrow,
                                            int64_t ncol, int64_t ld, const void *value,
                                            const char *comment)
{
    static const char call[] = "rubus_mm_write_array";
    rubus_status st = check_types(call, real, RUBUS_I32);
    if (st != RUBUS_OK) {
        return st;
    }
    if (nrow < 0 || ncol < 0 || ld < 0) {
        return rubus__fail(RUBUS_EINVAL, "%s: a negative size: %lld x %lld, ld %lld",
                           call, (long long)nrow, (long long)ncol, (long long)ld);
    }
    ld = ld == 0 ? nrow : ld;
    if (ld < nrow) {
        return rubus__fail(RUBUS_ESHAPE,
                           "%s: the leading dimension %lld is less than the %lld rows",
                           call, (long long)ld, (long long)nrow);
    }
    if (path == NULL || (value == NULL && nrow > 0 && ncol > 0)) {
        return rubus__fail(RUBUS_EINVAL, "%s: %s is NULL", call,
                           path == NULL ? "path" : "value");
    }
    sink s;
    sink_open(&s, path);
    if (s.st == RUBUS_OK) {
        put_banner(&s, "array", "real", "general", comment);
        char *head = line_room(&s);
        s.size += (size_t)rubus__snprintf(head, LINE_ROOM, "%lld %lld\n", (long long)nrow,
                                          (long long)ncol);
        for (int64_t j = 0; j < ncol; j++) {
            for (int64_t i = 0; i < nrow && s.st == RUBUS_OK; i++) {
                char *const line = line_room(&s);
                char *out = put_value(line, real, value, i + j * ld);
                *out++ = '\n';
                s.size += (size_t)(out - line);
            }
        }
    }
    return sink_close(&s);
}
