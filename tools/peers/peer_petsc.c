/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PETSc, whose processes share the rows out: this program runs in as many as there are
 * threads elsewhere. The formats AIJ, and with PEER_SELL sliced ELLPACK.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <petscmat.h>

#include "peer.h"

static Mat matrix;
static Vec x;
static Vec y;
static Mat xm;
static Mat ym;
static PetscInt row_low;
static PetscInt row_high;
static PetscInt col_low;
static PetscInt col_high;
static PetscInt nrow;
static PetscInt ncol;
static int width;

static int failed(PetscErrorCode error)
{
    if (error != 0) {
        fprintf(stderr, "PETSc: error %d\n", (int)error);
    }
    return error != 0;
}

int peer_begin(int *argc, char ***argv, int threads)
{
    // words of our own are no options
    (void)argv;
    (void)threads;
    int none = 1;
    char *name[] = {(char *)(uintptr_t) "peer", NULL};
    char **names = name;
    (void)argc;
    return failed(PetscInitialize(&none, &names, NULL, NULL));
}

static PetscInt share(PetscInt n, int rank, int size)
{
    return (PetscInt)((int64_t)n * rank / size);
}

/* The rows of this process, pointers from 0. */
static int create_rows(const peer_csr *a)
{
    const PetscInt n = row_high - row_low;
    const PetscInt first = a->rowptr[row_low];
    PetscInt *pointer = malloc(((size_t)n + 1) * sizeof *pointer);
    PetscInt *index = malloc((size_t)(a->rowptr[row_high] - first) * sizeof *index + 1);
    if (pointer == NULL || index == NULL) {
        return 1;
    }
    for (PetscInt i = 0; i <= n; i++) {
        pointer[i] = a->rowptr[row_low + i] - first;
    }
    for (PetscInt k = 0; k < pointer[n]; k++) {
        index[k] = a->colval[first + k];
    }
    const int bad = failed(
        MatCreateMPIAIJWithArrays(PETSC_COMM_WORLD, n, col_high - col_low, nrow, ncol,
                                  pointer, index, a->nzval + first, &matrix));
    free(pointer);
    free(index);
    return bad;
}

int peer_create(const peer_csr *a)
{
    int rank = 0;
    int size = 1;
    MPI_Comm_rank(PETSC_COMM_WORLD, &rank);
    MPI_Comm_size(PETSC_COMM_WORLD, &size);
    nrow = a->nrow;
    ncol = a->ncol;
    row_low = share(nrow, rank, size);
    row_high = share(nrow, rank + 1, size);
    col_low = share(ncol, rank, size);
    col_high = share(ncol, rank + 1, size);
    if (create_rows(a) != 0) {
        return 1;
    }
#ifdef PEER_SELL
    for (PetscInt i = 0; i < nrow; i++) {
        if (a->rowptr[i + 1] - a->rowptr[i] > 100000) {
            return PEER_NOT_OFFERED; // eight rows would be as long as this one
        }
    }
    if (failed(MatConvert(matrix, MATSELL, MAT_INPLACE_MATRIX, &matrix))) {
        return 1;
    }
#endif
    return failed(MatCreateVecs(matrix, &x, &y));
}

static int load_columns(const double *from)
{
    double *local = NULL;
    PetscInt ld = 0;
    if (failed(MatCreateDense(PETSC_COMM_WORLD, col_high - col_low, PETSC_DECIDE, ncol,
                              width, NULL, &xm)) ||
        failed(MatDenseGetLDA(xm, &ld)) || failed(MatDenseGetArray(xm, &local))) {
        return 1;
    }
    for (int j = 0; j < width; j++) {
        memcpy(local + (size_t)j * (size_t)ld, from + (size_t)j * (size_t)ncol + col_low,
               (size_t)(col_high - col_low) * sizeof *local);
    }
    return failed(MatDenseRestoreArray(xm, &local)) ||
           failed(MatAssemblyBegin(xm, MAT_FINAL_ASSEMBLY)) ||
           failed(MatAssemblyEnd(xm, MAT_FINAL_ASSEMBLY)) ||
           failed(MatMatMult(matrix, xm, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &ym));
}

int peer_load(const double *from, int k, int by_rows)
{
    width = k;
    if (k > 1) {
#ifdef PEER_SELL
        return PEER_NOT_OFFERED;
#endif
        return by_rows ? PEER_NOT_OFFERED : load_columns(from);
    }
    double *local = NULL;
    if (failed(VecGetArrayWrite(x, &local))) {
        return 1;
    }
    memcpy(local, from + col_low, (size_t)(col_high - col_low) * sizeof *local);
    return failed(VecRestoreArrayWrite(x, &local));
}

int peer_run(int repeat)
{
    MPI_Barrier(PETSC_COMM_WORLD);
    for (int r = 0; r < repeat; r++) {
        const PetscErrorCode error =
            width == 1 ? MatMult(matrix, x, y)
                       : MatMatMult(matrix, xm, MAT_REUSE_MATRIX, PETSC_DEFAULT, &ym);
        if (failed(error)) {
            return 1;
        }
    }
    MPI_Barrier(PETSC_COMM_WORLD);
    return 0;
}

int peer_store(double *to, int32_t *low, int32_t *high)
{
    *low = (int32_t)row_low;
    *high = (int32_t)row_high;
    const size_t size = (size_t)(row_high - row_low) * sizeof *to;
    const double *local = NULL;
    if (width == 1) {
        if (failed(VecGetArrayRead(y, &local))) {
            return 1;
        }
        memcpy(to + row_low, local, size);
        return failed(VecRestoreArrayRead(y, &local));
    }
    PetscInt ld = 0;
    if (failed(MatDenseGetLDA(ym, &ld)) || failed(MatDenseGetArrayRead(ym, &local))) {
        return 1;
    }
    for (int j = 0; j < width; j++) {
        memcpy(to + (size_t)j * (size_t)nrow + row_low, local + (size_t)j * (size_t)ld,
               size);
    }
    return failed(MatDenseRestoreArrayRead(ym, &local));
}

int peer_speaks(void)
{
    int rank = 0;
    MPI_Comm_rank(PETSC_COMM_WORLD, &rank);
    return rank == 0;
}

void peer_end(void)
{
    MatDestroy(&matrix);
    MatDestroy(&xm);
    MatDestroy(&ym);
    VecDestroy(&x);
    VecDestroy(&y);
    PetscFinalize();
}
