// SPDX-License-Identifier: Apache-2.0

public import Foundation
internal import Latchkey

/// Whether protected files can be opened, as `UIApplication` tells it.
public enum ProtectedData {
    /// Posted after protected files have become available.
    public static let didBecomeAvailableNotification = Notification.Name(
        "UIApplicationProtectedDataDidBecomeAvailable")
    /// Posted when the keychain is locked: files of the class complete are closed at the end of its grace
    /// period.
    public static let willBecomeUnavailableNotification = Notification.Name(
        "UIApplicationProtectedDataWillBecomeUnavailable")

    /// Whether files of the class complete can be opened now; false also if the keychain does not answer.
    public static var isAvailable: Bool { (try? Keychain.default.isProtectedDataAvailable) ?? false }

    /// Begins to post the notifications of this type, until the task ends or is cancelled.
    ///
    /// - Parameter center: where they are posted.
    public static func postNotifications(to center: NotificationCenter = .default) throws -> Task<Void, Never> {
        let changes = try Keychain.default.protectedDataAvailability()
        return Task {
            // The first value is the present state.
            for await isAvailable in changes.dropFirst() {
                center.post(
                    name: isAvailable ? didBecomeAvailableNotification : willBecomeUnavailableNotification, object: nil)
            }
        }
    }
}
