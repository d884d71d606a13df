// SPDX-License-Identifier: Apache-2.0

#ifndef CFIDO2_SHIM_H
#define CFIDO2_SHIM_H

#include <fido.h>
#include <fido/es256.h>

#endif
