// SPDX-License-Identifier: Apache-2.0

import Security

/// Describes structures of Security. If the program and the module disagree about the layout of one, the values are
/// wrong; the sizes are those of the module that runs.
func versionCheck() -> String {
    var settings = [SecKeychainSettings](
        repeating: SecKeychainSettings(version: 1, lockOnSleep: false, useLockInterval: true, lockInterval: 300),
        count: 2)
    settings[1].lockInterval = 600
    let fields = settings.map { "\($0.version) \($0.lockOnSleep) \($0.useLockInterval) \($0.lockInterval)" }

    let attributes = [1, 2].map { SecKeychainAttribute(tag: $0, length: 10 * $0, data: nil) }
    let tags = attributes.map { "\($0.tag) \($0.length)" }

    let algorithm = SecKeyAlgorithm.ecdsaSignatureMessageX962SHA256.rawValue as String
    let sizes = [MemoryLayout<SecKeychainSettings>.size, MemoryLayout<SecKeychainAttribute>.size]
    return "version-check: settings \(fields.joined(separator: ", ")); attributes \(tags.joined(separator: ", ")); "
        + "algorithm \(algorithm); sizes \(sizes[0]) \(sizes[1])"
}
