// SPDX-License-Identifier: Apache-2.0

#ifndef CFUZZERMAIN_H
#define CFUZZERMAIN_H

#include <stddef.h>
#include <stdint.h>

/// Runs libFuzzer on LLVMFuzzerTestOneInput.
int WireFuzzer_main(int argc, char **argv);

#endif
