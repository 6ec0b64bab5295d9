/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The dense model. An expression is the matrix of its values by the unknowns, with the
 * matrix of absolute values beside it, from which tolerances are made.
 */
#include "config.h"

#include "tests/form/form_model.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct expr {
    char text[2048];
    double v[MODEL_POINTS][MODEL_UNKNOWNS];
    double abs[MODEL_POINTS][MODEL_UNKNOWNS];
} expr;

double model_random(model *m)
{
    m->state = m->state * 1664525u + 1013904223u;
    return (double)(m->state >> 8) / 16777216.0;
}

int model_below(model *m, int n)
{
    return (int)(model_random(m) * n);
}

/* --- meshes ------------------------------------------------------------------------- */

static void make_axis(model *m, model_axis *a, int n)
{
    a->n = n;
    a->x[0] = (double)model_below(m, 8) / 8;
    for (int i = 1; i < n; i++) { // multiples of 1/64: exact in f32 as well
        a->x[i] = a->x[i - 1] + (double)(16 + model_below(m, 64)) / 64;
    }
    for (int i = 0; i < n; i++) {
        a->h[i] = i > 0 ? a->x[i] - a->x[i - 1] : a->x[1] - a->x[0];
        a->f[i] = i < n - 1 ? a->x[i + 1] - a->x[i] : a->x[n - 1] - a->x[n - 2];
        a->a[i] = i > 0 ? a->h[i] : 0;
    }
    for (int i = 0; i < n; i++) {
        a->w[i] = i == 0       ? a->h[1] / 2
                  : i == n - 1 ? a->h[i] / 2
                               : (a->h[i] + a->h[i + 1]) / 2;
        if (i < n - 1) {
            a->s[i] = (a->h[i] + a->h[i + 1]) / 2;
        }
    }
}

static int stride(const model *m, int d)
{
    return d == 0 ? 1 : d == 1 ? m->axis[0].n : m->axis[0].n * m->axis[1].n;
}

static int place(const model *m, int p, int d)
{
    return p / stride(m, d) % m->axis[d].n;
}

/* --- operators ---------------------------------------------------------------------- */

enum { NOPERATOR = 12 };
static const char *const operator_name[NOPERATOR][2] = {
    {"diffm", "diff\u208b"},
    {"diffp", "diff\u208a"},
    {"jump", "jump"},
    {"Dm", "D\u208b"},
    {"Dp", "D\u208a"},
    {"Mm", "M\u208b"},
    {"Mp", "M\u208a"},
    {"Dstar", "D\u0303"},
    {"Dc", "Dc"},
    {"Dw", "D\u033d"},
    {"Mc", "Mc"},
    {"lap", "\u0394"},
};

/* Weights of u[i-1], u[i], u[i+1] in row i. */
static void row_of(int kind, const model_axis *a, int i, double w[3])
{
    const bool first = i == 0;
    const bool last = i == a->n - 1;
    const double h = a->h[i];
    const double g = last ? 1 : a->h[i + 1];
    w[0] = w[1] = w[2] = 0;
    switch (kind) {
    case 0:
        w[0] = first ? 0 : -1;
        w[1] = 1;
        break;
    case 1:
    case 2:
        w[1] = -1;
        w[2] = last ? 0 : 1;
        break;
    case 3:
        w[1] = first ? 0 : 1 / h;
        w[0] = -w[1];
        break;
    case 4:
        w[2] = last ? 0 : 1 / a->f[i];
        w[1] = -w[2];
        break;
    case 5:
        w[0] = w[1] = first ? 0 : 0.5;
        break;
    case 6:
        w[1] = w[2] = last ? 0 : 0.5;
        break;
    case 7:
        w[2] = last ? 0 : 1 / a->s[i];
        w[1] = -w[2];
        break;
    case 8:
        w[2] = first || last ? 0 : 1 / (h + g);
        w[0] = -w[2];
        break;
    case 9:
        w[0] = first || last ? 0 : -g / h / (h + g);
        w[2] = first || last ? 0 : h / g / (h + g);
        w[1] = -w[0] - w[2];
        break;
    case 10:
        w[0] = w[2] = first || last ? 0 : 0.25;
        w[1] = 2 * w[0];
        break;
    default:
        w[0] = first || last ? 0 : 1 / h / a->s[i];
        w[2] = last ? 0 : 1 / g / a->s[i];
        w[1] = -w[0] - w[2];
        break;
    }
}

