/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pictures, the library's side: chooses what is drawn (a curve, a map, the middle slice
 * of a box), finds the range of values, opens the drawing module and collects its bytes.
 * The module is looked for in the folder `rubus` beside librubus, then where it was
 * installed.
 */
#include "config.h"

#include "libcore/output/writers.h"

#include <dlfcn.h>
#include <math.h>
#include <string.h>

static char *beside_library(void)
{
    Dl_info info;
    if (dladdr((void *)(uintptr_t)&rubus_picture_write, &info) == 0 ||
        info.dli_fname == NULL) {
        return NULL;
    }
    const char *slash = strrchr(info.dli_fname, '/');
    const int n = slash == NULL ? 1 : (int)(slash - info.dli_fname);
    return rubus__format("%.*s/rubus/rubus-picture.so", n,
                         slash == NULL ? "." : info.dli_fname);
}

static void *module_open(char *path, const char **why)
{
    void *module =
        path == NULL ? NULL : dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (module == NULL) {
        const char *text = dlerror();
        *why = text == NULL ? "out of memory" : text;
    }
    rubus__free(path);
    return module;
}

static rubus_status module_find(rubus__picture_draw *out_draw)
{
    const char *why = "";
    void *module = module_open(beside_library(), &why);
    if (module == NULL) {
        module = module_open(rubus__strdup(RUBUS_MODULE_DIR "/rubus-picture.so"), &why);
    }
    if (module == NULL) {
        return rubus__fail(RUBUS_EUNSUPPORTED,
                           "no picture: the drawing module cannot be opened (%s); build "
                           "Rubus with libcairo2-dev, or install libcairo2",
                           why);
    }
    void *symbol = dlsym(module, RUBUS__PICTURE_SYMBOL);
    if (symbol == NULL) {
        return rubus__fail(RUBUS_EUNSUPPORTED, "no picture: the drawing module has no %s",
                           RUBUS__PICTURE_SYMBOL);
    }
    memcpy(out_draw, &symbol, sizeof(symbol));
    return RUBUS_OK;
}

static void range_find(const double *values, int64_t count, rubus__picture *p)
{
    for (int64_t i = 0; i < count; i++) {
        if (!isfinite(values[i])) {
            continue;
        }
        p->lo = p->any_finite == 0 || values[i] < p->lo ? values[i] : p->lo;
        p->hi = p->any_finite == 0 || values[i] > p->hi ? values[i] : p->hi;
        p->any_finite = 1;
    }
}

static int collect(void *user, const unsigned char *bytes, unsigned n)
{
    rubus__text *out = user;
    rubus__text_add_n(out, (const char *)bytes, n);
    return out->failed ? 1 : 0;
}

static void fill(const rubus__grid *grid, const rubus_output_desc *desc,
                 rubus__picture *p)
{
    memset(p, 0, sizeof(*p));
    p->abi = RUBUS__PICTURE_ABI;
    p->rank = grid->rank == 1 ? 1 : 2;
    for (int d = 0; d < 2; d++) {
        p->n[d] = grid->n[d];
        p->spacing[d] = grid->spacing[d];
        p->origin[d] = grid->origin[d];
    }
    const int64_t slice = grid->rank == 3 ? grid->n[2] / 2 : 0;
    p->values = grid->values + slice * grid->n[0] * grid->n[1];
    range_find(p->values, p->n[0] * p->n[1], p);
    p->name = grid->name;
    p->title = grid->title;
    p->contour_first = desc->contour_first;
    p->contour_step = desc->contour_step;
    p->contour_last = desc->contour_last;
    p->history_x = desc->history_x;
    p->history_y = desc->history_y;
    p->nhistory = desc->history_x == NULL || desc->history_y == NULL ? 0 : desc->nhistory;
    p->format = rubus__snprintf;
    p->sink = collect;
}

rubus_status rubus__picture_text(const rubus__grid *grid, const rubus_output_desc *desc,
                                 rubus__text *out)
{
    if (grid->count == 0) {
        return rubus__fail(RUBUS_EINVAL, "no picture of a field without elements");
    }
    rubus__picture_draw draw = NULL;
    rubus_status st = module_find(&draw);
    if (st != RUBUS_OK) {
        return st;
    }
    char *label_x = rubus__label(desc->history_label_x, " ");
    char *label_y = rubus__label(desc->history_label_y, " ");
    const char *failed = NULL;
    st = label_x == NULL || label_y == NULL ? RUBUS_ENOMEM : RUBUS_OK;
    if (st == RUBUS_OK) {
        rubus__picture p;
        fill(grid, desc, &p);
        p.history_label_x = label_x;
        p.history_label_y = label_y;
        p.user = out;
        failed = draw(&p);
    }
    rubus__free(label_x);
    rubus__free(label_y);
    if (st != RUBUS_OK || out->failed) { /* what failed later is a consequence */
        return st;
    }
    return failed == NULL ? RUBUS_OK
                          : rubus__fail(RUBUS_EUNSUPPORTED, "no picture: %s", failed);
}
