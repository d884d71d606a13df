// SPDX-License-Identifier: Apache-2.0

internal import FoundationNetworking
public import LatchkeyURLSession

/// Makes the connections of `URLSession.shared` Latchkey's, as far as Foundation lets it.
///
/// ```swift
/// LatchkeyURLSessionDefaults.install()   // first, in main
/// ```
///
/// It does not reach:
/// - Sessions with `URLSessionConfiguration.default` or `.ephemeral`: Foundation makes a new object
///   each time, and offers no place to change it. Such a session needs `.latchkey` or
///   `configuration.use(transport)`.
/// - Download tasks (they fail with an error), and WebSocket tasks (Foundation loads them itself).
/// - Functions of Foundation that load a URL without a session, such as `Data(contentsOf:)`.
public enum LatchkeyURLSessionDefaults {
    /// - Parameter transport: nil for the settings of the `Info.plist` beside the program. If that
    ///   file cannot be read, all requests of `URLSession.shared` fail.
    public static func install(_ transport: LatchkeyTransport? = nil) {
        let configuration = URLSession.shared.configuration
        if let transport {
            configuration.use(transport)
        } else {
            let others = (configuration.protocolClasses ?? []).filter { !($0 is LatchkeyURLProtocol.Type) }
            configuration.protocolClasses = [LatchkeyURLProtocol.self] + others
        }
        configuration.urlCredentialStorage = .latchkey
        // For configurations with protocolClasses that a program emptied: Foundation then asks the registered ones.
        _ = URLProtocol.registerClass(LatchkeyURLProtocol.self)
    }
}
