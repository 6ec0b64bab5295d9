/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUBUS_RUBUS_H
#define RUBUS_RUBUS_H
/** All of the public interface but backend.h, which is for authors of plugins. */
#include <rubus/array.h>
#include <rubus/compile.h>
#include <rubus/context.h>
#include <rubus/form.h>
#include <rubus/kernel.h>
#include <rubus/kronecker.h>
#include <rubus/matrix_market.h>
#include <rubus/mesh.h>
#include <rubus/operator.h>
#include <rubus/output.h>
#include <rubus/set.h>
#include <rubus/solve.h>
#include <rubus/space.h>
#include <rubus/sparse.h>
#include <rubus/status.h>
#include <rubus/types.h>
#endif
