/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUBUS_TOOLS_PEER_H
#define RUBUS_TOOLS_PEER_H
/*
 * What a library fills in to take part in tools/bench-peers. Each becomes a program of
 * its own: threads of different kinds would disturb each other in one process.
 */
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Compressed rows, indices from 0, columns ascending. */
typedef struct peer_csr {
    int32_t nrow;
    int32_t ncol;
    int32_t nnz;
    int32_t *rowptr;
    int32_t *colval;
    double *nzval;
} peer_csr;

/* --- in each peer_NAME.c; what can fail returns 0, or prints why to stderr ---------- */

/* Starts the library with so many threads (or processes, which all run the program). */
int peer_begin(int *argc, char ***argv, int threads);
/* Takes the matrix over in its own way; the arrays stay until peer_end. */
int peer_create(const peer_csr *a);
/* Takes x [ncol][k]; k is 1, or x is by rows (else by columns). PEER_NOT_OFFERED if the
 * library has no such product. */
int peer_load(const double *x, int k, int by_rows);
/* y = A x, `repeat` times; done when it returns. */
int peer_run(int repeat);
/* Gives y [nrow][k] back, rows *low to *high - 1 of it (all, but for processes). */
int peer_store(double *y, int32_t *low, int32_t *high);
/* Whether this process is the one that prints. */
int peer_speaks(void);
void peer_end(void);

#define PEER_NOT_OFFERED 99

#ifdef __cplusplus
}
#endif
#endif
