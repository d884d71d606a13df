// SPDX-License-Identifier: Apache-2.0

import Testing

/// The proofs that start, race and kill many processes: one after the other, so that none starves the others' workers.
@Suite("Proofs with processes", .serialized)
enum ProcessProofs {}
