// SPDX-License-Identifier: Apache-2.0

import Testing

/// The proofs that start, race and kill many processes. They run one after the other, so that none
/// slows down the workers of another.
@Suite("Proofs with processes", .serialized)
enum ProcessProofs {}

/// The proofs that start and end daemons. They run one after the other, beside those above: each has
/// few processes.
@Suite("Proofs with daemons", .serialized)
enum DaemonProofs {}
