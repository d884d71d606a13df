// SPDX-License-Identifier: Apache-2.0

/// A kind of failure, with a number that is never given to another one. `latchkey` prints it as
/// `LK1201`, and `latchkey explain` explains each.
///
/// It follows from the fields of an error that travel between processes, so that a failure has the same identifier with
/// and without a daemon. It states the kind; the message of the error states the case of that kind, and what was found.
package enum ErrorIdentifier: UInt16, CaseIterable, Hashable, Sendable {
    // The command line and the values of a request.
    case usage = 1001
    case parameter = 1002
    case unimplemented = 1003
    case noSuchAttribute = 1004
    case noSuchClass = 1005
    case dataTooLarge = 1006
    case userCanceled = 1007
    // Items and keychains.
    case itemNotFound = 1101
    case duplicateItem = 1102
    case decode = 1103
    case noSuchKeychain = 1104
    case duplicateKeychain = 1105
    case invalidKeychain = 1106
    case noDefaultKeychain = 1107
    case unknownFormat = 1108
    case invalidData = 1109
    case databaseLocked = 1110
    case newerVersion = 1111
    // The lock, and the person.
    case locked = 1201
    case authenticationFailed = 1202
    case notInteractive = 1203
    case promptEnded = 1204
    case passcodeNotSet = 1205
    case biometryNotAvailable = 1206
    case biometryNotEnrolled = 1207
    case biometryLockout = 1208
    case userFallback = 1209
    case programEndedPrompt = 1210
    case invalidContext = 1211
    case authenticationNeeded = 1212
    // Access.
    case missingEntitlement = 1301
    case restrictedAPI = 1302
    // The machine.
    case notAvailable = 1401
    case serviceNotAvailable = 1402
    case inputOutput = 1403
    case diskFull = 1404
    case readOnly = 1405
    case writePermission = 1406
    case outOfMemory = 1407
    case internalFailure = 1408
    // Keys, certificates and connections.
    case keySizeNotAllowed = 1501
    case keyUsageIncorrect = 1502
    case verifyFailed = 1503
    case notTrusted = 1504
    case chainIncomplete = 1505
    case certificateRejected = 1506
    case connectionFailed = 1507
    // Everything else.
    case other = 1999

    /// The numbers of identifiers that no version has any more. They are not used again.
    package static let retired: Set<UInt16> = []

    /// The identifier with this text, as `LK1201`; upper and lower case are the same.
    package init?(_ text: String) {
        guard text.utf8.count == 6, text.prefix(2).uppercased() == "LK", let number = UInt16(text.dropFirst(2)) else {
            return nil
        }
        self.init(rawValue: number)
    }

    /// The statuses that have this identifier, without the many of ``certificateRejected``, ``connectionFailed`` and
    /// ``other``.
    package var statuses: [OSStatusCode] {
        switch self {
        case .parameter: [.param]
        case .unimplemented: [.unimplemented]
        case .noSuchAttribute: [.noSuchAttribute]
        case .noSuchClass: [.noSuchClass]
        case .dataTooLarge: [.dataTooLarge]
        case .userCanceled: [.userCanceled]
        case .itemNotFound: [.itemNotFound]
        case .duplicateItem: [.duplicateItem]
        case .decode: [.decode]
        case .noSuchKeychain: [.noSuchKeychain]
        case .duplicateKeychain: [.duplicateKeychain]
        case .invalidKeychain: [.invalidKeychain]
        case .noDefaultKeychain: [.noDefaultKeychain]
        case .unknownFormat: [.unknownFormat]
        case .invalidData: [.invalidData]
        case .databaseLocked: [.databaseLocked]
        case .newerVersion: [.wrongSecVersion]
        case .locked: [.interactionNotAllowed]
        case .authenticationFailed: [.authFailed]
        case .authenticationNeeded: [.authNeeded]
        case .missingEntitlement: [.missingEntitlement]
        case .restrictedAPI: [.restrictedAPI]
        case .notAvailable: [.notAvailable]
        case .serviceNotAvailable: [.serviceNotAvailable]
        case .inputOutput: [.io]
        case .diskFull: [.diskFull]
        case .readOnly: [.readOnly]
        case .writePermission: [.writePermission]
        case .outOfMemory: [.allocate]
        case .internalFailure: [.internalFailure]
        case .keySizeNotAllowed: [.keySizeNotAllowed]
        case .keyUsageIncorrect: [.keyUsageIncorrect]
        case .verifyFailed: [.verifyFailed]
        case .notTrusted: [.notTrusted]
        case .chainIncomplete: [.createChainFailed]
        case .notInteractive: [.interactionNotAllowed]
        case .promptEnded, .passcodeNotSet, .biometryNotAvailable, .biometryNotEnrolled, .biometryLockout,
            .userFallback, .programEndedPrompt, .invalidContext:
            [.authFailed]
        case .usage, .certificateRejected, .connectionFailed, .other: []
        }
    }
}

extension ErrorIdentifier: CustomStringConvertible {
    /// `LK` and the number.
    package var description: String { "LK\(rawValue)" }
}

// MARK: - Of an error

extension KeychainError {
    /// The kind of failure.
    package var identifier: ErrorIdentifier {
        guard case .failed(let failure)? = authentication else { return ErrorIdentifier(status) }
        return ErrorIdentifier(failure)
    }
}

extension ErrorIdentifier {
    /// The identifier of an error that has only a status.
    package init(_ status: OSStatusCode) {
        self = Self.byStatus[status] ?? Self.group(of: status)
    }

    /// The identifier of an authentication that failed.
    init(_ failure: AuthenticationFailure) {
        self =
            switch failure {
            case .failed: .authenticationFailed
            case .userCancel: .userCanceled
            case .userFallback: .userFallback
            case .systemCancel: .promptEnded
            case .passcodeNotSet: .passcodeNotSet
            case .biometryNotAvailable: .biometryNotAvailable
            case .biometryNotEnrolled: .biometryNotEnrolled
            case .biometryLockout: .biometryLockout
            case .appCancel: .programEndedPrompt
            case .invalidContext: .invalidContext
            case .notInteractive: .notInteractive
            }
    }

    /// The first identifier of each status: those of authentications come later.
    private static let byStatus: [OSStatusCode: ErrorIdentifier] = Dictionary(
        allCases.flatMap { identifier in identifier.statuses.map { ($0, identifier) } },
        uniquingKeysWith: { first, _ in first })

    private static func group(of status: OSStatusCode) -> ErrorIdentifier {
        guard let name = status.name else { return .other }
        if name.hasPrefix("errSSL") { return .connectionFailed }
        return certificateWords.contains { name.contains($0) } ? .certificateRejected : .other
    }

    /// Words in the names of statuses that are about certificates.
    private static let certificateWords = ["Cert", "CRL", "OCSP", "Timestamp", "Revocation", "Trust", "HostName"]
}