static int unknowns(const model *m)
{
    return m->npoint * m->ncomponent;
}

static expr *expr_new(void)
{
    return calloc(1, sizeof(expr));
}

/* to[p] += c * from[q] */
static void add_row(const model *m, expr *to, int p, double c, const expr *from, int q)
{
    for (int j = 0; j < unknowns(m); j++) {
        to->v[p][j] += c * from->v[q][j];
        to->abs[p][j] += fabs(c) * from->abs[q][j];
    }
}

static expr *along(model *m, expr *e, int kind, int d)
{
    expr *out = expr_new();
    static const char *const raised[3] = {"\u02e3", "\u02b8", "\u1dbb"};
    if (model_below(m, 2) == 0) {
        snprintf(out->text, sizeof(out->text), "%s_%c(%.2000s)", operator_name[kind][0],
                 "xyz"[d], e -> text);
    } else {
        snprintf(out->text, sizeof(out->text), "%s%s(%.2000s)", operator_name[kind][1],
                 raised[d], e->text);
    }
    for (int p = 0; p < m->npoint; p++) {
        double w[3];
        const int i = place(m, p, d);
        row_of(kind, &m->axis[d], i, w);
        for (int k = -1; k <= 1; k++) {
            if (w[k + 1] != 0 && i + k >= 0 && i + k < m->axis[d].n) {
                add_row(m, out, p, w[k + 1], e, p + k * stride(m, d));
            }
        }
    }
    free(e);
    return out;
}

static expr *shifted(model *m, expr *e, int d, int k)
{
    expr *out = expr_new();
    snprintf(out->text, sizeof(out->text), "shift_%c(%.2000s, %d)", "xyz"[d], e -> text,
             k);
    for (int p = 0; p < m->npoint; p++) {
        const int i = place(m, p, d) + k;
        if (i >= 0 && i < m->axis[d].n) {
            add_row(m, out, p, 1, e, p + k * stride(m, d));
        }
    }
    free(e);
    return out;
}

/* A coefficient: its text, its values. */
static void make_field(model *m, char text[64], double value[MODEL_POINTS])
{
    const int kind = model_below(m, 5);
    const int d = model_below(m, m->ndim);
    const int f = model_below(m, MODEL_FIELDS);
    const char axis = "xyz"[d];
    static const char *const texts[] = {"f%d", "(2 + f%d * f%d)", "Mm_%c(f%d)", "%c",
                                        "l"};
    if (kind == 0 || kind == 1) {
        snprintf(text, 64, texts[kind], f, f);
    } else if (kind == 2) {
        snprintf(text, 64, texts[2], axis, f);
    } else {
        snprintf(text, 64, texts[kind], axis);
    }
    for (int p = 0; p < m->npoint; p++) {
        const double v = m->field[f][p];
        const int i = place(m, p, d);
        value[p] = kind == 0   ? v
                   : kind == 1 ? 2 + v * v
                   : kind == 2 ? (i == 0 ? 0 : (m->field[f][p - stride(m, d)] + v) / 2)
                   : kind == 3 ? m->axis[d].x[i]
                               : m->line[place(m, p, 0)];
    }
}

static expr *times_field(model *m, expr *e)
{
    expr *out = expr_new();
    char text[64];
    double value[MODEL_POINTS];
    make_field(m, text, value);
    const bool divide = model_below(m, 6) == 0;
    if (divide) {
        snprintf(out->text, sizeof(out->text), "((%.1900s) / (1 + (%s)^2))", e->text,
                 text);
    } else {
        snprintf(out->text, sizeof(out->text), "(%s * (%.1900s))", text, e->text);
    }
    for (int p = 0; p < m->npoint; p++) {
        add_row(m, out, p, divide ? 1 / (1 + value[p] * value[p]) : value[p], e, p);
    }
    free(e);
    return out;
}

static expr *restricted(model *m, expr *e)
{
    static const char *const labels[] = {"\"p\"", "\"q\"", "\"p\", \"q\""};
    const int which = model_below(m, 3);
    expr *out = expr_new();
    snprintf(out->text, sizeof(out->text), "restrict(%.2000s, %s)", e->text,
             labels[which]);
    for (int p = 0; p < m->npoint; p++) {
        const bool in = (which != 1 && m->mask[0][p]) || (which != 0 && m->mask[1][p]);
        if (in) {
            add_row(m, out, p, 1, e, p);
        }
    }
    free(e);
    return out;
}

