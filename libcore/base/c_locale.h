/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUBUS_C_LOCALE_H
#define RUBUS_C_LOCALE_H
/* The C locale as an object, for calls that take one. Only the ground layer uses it. */
#include <locale.h>

/* (locale_t)0 only if it could not be made, for want of memory. Never freed. */
locale_t rubus__c_locale(void);

#endif
