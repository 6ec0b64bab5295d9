/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The elements of one field whose operands stand. Arrays, slices and lifted fields are
 * views; everything else is a fresh array. A slice that leaves its field is remembered in
 * the view and becomes an error only where a statement with points needs it, as on the
 * compiled backends.
 */
#include "config.h"

#include "libcore/kernel/interpret_grids.h"

#include <string.h>

/* --- grids ------------------------------------------------------------------------ */

static int64_t element_size(const rk_grid *grid)
{
    return (int64_t)rubus__type_size(grid->type);
}

/* count from n; false where it does not fit */
static bool count_elements(rk_grid *grid)
{
    grid->count = 1;
    for (int32_t d = 0; d < grid->rank; d++) {
        if (__builtin_mul_overflow(grid->count, grid->n[d], &grid->count)) {
            return false;
        }
    }
    return true;
}

/* Memory for the elements of type, rank and n; stride 0 where any[d]. */
static rubus_status allocate(rk_grid *grid, const bool any[3])
{
    int64_t nbyte;
    if (!count_elements(grid) ||
        __builtin_mul_overflow(grid->count, element_size(grid), &nbyte) ||
        nbyte > INT64_MAX / 2) {
        return rubus__fail(
            RUBUS_ENOMEM,
            "an intermediate array of %lld x %lld x %lld elements does not "
            "fit in memory; use the threads backend, which stores none",
            (long long)grid->n[0], (long long)(grid->rank > 1 ? grid->n[1] : 1),
            (long long)(grid->rank > 2 ? grid->n[2] : 1));
    }
    int64_t step = element_size(grid);
    for (int32_t d = 0; d < grid->rank; d++) {
        grid->stride[d] = any != NULL && any[d] ? 0 : step;
        step *= grid->n[d];
    }
    if (grid->rank == 0) {
        grid->base = (const char *)&grid->own;
        return RUBUS_OK;
    }
    grid->store = rubus__alloc(sizeof(*grid->store) + (size_t)nbyte);
    if (grid->store == NULL) {
        return RUBUS_ENOMEM;
    }
    grid->store->nuse = 1;
    grid->base = (const char *)grid->store->data;
    return RUBUS_OK;
}

void rk_grid_drop(rk_grid *grid)
{
    if (grid->store != NULL && --grid->store->nuse == 0) {
        rubus__free(grid->store);
    }
    memset(grid, 0, sizeof(*grid));
    grid->param = -1;
}

/* Memory of a fresh grid may be written. */
static char *own_memory(rk_grid *grid)
{
    return grid->store != NULL ? (char *)grid->store->data : (char *)&grid->own;
}

/* *grid becomes a view on all of `from`. */
static void view(const rk_grid *from, rk_grid *grid)
{
    *grid = *from;
    if (from->store != NULL) {
        from->store->nuse++;
    } else if (from->param < 0) {
        grid->base = (const char *)&grid->own;
    }
}

/* Address of the element that stands first in line (y, z). */
static const char *line_of(const rk_grid *grid, int64_t y, int64_t z)
{
    return grid->base + y * grid->stride[1] + z * grid->stride[2];
}

static int64_t extent(const rk_grid *grid, int32_t d)
{
    return d < grid->rank ? grid->n[d] : 1;
}

rubus_status rk_grid_copy(const rk_grid *from, rk_grid *out_grid)
{
    rk_grid grid;
    memset(&grid, 0, sizeof(grid));
    grid.type = from->type;
    grid.rank = from->rank;
    grid.param = -1;
    grid.bad = from->bad;
    bool any[3];
    for (int32_t d = 0; d < 3; d++) {
        grid.n[d] = from->n[d];
        any[d] = d < from->rank && from->n[d] == 1 && from->stride[d] == 0;
    }
    rubus_status st = allocate(&grid, any);
    if (st != RUBUS_OK) {
        return st;
    }
    *out_grid = grid;
    if (grid.rank == 0) {
        out_grid->base = (const char *)&out_grid->own;
    }
    if (from->bad != NULL) {
        return RUBUS_OK;
    }
    char *to = own_memory(out_grid);
    size_t size = (size_t)element_size(from);
    for (int64_t z = 0; z < extent(from, 2); z++) {
        for (int64_t y = 0; y < extent(from, 1); y++) {
            const char *line = line_of(from, y, z);
            for (int64_t x = 0; x < extent(from, 0); x++) {
                memcpy(to, line + x * from->stride[0], size);
                to += size;
            }
        }
    }
    return RUBUS_OK;
}