/* function: 'u' or 'v' */
static expr *leaf(const model *m, char function, int component, bool named)
{
    expr *out = expr_new();
    if (named) {
        snprintf(out->text, sizeof(out->text), "%c[%d]", function, component);
    } else {
        snprintf(out->text, sizeof(out->text), "%c", function);
    }
    for (int p = 0; p < m->npoint; p++) {
        out->v[p][component * m->npoint + p] = 1;
        out->abs[p][component * m->npoint + p] = 1;
    }
    return out;
}

static expr *make_side(model *m, char function, int depth, bool named);

static expr *make_sum(model *m, char function, int depth, bool named)
{
    expr *a = make_side(m, function, depth, named);
    expr *b = make_side(m, function, depth, named);
    expr *out = expr_new();
    const double c = model_below(m, 2) == 0 ? 2.5 : -0.75;
    snprintf(out->text, sizeof(out->text),
             c > 0 ? "(%.990s + 2.5 * %.990s)" : "(%.990s - 0.75 * %.990s)", a->text,
             b->text);
    for (int p = 0; p < m->npoint; p++) {
        add_row(m, out, p, 1, a, p);
        add_row(m, out, p, c, b, p);
    }
    free(a);
    free(b);
    return out;
}

static expr *make_side(model *m, char function, int depth, bool named)
{
    if (depth == 0) {
        return leaf(m, function, named ? model_below(m, m->ncomponent) : 0, named);
    }
    switch (model_below(m, 9)) {
    case 0:
        return make_sum(m, function, depth - 1, named);
    case 1:
    case 2:
        return times_field(m, make_side(m, function, depth - 1, named));
    case 3:
        return restricted(m, make_side(m, function, depth - 1, named));
    case 4:
        return shifted(m, make_side(m, function, depth - 1, named),
                       model_below(m, m->ndim), model_below(m, 5) - 2);
    default:
        return along(m, make_side(m, function, depth - 1, named),
                     model_below(m, NOPERATOR), model_below(m, m->ndim));
    }
}

/* --- products ----------------------------------------------------------------------- */

static double weight(const model *m, int p, unsigned staggered, int skip)
{
    double w = 1;
    for (int d = 0; d < m->ndim; d++) {
        const int i = place(m, p, d);
        w *= d == skip                    ? 1
             : (staggered >> d & 1u) != 0 ? m->axis[d].a[i]
                                          : m->axis[d].w[i];
    }
    return w;
}

static double face_weight(const model *m, int p, unsigned faces)
{
    double w = 0;
    for (int f = 0; f < 2 * m->ndim; f++) {
        const int end = f % 2 == 0 ? 0 : m->axis[f / 2].n - 1;
        if ((faces >> f & 1u) != 0 && place(m, p, f / 2) == end) {
            w += weight(m, p, 0, f / 2);
        }
    }
    return w;
}

/* matrix += c * V' W U, moved to a diagonal block */
static void add_product(model *m, double c, const double *w, const expr *u,
                        const double *source, const expr *v, int block)
{
    const int n = unknowns(m);
    const int move = block * m->npoint;
    for (int p = 0; p < m->npoint; p++) {
        for (int i = 0; i + move < n; i++) {
            const double left = c * w[p] * v->v[p][i];
            const double size = fabs(c * w[p]) * v->abs[p][i];
            if (source != NULL) {
                m->source[i + move] += left * source[p];
                m->source_scale[i + move] += size * fabs(source[p]);
                continue;
            }
            for (int j = 0; j + move < n && size > 0; j++) {
                m->matrix[i + move][j + move] += left * u->v[p][j];
                m->scale[i + move][j + move] += size * u->abs[p][j];
            }
        }
    }
}

static const char *const face_names[3][6] = {
    {"left", "right"},
    {"left", "right", "bottom", "top"},
    {"back", "front", "left", "right", "bottom", "top"},
};

