// SPDX-License-Identifier: Apache-2.0

/// Says that the rest of a test is not proven here; `make test` repeats it at its end. A whole test is skipped by its traits.
public func reportSkipped(_ proof: String) {
    print("skipped: \(proof)")
}