/* --- the kinds of fields ---------------------------------------------------------- */

static const rk_grid *grid_of(const rk_grids *g, const rk_field *field)
{
    return &g->node[rk_grids_find(g, field)].grid;
}

/* Type, rank and extents of a fresh grid for the field. */
static rubus_status shape(const rk_grids *g, const rk_field *field, rk_grid *grid)
{
    grid->type = rk_storage_type(g->machine->numbers, field->type);
    grid->rank = field->rank;
    grid->param = -1;
    for (int32_t d = 0; d < field->rank; d++) {
        int64_t n = field->any[d] ? 1 : rk_machine_affine(g->machine, field->size[d]);
        grid->n[d] = n > 0 ? n : 0;
    }
    return allocate(grid, field->any);
}

static void make_array(const rk_grids *g, const rk_field *field, rk_grid *grid)
{
    const rk_operand *array = &g->machine->operand[field->param];
    grid->type = array->type;
    grid->rank = array->rank;
    grid->param = field->param;
    grid->base = array->base;
    int64_t step = element_size(grid);
    for (int32_t d = 0; d < array->rank; d++) {
        grid->n[d] = array->n[d];
        grid->stride[d] = step;
        step *= array->n[d];
    }
    grid->count = array->count;
}

static void make_slice(const rk_grids *g, const rk_field *field, rk_grid *grid)
{
    const rk_grid *a = grid_of(g, field->a);
    view(a, grid);
    grid->rank = 0;
    bool leaves = false;
    bool empty = false;
    int64_t first = 0;
    for (int32_t d = 0; d < a->rank; d++) {
        int64_t lo = rk_machine_affine(g->machine, field->sub[d].lo);
        int64_t n = 1;
        if (field->sub[d].keep) {
            int32_t axis = grid->rank++;
            n = field->any[axis] ? 1 : rk_machine_affine(g->machine, field->size[axis]);
            n = n > 0 ? n : 0;
            grid->n[axis] = n;
            grid->stride[axis] = a->stride[d];
            empty = empty || n == 0;
        }
        bool spreads = field->a->any[d];
        leaves = leaves || (!spreads && (lo < 0 || lo > a->n[d] - n));
        first += spreads ? 0 : lo * a->stride[d];
    }
    for (int32_t d = grid->rank; d < 3; d++) {
        grid->n[d] = 0;
        grid->stride[d] = 0;
    }
    if (!count_elements(grid)) {
        grid->count = INT64_MAX; /* spreads over more points than there are numbers */
    }
    if (empty) {
        grid->bad = NULL;
    } else if (leaves && grid->bad == NULL) {
        grid->bad = field;
    }
    if (grid->bad == NULL && !empty) {
        grid->base += first;
    }
}

static void make_lift(const rk_grids *g, const rk_field *field, rk_grid *grid)
{
    const rk_grid *a = grid_of(g, field->a);
    view(a, grid);
    grid->rank = field->rank;
    int32_t from = 0;
    for (int32_t d = 0; d < field->rank; d++) {
        grid->n[d] = 1;
        grid->stride[d] = 0;
        if (!field->lift[d]) {
            grid->n[d] = a->n[from];
            grid->stride[d] = a->stride[from];
            from++;
        }
    }
}

