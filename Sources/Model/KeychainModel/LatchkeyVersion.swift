// SPDX-License-Identifier: Apache-2.0

/// The version of Latchkey, as `latchkey --version` and `latchkeyd --version` print it. A tag has the same number. This
/// is the only place of the version in the sources.
package enum LatchkeyVersion {
    package static let current = "0.1.0"
}
