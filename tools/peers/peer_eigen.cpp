/* SPDX-License-Identifier: Apache-2.0 */
/* Eigen: a sparse matrix stored by rows, whose products run on threads of OpenMP. */
#include <Eigen/Dense>
#include <Eigen/Sparse>

#include "peer.h"

using sparse = Eigen::SparseMatrix<double, Eigen::RowMajor, int32_t>;
using by_row = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

static sparse matrix;
static Eigen::VectorXd xv, yv;
static Eigen::MatrixXd xc, yc;
static by_row xr, yr;
static int width;
static int rows_first;

int peer_begin(int *, char ***, int threads)
{
    Eigen::setNbThreads(threads);
    return 0;
}

int peer_create(const peer_csr *a)
{
    matrix = Eigen::Map<const sparse>(a->nrow, a->ncol, a->nnz, a->rowptr, a->colval,
                                      a->nzval);
    return 0;
}

int peer_load(const double *from, int k, int by_rows)
{
    width = k;
    rows_first = by_rows;
    const Eigen::Index n = matrix.cols();
    if (k == 1) {
        xv = Eigen::Map<const Eigen::VectorXd>(from, n);
        yv.resize(matrix.rows());
    } else if (by_rows) {
        xr = Eigen::Map<const by_row>(from, n, k);
        yr.resize(matrix.rows(), k);
    } else {
        xc = Eigen::Map<const Eigen::MatrixXd>(from, n, k);
        yc.resize(matrix.rows(), k);
    }
    return 0;
}

int peer_run(int repeat)
{
    for (int r = 0; r < repeat; r++) {
        if (width == 1) {
            yv.noalias() = matrix * xv;
        } else if (rows_first) {
            yr.noalias() = matrix * xr;
        } else {
            yc.noalias() = matrix * xc;
        }
    }
    return 0;
}

int peer_store(double *to, int32_t *low, int32_t *high)
{
    const Eigen::Index n = matrix.rows();
    if (width == 1) {
        Eigen::Map<Eigen::VectorXd>(to, n) = yv;
    } else if (rows_first) {
        Eigen::Map<by_row>(to, n, width) = yr;
    } else {
        Eigen::Map<Eigen::MatrixXd>(to, n, width) = yc;
    }
    *low = 0;
    *high = (int32_t)n;
    return 0;
}

int peer_speaks(void)
{
    return 1;
}

void peer_end(void)
{
}
