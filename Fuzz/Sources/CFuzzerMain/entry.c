// SPDX-License-Identifier: Apache-2.0
//
// SwiftPM calls a product's main by the name of its target; libFuzzer's own main would be left out.

#include "CFuzzerMain.h"

int LLVMFuzzerRunDriver(int *argc, char ***argv, int (*callback)(const uint8_t *data, size_t size));
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MAIN_OF(TARGET) \
    int TARGET##_main(int argc, char **argv) { \
        return LLVMFuzzerRunDriver(&argc, &argv, LLVMFuzzerTestOneInput); \
    }

MAIN_OF(WireFuzzer)
MAIN_OF(KeyFuzzer)
MAIN_OF(CertificateFuzzer)
MAIN_OF(MessageFuzzer)
MAIN_OF(CallerFuzzer)
MAIN_OF(PropertyListFuzzer)
MAIN_OF(ScanFuzzer)
MAIN_OF(RequestFuzzer)
MAIN_OF(BackupFuzzer)
MAIN_OF(KeybagFuzzer)
MAIN_OF(TransportFuzzer)
MAIN_OF(TPMFuzzer)
MAIN_OF(ContainerFuzzer)
MAIN_OF(KeyringFuzzer)
MAIN_OF(BusMessageFuzzer)