static rubus_status make_pad(const rk_grids *g, const rk_field *field, rk_grid *grid)
{
    const rk_grid *a = grid_of(g, field->a);
    const rk_grid *b = grid_of(g, field->b);
    const rk_numbers *numbers = g->machine->numbers;
    rubus_status st = shape(g, field, grid);
    if (st != RUBUS_OK) {
        return st;
    }
    if (a->bad != NULL || b->bad != NULL) {
        grid->bad = a->bad != NULL ? a->bad : b->bad;
        return RUBUS_OK;
    }
    rk_value rim = rk_convert(numbers, rk_element_get(b->type, b->base), field->type);
    char *to = own_memory(grid);
    int64_t at[3];
    for (at[2] = 0; at[2] < extent(grid, 2); at[2]++) {
        for (at[1] = 0; at[1] < extent(grid, 1); at[1]++) {
            for (at[0] = 0; at[0] < extent(grid, 0); at[0]++) {
                bool inside = true;
                int64_t offset = 0;
                for (int32_t d = 0; d < field->rank; d++) {
                    int64_t k = at[d] - field->before[d];
                    inside = inside && k >= 0 && k < a->n[d];
                    offset += k * a->stride[d];
                }
                rk_value v = rim;
                if (inside) {
                    v = rk_element_get(a->type, a->base + offset);
                    v = rk_convert(numbers, v, field->type);
                }
                rk_element_set(grid->type, to, v);
                to += element_size(grid);
            }
        }
    }
    return RUBUS_OK;
}

static rubus_status make_coordinate(const rk_grids *g, const rk_field *field,
                                    rk_grid *grid)
{
    rubus_status st = shape(g, field, grid);
    if (st != RUBUS_OK) {
        return st;
    }
    char *to = own_memory(grid);
    int64_t at[3];
    for (at[2] = 0; at[2] < extent(grid, 2); at[2]++) {
        for (at[1] = 0; at[1] < extent(grid, 1); at[1]++) {
            for (at[0] = 0; at[0] < extent(grid, 0); at[0]++) {
                rk_value v = {RK_INT, {0}};
                v.u.i = at[field->axis];
                rk_element_set(grid->type, to, v);
                to += element_size(grid);
            }
        }
    }
    return RUBUS_OK;
}

static rubus_status make_scalar(const rk_grids *g, const rk_field *field, rk_grid *grid)
{
    rubus_status st = shape(g, field, grid);
    if (st != RUBUS_OK) {
        return st;
    }
    rk_value v = field->value;
    if (field->kind == RK_FIELD_SCALAR) {
        v = g->machine->operand[field->param].value;
    } else if (field->kind == RK_FIELD_SYMBOL) {
        v.type = RK_INT;
        v.u.i = rk_machine_affine(g->machine, field->affine);
    }
    v = rk_convert(g->machine->numbers, v, field->type);
    rk_element_set(grid->type, own_memory(grid), v);
    return RUBUS_OK;
}

/* --- point by point --------------------------------------------------------------- */

/* Operands of one field, each spread over the field's shape. */
typedef struct spread {
    int32_t n;
    const rk_grid **grid;
    const char **at;
    rk_value *value;
    char *memory;
} spread;

static rubus_status spread_init(spread *s, const rk_grids *g, const rk_field *field)
{
    memset(s, 0, sizeof(*s));
    while (rk_grids_operand(field, s->n) != NULL) {
        s->n++;
    }
    size_t n = s->n < 3 ? 3 : (size_t)s->n;
    s->memory =
        rubus__alloc_array(n, sizeof(*s->grid) + sizeof(*s->at) + sizeof(*s->value));
    if (s->memory == NULL) {
        return RUBUS_ENOMEM;
    }
    s->value = (rk_value *)(void *)s->memory;
    s->grid = (const rk_grid **)(void *)(s->value + n);
    s->at = (const char **)(void *)(s->grid + n);
    for (int32_t k = 0; k < s->n; k++) {
        s->grid[k] = grid_of(g, rk_grids_operand(field, k));
    }
    return RUBUS_OK;
}

