// SPDX-License-Identifier: Apache-2.0

@testable import TransportPolicy

// The parts of a decision that tests compare.

extension TransportDecision {
    /// The code of a refusal.
    var code: Int? { if case .refused(let refusal) = self { refusal.code.rawValue } else { nil } }

    var requirements: TLSRequirements? { if case .secure(let requirements) = self { requirements } else { nil } }
}
