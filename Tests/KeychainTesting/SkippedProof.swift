// SPDX-License-Identifier: Apache-2.0

/// Reports that the rest of a test is skipped; `make test` repeats the report at its end. A whole
/// test is skipped by its traits.
public func reportSkipped(_ proof: String) {
    print("skipped: \(proof)")
}
