// SPDX-License-Identifier: Apache-2.0

import Testing

/// The proofs that start, race and kill many processes. They run one after the other, so that none
/// slows down the workers of another.
@Suite("Proofs with processes", .serialized)
enum ProcessProofs {}
