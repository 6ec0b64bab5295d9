/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stubs of the sparse products for a backend that has none of its own: an error that says
 * which slot is missing, of which backend, and what can be loaded instead.
 */
#include "config.h"

#include "libcore/runtime/plugin.h"

static rubus_status missing(const rubus__device *dev, const char *slot, const char *what)
{
    return rubus__fail(
        RUBUS_EUNSUPPORTED,
        "%s: backend '%s' (%s) leaves the slot '%s' empty; take a backend that "
        "fills it (rubus devices shows the slots of each), or a later version "
        "of this plugin",
        what, dev->name, dev->path, slot);
}

rubus_status rubus__stub_spmv(rubus__device *dev, const rubus_csr_desc *a,
                              const rubus_vec *x, const rubus_vec *y, double alpha,
                              double beta)
{
    (void)a;
    (void)x;
    (void)y;
    (void)alpha;
    (void)beta;
    return missing(dev, "spmv", "sparse matrix times vector");
}

rubus_status rubus__stub_spmm(rubus__device *dev, const rubus_csr_desc *a,
                              const rubus_mat *x, const rubus_mat *y, double alpha,
                              double beta)
{
    (void)a;
    (void)x;
    (void)y;
    (void)alpha;
    (void)beta;
    return missing(dev, "spmm", "sparse matrix times dense matrix");
}
