// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import Latchkey

extension FileProtectionClass {
    /// Returns the class that options name; nil if they name none.
    ///
    /// - Throws: for a class that Latchkey does not have.
    static func of(_ options: Data.WritingOptions) throws -> FileProtectionClass? {
        switch options.rawValue & mask {
        case 0: return nil
        case Data.WritingOptions.noFileProtection.rawValue: return FileProtectionClass.none
        case Data.WritingOptions.completeFileProtection.rawValue: return .complete
        case Data.WritingOptions.completeFileProtectionUnlessOpen.rawValue: return .completeUnlessOpen
        case Data.WritingOptions.completeFileProtectionUntilFirstUserAuthentication.rawValue:
            return .completeUntilFirstUserAuthentication
        default: throw unsupported("the option \(options.rawValue & mask)")
        }
    }

    /// Returns the class that attributes name; nil if they name none.
    static func of(_ attributes: [FileAttributeKey: Any]) throws -> FileProtectionClass? {
        guard let value = attributes[.protectionKey] else { return nil }
        let name = (value as? FileProtectionType)?.rawValue ?? value as? String
        guard let known = FileProtectionClass.allCases.first(where: { $0.constant == name }) else {
            throw unsupported("the class \(name ?? "\(value)")")
        }
        return known
    }

    private static func unsupported(_ what: String) -> any Error {
        CocoaError(
            .featureUnsupported, userInfo: [NSLocalizedDescriptionKey: "Latchkey does not support \(what) of files"])
    }

    /// The bits of the classes (NSDataWritingFileProtectionMask).
    private static let mask: UInt = 0xF000_0000
}

extension CocoaError {
    /// The error of a file as Apple's Foundation reports it.
    static func of(_ error: KeychainError, writing: Bool, path: String) -> CocoaError {
        let code: CocoaError.Code =
            switch error.status {
            case .interactionNotAllowed, .missingEntitlement, .authFailed:
                writing ? .fileWriteNoPermission : .fileReadNoPermission
            case .diskFull: .fileWriteOutOfSpace
            case .readOnly: .fileWriteVolumeReadOnly
            case .duplicateItem: .fileWriteFileExists
            case .decode: .fileReadCorruptFile
            case .dataTooLarge: .fileReadTooLarge
            default: writing ? .fileWriteUnknown : .fileReadUnknown
            }
        return CocoaError(
            code,
            userInfo: [
                NSFilePathErrorKey: path, NSUnderlyingErrorKey: error, NSLocalizedDescriptionKey: error.description,
            ])
    }
}

/// Runs `body` with errors of the keychain as those of Foundation.
func asCocoaErrors<Value>(
    _ path: String, writing: Bool, _ body: () throws(KeychainError) -> Value
) throws -> Value {
    do throws(KeychainError) {
        return try body()
    } catch {
        throw CocoaError.of(error, writing: writing, path: path)
    }
}
