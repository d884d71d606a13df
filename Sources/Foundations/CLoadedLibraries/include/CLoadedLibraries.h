// SPDX-License-Identifier: Apache-2.0
//
// Libraries that few calls need. The first of these calls opens them. The executable has functions with the names of
// the libraries' functions, and each jumps to the function of its library.

#ifndef CLOADEDLIBRARIES_H
#define CLOADEDLIBRARIES_H

/// Opens libfido2, if it is not open. NULL, or why it cannot be opened, in a text that is valid until the next call of this
/// thread. A call of a function without it ends the process with this text.
const char *latchkey_load_fido2(void);

/// The same for the libraries of tpm2-tss: libtss2-esys and libtss2-mu.
const char *latchkey_load_tss2(void);

/// The same for libsystemd, for its sd-bus.
const char *latchkey_load_systemd(void);

#endif
