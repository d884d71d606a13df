// SPDX-License-Identifier: Apache-2.0

package import Testing
import LinuxSystem

extension Trait where Self == ConditionTrait {
    /// Of a test or a suite that occupies a processor, or waits, for seconds: the short form, `make test SHORT=1`, names
    /// it and leaves it out.
    package static var long: Self {
        .disabled(if: SecureEnvironment.value(of: "LATCHKEY_TEST_SHORT") == "1", "the short form leaves it out")
    }
}
