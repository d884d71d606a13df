// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel

/// How the person can be asked from this process, in the shape of the JSON of `latchkey status`.
struct PresenceReport: Encodable {
    /// Every method, best first.
    var methods: [Method]
    /// `available`, `needs-passcode`, `locked-out`, `not-enrolled` or `not-available`.
    var biometry: String
    /// The command that makes biometry usable again; absent if biometry can be used, or if the command is not known.
    var biometryHint: String?
    /// The number of enrolled security keys.
    var securityKeys: Int

    struct Method: Encodable {
        var name: String
        /// The factors that the method asks for, in words.
        var factors: [String]
        var available: Bool
        /// Why the method cannot ask; absent if it can.
        var problem: String?
        /// The remedy for the problem.
        var hint: String?
    }

    init(_ status: PresenceStatus) {
        methods = status.methods.map {
            Method(
                name: $0.name, factors: $0.factors, available: $0.problem == nil, problem: $0.problem, hint: $0.hint)
        }
        biometry =
            switch status.biometry {
            case .available: "available"
            case .needsPasscode: "needs-passcode"
            case .lockedOut: "locked-out"
            case .notEnrolled: "not-enrolled"
            case .notAvailable: "not-available"
            }
        switch status.biometry {
        case .needsPasscode: biometryHint = status.hasPasscode ? "latchkey unlock" : "latchkey passcode set"
        case .lockedOut: biometryHint = "latchkey unlock"
        case .available, .notEnrolled, .notAvailable: break
        }
        securityKeys = status.securityKeys
    }

    /// The rows of the text; only the first has a name.
    var rows: [(name: String, value: String)] {
        var values = methods.flatMap { method -> [String] in
            guard let problem = method.problem else {
                return ["\(method.name) asks for \(method.factors.joined(separator: ", "))"]
            }
            return ["\(method.name): \(problem)"] + (method.hint.map { ["  hint: \($0)"] } ?? [])
        }
        if values.isEmpty { values.append("no method: items with an access control cannot be opened from here") }
        values.append("biometry \(Self.words[biometry] ?? biometry); security keys enrolled: \(securityKeys)")
        if let biometryHint { values.append("  hint: \(biometryHint)") }
        return values.enumerated().map { ($0 == 0 ? "presence" : "", $1) }
    }

    private static let words = [
        "available": "can be used", "needs-passcode": "needs the passcode once",
        "locked-out": "is locked until the passcode is given",
        "not-enrolled": "is not enrolled", "not-available": "is not available",
    ]
}
