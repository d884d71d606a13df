// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import FoundationNetworking
internal import LatchkeyNIOSSL
internal import TransportPolicy

/// The settings that a configuration carries to the tasks of its session.
///
/// Foundation copies a configuration when a session is made. The copy has no place for values of other modules except
/// `connectionProxyDictionary`: it accepts any key, and Foundation on Linux does not read it. The settings are there
/// under a key that no other module can make.
final class SessionSettings: Sendable {
    /// An error refuses all connections.
    let transport: Result<LatchkeyTransport, TransportPolicyError>

    init(_ transport: Result<LatchkeyTransport, TransportPolicyError>) { self.transport = transport }

    /// The settings of the `Info.plist` beside the program, read once.
    static let process = SessionSettings(
        Result { () throws(TransportPolicyError) in try LatchkeyTransport.besideProgram() })

    private enum Key: Hashable { case settings }

    /// Puts the settings into a configuration.
    func attach(to configuration: URLSessionConfiguration) {
        var entries = configuration.connectionProxyDictionary ?? [:]
        entries[Key.settings] = self
        configuration.connectionProxyDictionary = entries
    }

    /// The settings in a configuration; nil if there are none.
    static func attached(to configuration: URLSessionConfiguration) -> SessionSettings? {
        configuration.connectionProxyDictionary?[Key.settings] as? SessionSettings
    }
}
