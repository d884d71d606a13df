// SPDX-License-Identifier: Apache-2.0
//
// zlib's C interface, with wrappers of macros, because Swift cannot use those.

#ifndef CZLIB_SHIM_H
#define CZLIB_SHIM_H

#include <zlib.h>

/// Begins to decompress raw deflate data (RFC 1951). zlib's result code.
static inline int CZlib_begin_raw(z_stream *stream) { return inflateInit2(stream, -MAX_WBITS); }

/// Begins to decompress a member of a gzip file (RFC 1952). zlib's result code.
static inline int CZlib_begin_gzip(z_stream *stream) { return inflateInit2(stream, 16 + MAX_WBITS); }

#endif
