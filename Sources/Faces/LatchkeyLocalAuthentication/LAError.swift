// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// Why an authentication failed.
///
/// ```swift
/// do {
///     try await context.evaluatePolicy(.deviceOwnerAuthentication, localizedReason: "Show the notes")
/// } catch LAError.userCancel {
///     return
/// } catch let error as LAError {
///     show(error.localizedDescription, code: error.code)
/// }
/// ```
///
/// An error can be cast to `NSError` and back, as on Apple's platforms; see `LAError+Bridging.swift`.
public struct LAError: Error, Hashable {
    /// The error in the form that Foundation passes on.
    let bridged: NSError
    /// The reason.
    public let code: Code

    /// Creates an error, as tests of apps do.
    public init(_ code: Code, userInfo: [String: Any] = [:]) {
        self.code = code
        var userInfo = userInfo
        if userInfo[NSLocalizedDescriptionKey] == nil { userInfo[NSLocalizedDescriptionKey] = code.message }
        bridged = NSError(domain: LAErrorDomain, code: code.rawValue, userInfo: userInfo)
    }

    /// Creates an error with an explanation.
    ///
    /// - Parameters:
    ///   - problem: the expected and the actual state.
    ///   - hint: an action or a command for the user.
    init(_ code: Code, _ problem: String, hint: String? = nil) {
        var userInfo: [String: Any] = [NSLocalizedDescriptionKey: problem]
        userInfo[NSLocalizedRecoverySuggestionErrorKey] = hint
        self.init(code, userInfo: userInfo)
    }

    /// The values of an NSError; nil if it has another domain or an unknown code.
    init?(_ error: NSError) {
        guard error.domain == LAErrorDomain, let code = Code(rawValue: error.code) else { return nil }
        self.code = code
        bridged = error
    }

    /// Creates an error from Foundation's form of it, as Swift's imported errors have it. An error of
    /// another domain, or with an unknown code, has the code ``Code/authenticationFailed`` and keeps
    /// its own values in Foundation's form.
    public init(_nsError error: NSError) {
        code = Self(error)?.code ?? .authenticationFailed
        bridged = error
    }

    /// The error in Foundation's form.
    public var _nsError: NSError { bridged }

    /// The domain, ``LAErrorDomain``.
    public static var errorDomain: String { LAErrorDomain }
    /// The code as a number.
    public var errorCode: Int { code.rawValue }
    /// The texts of the error, by Foundation's keys.
    public var userInfo: [String: Any] { bridged.userInfo }
    /// The texts of the error, by Foundation's keys.
    public var errorUserInfo: [String: Any] { bridged.userInfo }
    /// The explanation for the user.
    public var localizedDescription: String { bridged.localizedDescription }

    /// Whether both have the same code and the same texts.
    public static func == (one: LAError, other: LAError) -> Bool { one.bridged.isEqual(other.bridged) }

    /// Hashes the code.
    public func hash(into hasher: inout Hasher) { hasher.combine(code) }

    /// The reasons. The raw values are Apple's.
    public enum Code: Int, Sendable {
        /// The person did not give the requested proof.
        case authenticationFailed = -1
        /// The person cancelled the prompt.
        case userCancel = -2
        /// The person chose the fallback instead of biometry.
        case userFallback = -3
        /// The prompt ended without the person: by its timeout, or because the keychain was locked.
        case systemCancel = -4
        /// The keychain has no passcode.
        case passcodeNotSet = -5
        /// There is no fingerprint sensor, or it cannot be used.
        case biometryNotAvailable = -6
        /// No finger is enrolled.
        case biometryNotEnrolled = -7
        /// Biometry is locked until the passcode is given, after too many misses.
        case biometryLockout = -8
        /// The program invalidated the context during the prompt.
        case appCancel = -9
        /// The context was invalidated before the call.
        case invalidContext = -10
        /// No other device of the owner can authenticate; for
        /// `LAPolicy.latchkeySecurityKey`, no security key is enrolled.
        case companionNotAvailable = -11
        /// No removable sensor is paired; never on Linux.
        case biometryNotPaired = -12
        /// The paired sensor is not connected; never on Linux.
        case biometryDisconnected = -13
        /// The user interface has no valid size; never on Linux.
        case invalidDimensions = -14
        /// The person cannot be asked: there is no terminal or display, or the program forbids it.
        case notInteractive = -1004

