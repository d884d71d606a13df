// SPDX-License-Identifier: Apache-2.0

@testable import KeychainModel
import Testing

/// The identifiers of errors: their numbers stand in reports and on pages, and stay.
@Suite("Identifiers of errors")
struct ErrorIdentifierTests {
    /// The published identifiers. A line is never changed: a kind of failure that no longer exists moves to
    /// `ErrorIdentifier.retired`, and its number to `retired`.
    private static let published: [(UInt16, ErrorIdentifier)] = [
        (1001, .usage), (1002, .parameter), (1003, .unimplemented), (1004, .noSuchAttribute), (1005, .noSuchClass),
        (1006, .dataTooLarge), (1007, .userCanceled), (1101, .itemNotFound), (1102, .duplicateItem), (1103, .decode),
        (1104, .noSuchKeychain), (1105, .duplicateKeychain), (1106, .invalidKeychain), (1107, .noDefaultKeychain),
        (1108, .unknownFormat), (1109, .invalidData), (1110, .databaseLocked), (1111, .newerVersion), (1201, .locked),
        (1202, .authenticationFailed), (1203, .notInteractive), (1204, .promptEnded), (1205, .passcodeNotSet),
        (1206, .biometryNotAvailable), (1207, .biometryNotEnrolled), (1208, .biometryLockout), (1209, .userFallback),
        (1210, .programEndedPrompt), (1211, .invalidContext), (1212, .authenticationNeeded),
        (1301, .missingEntitlement), (1302, .restrictedAPI), (1401, .notAvailable), (1402, .serviceNotAvailable),
        (1403, .inputOutput), (1404, .diskFull), (1405, .readOnly), (1406, .writePermission), (1407, .outOfMemory),
        (1408, .internalFailure), (1501, .keySizeNotAllowed), (1502, .keyUsageIncorrect), (1503, .verifyFailed),
        (1504, .notTrusted), (1505, .chainIncomplete), (1506, .certificateRejected), (1507, .connectionFailed),
        (1999, .other),
    ]
    private static let retired: Set<UInt16> = []

    @Test("A number that was published keeps its meaning, and no number has two")
    func numbers() {
        for (number, identifier) in Self.published { #expect(identifier.rawValue == number) }
        // Record a new identifier above.
        #expect(Self.published.map(\.1) == ErrorIdentifier.allCases)
        #expect(ErrorIdentifier.retired == Self.retired)
        #expect(ErrorIdentifier.retired.isDisjoint(with: ErrorIdentifier.allCases.map(\.rawValue)))
    }

    @Test("An identifier is read from its text, in upper or lower case, and nothing else is one")
    func texts() {
        #expect(ErrorIdentifier.locked.description == "LK1201")
        for identifier in ErrorIdentifier.allCases {
            #expect(ErrorIdentifier(identifier.description) == identifier)
            #expect(ErrorIdentifier(identifier.description.lowercased()) == identifier)
        }
        for text in ["", "LK", "LK120", "LK12010", "LK0000", "LK+201", "1201", "XX1201", "LK 201", "LK１"] {
            #expect(ErrorIdentifier(text) == nil, "\(text)")
        }
    }

    @Test("Every status has an identifier; those of Latchkey's own failures have one of their own")
    func statuses() {
        for entry in OSStatusCode.all where entry.code != .success {
            let identifier = ErrorIdentifier(entry.code)
            #expect(identifier != .usage)
            #expect(identifier.statuses.isEmpty || identifier.statuses.contains(entry.code), "\(entry.name)")
        }
        #expect(KeychainError.itemNotFound.identifier == .itemNotFound)
        #expect(KeychainError(.notAvailable, "a problem").identifier == .notAvailable)
        #expect(ErrorIdentifier(OSStatusCode(rawValue: -67818)) == .certificateRejected)
        #expect(ErrorIdentifier(OSStatusCode(rawValue: -9807)) == .connectionFailed)
        #expect(ErrorIdentifier(OSStatusCode(rawValue: -1234)) == .other)
    }

    @Test("The identifier of an authentication says why it failed", arguments: AuthenticationFailure.allCases)
    func authentication(_ failure: AuthenticationFailure) {
        let identifier = KeychainError.authentication(failure, "a problem").identifier
        #expect(identifier.statuses == [failure.status])
        let others = AuthenticationFailure.allCases.filter { $0 != failure }
        #expect(others.allSatisfy { KeychainError.authentication($0, "").identifier != identifier })
    }

    @Test("The statuses of an identifier have one exit value")
    func exitValues() {
        for identifier in ErrorIdentifier.allCases {
            #expect(Set(identifier.statuses.map(\.exitCode)).count <= 1, "\(identifier)")
        }
    }
}
