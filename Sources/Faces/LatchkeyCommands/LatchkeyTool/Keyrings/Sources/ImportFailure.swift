// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import SecretServiceClient

/// Errors of a Secret Service as those of a command.
enum ImportFailure {
    static func mapErrors<Value>(
        _ origin: KeyringOrigin, _ body: () throws(SecretServiceClientError) -> Value
    ) throws(CommandFailure) -> Value {
        do throws(SecretServiceClientError) {
            return try body()
        } catch {
            throw .status(KeychainError(status(of: error), "\(origin.name): \(error)", hint: hint(for: error, origin)))
        }
    }

    static func status(of error: SecretServiceClientError) -> OSStatusCode {
        switch error {
        case .bus, .absent, .notEncrypted, .ended, .noAnswer, .refused: .notAvailable
        case .ownService: .param
        case .locked: .interactionNotAllowed
        case .missing: .itemNotFound
        case .malformed: .decode
        case .limitExceeded: .dataTooLarge
        }
    }

    private static func hint(for error: SecretServiceClientError, _ origin: KeyringOrigin) -> String? {
        switch error {
        case .absent, .bus: origin.startHint
        case .ownService: origin.otherBusHint
        case .ended, .noAnswer: "start \(origin.name) again; the same command continues the import"
        case .notEncrypted, .locked, .missing, .malformed, .limitExceeded, .refused: nil
        }
    }
}