        /// The older name of ``biometryNotAvailable``.
        public static let touchIDNotAvailable = biometryNotAvailable
        /// The older name of ``biometryNotEnrolled``.
        public static let touchIDNotEnrolled = biometryNotEnrolled
        /// The older name of ``biometryLockout``.
        public static let touchIDLockout = biometryLockout
        /// The older name of ``companionNotAvailable``.
        public static let watchNotAvailable = companionNotAvailable
    }
}

// MARK: Codes by the name of the error

extension LAError {
    /// See ``Code/authenticationFailed``.
    public static var authenticationFailed: Code { .authenticationFailed }
    /// See ``Code/userCancel``.
    public static var userCancel: Code { .userCancel }
    /// See ``Code/userFallback``.
    public static var userFallback: Code { .userFallback }
    /// See ``Code/systemCancel``.
    public static var systemCancel: Code { .systemCancel }
    /// See ``Code/passcodeNotSet``.
    public static var passcodeNotSet: Code { .passcodeNotSet }
    /// See ``Code/biometryNotAvailable``.
    public static var biometryNotAvailable: Code { .biometryNotAvailable }
    /// See ``Code/biometryNotEnrolled``.
    public static var biometryNotEnrolled: Code { .biometryNotEnrolled }
    /// See ``Code/biometryLockout``.
    public static var biometryLockout: Code { .biometryLockout }
    /// See ``Code/biometryNotAvailable``.
    public static var touchIDNotAvailable: Code { .biometryNotAvailable }
    /// See ``Code/biometryNotEnrolled``.
    public static var touchIDNotEnrolled: Code { .biometryNotEnrolled }
    /// See ``Code/biometryLockout``.
    public static var touchIDLockout: Code { .biometryLockout }
    /// See ``Code/appCancel``.
    public static var appCancel: Code { .appCancel }
    /// See ``Code/invalidContext``.
    public static var invalidContext: Code { .invalidContext }
    /// See ``Code/companionNotAvailable``.
    public static var watchNotAvailable: Code { .companionNotAvailable }
    /// See ``Code/companionNotAvailable``.
    public static var companionNotAvailable: Code { .companionNotAvailable }
    /// See ``Code/biometryNotPaired``.
    public static var biometryNotPaired: Code { .biometryNotPaired }
    /// See ``Code/biometryDisconnected``.
    public static var biometryDisconnected: Code { .biometryDisconnected }
    /// See ``Code/invalidDimensions``.
    public static var invalidDimensions: Code { .invalidDimensions }
    /// See ``Code/notInteractive``.
    public static var notInteractive: Code { .notInteractive }
}

extension LAError.Code {
    /// The explanation of an error without one of its own.
    var message: String {
        switch self {
        case .authenticationFailed: "the person did not authenticate"
        case .userCancel: "the person cancelled the authentication"
        case .userFallback: "the person chose another way to authenticate"
        case .systemCancel: "the authentication ended without the person"
        case .passcodeNotSet: "the keychain has no passcode"
        case .biometryNotAvailable: "biometry is not available"
        case .biometryNotEnrolled: "no biometry is enrolled"
        case .biometryLockout: "biometry is locked after too many misses"
        case .appCancel: "the program cancelled the authentication"
        case .invalidContext: "the authentication context was invalidated"
        case .companionNotAvailable: "no other device can authenticate"
        case .biometryNotPaired: "no removable sensor is paired"
        case .biometryDisconnected: "the paired sensor is not connected"
        case .invalidDimensions: "the user interface has no valid size"
        case .notInteractive: "the person cannot be asked"
        }
    }
}
