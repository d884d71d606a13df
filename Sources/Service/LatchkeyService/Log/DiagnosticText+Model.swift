// SPDX-License-Identifier: Apache-2.0

package import KeychainModel
package import LinuxSystem

/// The closed types of the model in reports and in the debug log: their words are those of the sources.
extension DiagnosticText.Interpolation {
    /// Appends the identifier of the error and its status, without its problem and its item, because these have paths
    /// and names.
    package mutating func appendInterpolation(_ error: KeychainError) {
        appendInterpolation(error.identifier)
        appendLiteral(" ")
        appendInterpolation(error.status)
    }

    package mutating func appendInterpolation(_ identifier: ErrorIdentifier) {
        appendLiteral("LK")
        appendInterpolation(identifier.rawValue)
    }

    package mutating func appendInterpolation(_ status: OSStatusCode) {
        // The names are those of the table; a number without a name stays a number.
        guard let name = status.name else { return appendInterpolation(status.rawValue) }
        appendInterpolation(DiagnosticText(unchecked: name))
    }

    package mutating func appendInterpolation(_ mode: KeychainStatus.Mode) {
        appendInterpolation(DiagnosticText(unchecked: mode.rawValue))
    }

    package mutating func appendInterpolation(_ root: KeychainStatus.Root) {
        appendInterpolation(DiagnosticText(unchecked: root.rawValue))
    }

    package mutating func appendInterpolation(_ state: LockState) {
        appendInterpolation(DiagnosticText(unchecked: state.rawValue))
    }

    package mutating func appendInterpolation(_ itemClass: ItemClass) {
        appendInterpolation(DiagnosticText(unchecked: itemClass.rawValue))
    }

    package mutating func appendInterpolation(_ protection: ProtectionClass) {
        appendInterpolation(DiagnosticText(unchecked: protection.name))
    }
}