/* The operands must have the shape of the field, or spread to it. */
static rubus_status spread_fits(const spread *s, const rk_grids *g, const rk_field *field,
                                rk_grid *grid)
{
    for (int32_t k = 0; k < s->n; k++) {
        const rk_grid *a = s->grid[k];
        if (a->bad != NULL && grid->bad == NULL && grid->count > 0) {
            grid->bad = a->bad;
        }
        for (int32_t d = 0; d < a->rank; d++) {
            bool fits = a->n[d] == grid->n[d] || (a->n[d] == 1 && a->stride[d] == 0);
            if (!fits || a->rank != grid->rank) {
                return rk_machine_fail(
                    g->machine, RUBUS_EINTERNAL, field->at,
                    "operand %d has extent %lld in dimension %d where the "
                    "field has %lld",
                    k, (long long)a->n[d], d, (long long)grid->n[d]);
            }
        }
    }
    return RUBUS_OK;
}

static rk_value value_at(const rk_grids *g, const rk_field *field, spread *s)
{
    for (int32_t k = 0; k < s->n; k++) {
        s->value[k] = rk_element_get(s->grid[k]->type, s->at[k]);
        s->at[k] += s->grid[k]->stride[0];
    }
    if (field->kind == RK_FIELD_CALL) {
        rk_value v = rk_points_call(g->machine, field->func, s->value);
        return v.type == field->type ? v
                                     : rk_convert(g->machine->numbers, v, field->type);
    }
    return rk_operate(g->machine->numbers, field->op, field->type, s->value[0],
                      s->value[1], s->value[2]);
}

static rubus_status make_pointwise(const rk_grids *g, const rk_field *field,
                                   rk_grid *grid)
{
    spread s;
    rubus_status st = spread_init(&s, g, field);
    if (st != RUBUS_OK) {
        return st;
    }
    st = shape(g, field, grid);
    if (st == RUBUS_OK) {
        st = spread_fits(&s, g, field, grid);
    }
    bool compute = st == RUBUS_OK && grid->bad == NULL && grid->count > 0;
    int64_t nline = compute ? extent(grid, 1) * extent(grid, 2) : 0;
    char *to = own_memory(grid);
    for (int64_t line = 0; line < nline && g->machine->status == RUBUS_OK; line++) {
        for (int32_t k = 0; k < s.n; k++) {
            s.at[k] = line_of(s.grid[k], line % extent(grid, 1), line / extent(grid, 1));
        }
        for (int64_t x = 0; x < extent(grid, 0); x++) {
            rk_element_set(grid->type, to, value_at(g, field, &s));
            to += element_size(grid);
        }
    }
    rubus__free(s.memory);
    return st != RUBUS_OK ? st : g->machine->status;
}

rubus_status rk_grid_make(rk_grids *g, const rk_field *field, rk_grid *grid)
{
    switch (field->kind) {
    case RK_FIELD_CONST:
    case RK_FIELD_SCALAR:
    case RK_FIELD_SYMBOL:
        return make_scalar(g, field, grid);
    case RK_FIELD_ARRAY:
        make_array(g, field, grid);
        return RUBUS_OK;
    case RK_FIELD_SLICE:
        make_slice(g, field, grid);
        return RUBUS_OK;
    case RK_FIELD_LIFT:
        make_lift(g, field, grid);
        return RUBUS_OK;
    case RK_FIELD_PAD:
        return make_pad(g, field, grid);
    case RK_FIELD_COORD:
        return make_coordinate(g, field, grid);
    case RK_FIELD_APPLY:
    case RK_FIELD_CALL:
        return make_pointwise(g, field, grid);
    }
    return rk_machine_fail(g->machine, RUBUS_EINTERNAL, field->at,
                           "unknown kind of field");
}