/* The weight of a product; its word, and the labels behind it. */
static void make_weight(model *m, char word[32], char labels[64], double w[MODEL_POINTS])
{
    static const char *const raised[3] = {"\u02e3", "\u02b8", "\u1dbb"};
    const int kind = model_below(m, 4);
    unsigned staggered = 0;
    unsigned faces = 0;
    labels[0] = '\0';
    if (kind == 0) {
        snprintf(word, 32, "%s", model_below(m, 2) == 0 ? "inner_h" : "inner\u2095");
    } else if (kind < 3) {
        const bool plain = model_below(m, 2) == 0;
        staggered = 1u + (unsigned)model_below(m, (1 << m->ndim) - 1);
        snprintf(word, 32, plain ? "inner_" : "inner\u208a");
        for (int d = 0; d < m->ndim; d++) {
            if ((staggered >> d & 1u) != 0) {
                const char one[2] = {"xyz"[d], '\0'};
                strcat(word, plain ? one : raised[d]);
            }
        }
    } else {
        faces = 1u + (unsigned)model_below(m, (1 << (2 * m->ndim)) - 1);
        snprintf(word, 32, "inner_Gamma");
        for (int f = 0; f < 2 * m->ndim; f++) {
            if ((faces >> f & 1u) != 0) {
                strcat(strcat(strcat(labels, ", \""), face_names[m->ndim - 1][f]), "\"");
            }
        }
    }
    for (int p = 0; p < m->npoint; p++) {
        w[p] = kind == 3 ? face_weight(m, p, faces) : weight(m, p, staggered, -1);
    }
}

static void add_text(model *m, const char *text)
{
    const size_t used = strlen(m->text);
    snprintf(m->text + used, sizeof(m->text) - used, "%s", text);
}

static void make_product(model *m, bool bilinear)
{
    static const struct {
        const char *text;
        double value;
    } factors[] = {{"", 1}, {"2 * ", 2}, {"k * ", 0}, {"-0.5 * ", -0.5}};
    const int f = model_below(m, 4);
    const double c = f == 2 ? m->number : factors[f].value;
    char word[32];
    char labels[128];
    double w[MODEL_POINTS];
    double source[MODEL_POINTS];
    char source_text[64];
    make_weight(m, word, labels, w);
    const bool named = m->ncomponent > 1 && model_below(m, 3) > 0;
    expr *u = bilinear ? make_side(m, 'u', model_below(m, 3), named) : NULL;
    expr *v = make_side(m, 'v', model_below(m, 3), named);
    make_field(m, source_text, source);
    static char text[8192];
    snprintf(text, sizeof(text), "%s%s(%s, %s%s)", factors[f].text, word,
             bilinear ? u->text : source_text, v->text, labels);
    add_text(m, text);
    const int nblock = named ? 1 : m->ncomponent;
    for (int b = 0; b < nblock; b++) {
        add_product(m, c, w, u, bilinear ? NULL : source, v, b);
    }
    free(u);
    free(v);
}

static double rounded(double x, bool single)
{
    return single ? (double)(float)x : x;
}

void model_make(model *m, uint32_t seed, int ndim, int ncomponent, bool bilinear,
                bool single)
{
    static const int sizes[3][3] = {{6, 1, 1}, {5, 4, 1}, {4, 3, 3}};
    memset(m, 0, sizeof(*m));
    m->state = seed;
    m->ndim = ndim;
    m->ncomponent = ncomponent;
    m->npoint = 1;
    for (int d = 0; d < ndim; d++) {
        make_axis(m, &m->axis[d], sizes[ndim - 1][d]);
        m->npoint *= m->axis[d].n;
    }
    for (int p = 0; p < m->npoint; p++) {
        m->field[0][p] = rounded(0.5 + model_random(m), single);
        m->field[1][p] = rounded(model_random(m) - 0.5, single);
        m->mask[0][p] = model_below(m, 2) == 0;
        m->mask[1][p] = model_below(m, 3) == 0;
    }
    for (int i = 0; i < m->axis[0].n; i++) {
        m->line[i] = rounded(model_random(m) + 1, single);
    }
    m->number = 1.25;
    add_text(m, bilinear ? "form a(trial u, test v, " : "form a(test v, ");
    add_text(m, "field f0, field f1, field l[x], real k) =\n    ");
    const int n = 1 + model_below(m, 3);
    for (int i = 0; i < n; i++) {
        add_text(m, i > 0 ? "\n    + " : "");
        make_product(m, bilinear);
    }
    add_text(m, ";\n");
}
