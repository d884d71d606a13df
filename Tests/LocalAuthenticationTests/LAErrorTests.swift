// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainModel
import LocalAuthentication
import Testing

/// The casts and patterns that apps use to read errors. On Linux they depend on the declaration of `LAError`.
@Suite("LAError")
struct LAErrorTests {
    @Test("A thrown LAError is caught as LAError, as NSError and by its code")
    func catching() {
        let error: any Error = LAError(.userCancel)
        do { throw error } catch let caught as LAError { #expect(caught.code == .userCancel) } catch {
            Issue.record("not caught as LAError")
        }
        do { throw error } catch let caught as NSError {
            #expect(caught.domain == LAErrorDomain && caught.code == -2)
        }
        do { throw error } catch LAError.userCancel {} catch { Issue.record("not caught by its code") }
        do { throw error } catch LAError.appCancel { Issue.record("caught by another code") } catch {}
        do { throw error } catch let caught as LAError where caught.code == .userCancel {} catch {
            Issue.record("not caught by a condition")
        }
    }

    @Test("An LAError is cast to NSError and back, also as an optional and as Any")
    func casting() {
        let error: (any Error)? = LAError(.biometryLockout)
        #expect((error as? LAError)?.code == .biometryLockout)
        #expect((error as NSError?)?.code == -8)
        #expect((error as Any as? NSError)?.domain == "com.apple.LocalAuthentication")
        #expect(error.map { ($0 as NSError).code } == -8)
        #expect(error?._code == -8)
        let stored: NSError? = NSError(domain: LAErrorDomain, code: -7)
        #expect((stored as? LAError)?.code == .biometryNotEnrolled)
        #expect((stored as (any Error)? as? LAError)?.code == .biometryNotEnrolled)
        if case LAError.biometryNotEnrolled? = stored as (any Error)? {} else { Issue.record("no match by pattern") }
    }

    @Test("An NSError of another domain or with an unknown code is not an LAError")
    func otherErrors() {
        let others: [any Error] = [
            NSError(domain: LAErrorDomain, code: -1000), NSError(domain: NSOSStatusErrorDomain, code: -2),
            NSError(domain: LAErrorDomain, code: 0), CancellationError(), URLError(.cancelled),
        ]
        for error in others { #expect(error as? LAError == nil) }
        do { throw others[1] } catch LAError.userCancel { Issue.record("caught by its number alone") } catch {}
    }

    @Test("An LAError is made of an NSError, and gives it back; a foreign one keeps its values and is a failure")
    func stored() {
        let known = NSError(domain: LAErrorDomain, code: -2, userInfo: ["key": 1])
        #expect(LAError(_nsError: known).code == .userCancel)
        #expect(LAError(_nsError: known)._nsError === known)
        #expect(LAError(_nsError: known).errorUserInfo["key"] as? Int == 1)
        #expect(LAError(.appCancel)._nsError.code == -9)
        for foreign in [NSError(domain: LAErrorDomain, code: -1000), NSError(domain: NSOSStatusErrorDomain, code: -2)] {
            let error = LAError(_nsError: foreign)
            #expect(error.code == .authenticationFailed && error._nsError === foreign)
        }
    }

    @Test("An error explains itself, and keeps the texts that it was given")
    func texts() {
        let plain = LAError(.passcodeNotSet)
        #expect(plain.localizedDescription == "the keychain has no passcode")
        #expect((plain as any Error).localizedDescription == "the keychain has no passcode")
        let explained = LAError(.appCancel, userInfo: [NSLocalizedDescriptionKey: "because", "key": 1])
        #expect((explained as NSError).localizedDescription == "because")
        #expect(explained.userInfo["key"] as? Int == 1)
        #expect(explained.errorUserInfo["key"] as? Int == 1)
        #expect(explained.errorCode == -9)
        #expect(LAError.errorDomain == "com.apple.LocalAuthentication")
    }

    @Test("Errors are equal if their codes and their texts are equal")
    func equality() {
        #expect(LAError(.userCancel) == LAError(.userCancel))
        #expect(LAError(.userCancel) != LAError(.systemCancel))
        #expect(LAError(.userCancel) != LAError(.userCancel, userInfo: ["key": "value"]))
        #expect(Set([LAError(.userCancel), LAError(.userCancel)]).count == 1)
    }

    @Test(
        "The codes are Apple's, by their Swift names, the names of the error and the C names",
        arguments: [
            (LAError.Code.authenticationFailed, LAError.authenticationFailed, kLAErrorAuthenticationFailed, -1),
            (.userCancel, LAError.userCancel, kLAErrorUserCancel, -2),
            (.userFallback, LAError.userFallback, kLAErrorUserFallback, -3),
            (.systemCancel, LAError.systemCancel, kLAErrorSystemCancel, -4),
            (.passcodeNotSet, LAError.passcodeNotSet, kLAErrorPasscodeNotSet, -5),
            (.biometryNotAvailable, LAError.biometryNotAvailable, kLAErrorBiometryNotAvailable, -6),
            (.touchIDNotAvailable, LAError.touchIDNotAvailable, kLAErrorTouchIDNotAvailable, -6),
            (.biometryNotEnrolled, LAError.biometryNotEnrolled, kLAErrorBiometryNotEnrolled, -7),
            (.touchIDNotEnrolled, LAError.touchIDNotEnrolled, kLAErrorTouchIDNotEnrolled, -7),
            (.biometryLockout, LAError.biometryLockout, kLAErrorBiometryLockout, -8),
            (.touchIDLockout, LAError.touchIDLockout, kLAErrorTouchIDLockout, -8),
            (.appCancel, LAError.appCancel, kLAErrorAppCancel, -9),
            (.invalidContext, LAError.invalidContext, kLAErrorInvalidContext, -10),
            (.companionNotAvailable, LAError.companionNotAvailable, kLAErrorCompanionNotAvailable, -11),
            (.watchNotAvailable, LAError.watchNotAvailable, kLAErrorWatchNotAvailable, -11),
            (.biometryNotPaired, LAError.biometryNotPaired, kLAErrorBiometryNotPaired, -12),
            (.biometryDisconnected, LAError.biometryDisconnected, kLAErrorBiometryDisconnected, -13),
            (.invalidDimensions, LAError.invalidDimensions, kLAErrorInvalidDimensions, -14),
            (.notInteractive, LAError.notInteractive, kLAErrorNotInteractive, -1004),
        ] as [(LAError.Code, LAError.Code, Int32, Int)])
    func codes(_ code: LAError.Code, _ named: LAError.Code, _ constant: Int32, _ number: Int) {
        #expect(code.rawValue == number && named == code && Int(constant) == number)
        #expect(LAError.Code(rawValue: number) == code)
        #expect(!LAError(code).localizedDescription.isEmpty)
    }

    @Test(
        "Every reason of the keychain for a failed authentication has its code",
        arguments: AuthenticationFailure.allCases)
    func failures(_ failure: AuthenticationFailure) {
        #expect(LAError.Code(rawValue: Int(failure.rawValue)) != nil)
    }
}
