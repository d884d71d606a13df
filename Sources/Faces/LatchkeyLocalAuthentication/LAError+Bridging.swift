// SPDX-License-Identifier: Apache-2.0

public import Foundation

// On Linux a cast of a Swift error to NSError normally fails at run time, and so does the reverse.
// A type that conforms to `_ObjectiveCBridgeable` is cast in both directions, by the same part of the
// runtime that casts String to NSString. So every form that apps use works: `catch let error as
// LAError`, `catch let error as NSError`, `catch LAError.userCancel`, and `error as? LAError` of the
// NSError that canEvaluatePolicy stores.

extension LAError: CustomNSError, LocalizedError {
    /// The explanation for the user.
    public var errorDescription: String? { bridged.localizedDescription }
    /// An action or a command for the user; nil if it is not known.
    public var recoverySuggestion: String? { bridged.localizedRecoverySuggestion }
}

extension LAError: _ObjectiveCBridgeable {
    /// The type that errors are cast to.
    public typealias _ObjectType = NSError

    /// Casts the error to NSError.
    public func _bridgeToObjectiveC() -> NSError { bridged }

    /// Casts an NSError of the domain ``LAErrorDomain``.
    public static func _forceBridgeFromObjectiveC(_ source: NSError, result: inout LAError?) {
        result = LAError(source)
    }

    /// Casts an NSError of the domain ``LAErrorDomain``; returns false for any other.
    public static func _conditionallyBridgeFromObjectiveC(_ source: NSError, result: inout LAError?) -> Bool {
        result = LAError(source)
        return result != nil
    }

    /// Casts an NSError. The compiler uses it only where a value is known to be an `LAError`.
    public static func _unconditionallyBridgeFromObjectiveC(_ source: NSError?) -> LAError {
        source.flatMap { LAError($0) } ?? LAError(.authenticationFailed)
    }
}

extension LAError.Code {
    /// Whether an error has this code: `catch LAError.userCancel`.
    public static func ~= (code: LAError.Code, error: any Error) -> Bool {
        (error as? LAError)?.code == code
    }
}
