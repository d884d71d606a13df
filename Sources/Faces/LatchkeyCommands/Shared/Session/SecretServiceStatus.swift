// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import KeychainModel
internal import LinuxSystem
internal import SecretServiceClient
internal import SystemBus

/// The program that is the Secret Service of the session bus.
struct SecretServiceStatus: Codable, Equatable, Sendable {
    /// Absent if no program has the name `org.freedesktop.secrets`.
    var owner: Owner?
    /// Why the bus was not asked; absent if it was.
    var error: String?

    struct Owner: Codable, Equatable, Sendable {
        /// Absent if the bus does not report it.
        var process: Int32?
        /// The path of its file; absent if it is not known.
        var program: String?
        /// Whether it is latchkey-secret-service.
        var isLatchkey: Bool

        init(process: Int32?, program: String?, isLatchkey: Bool) {
            (self.process, self.program, self.isLatchkey) = (process, program, isLatchkey)
        }

        enum CodingKeys: String, CodingKey {
            case process = "pid", program
            case isLatchkey = "latchkey"
        }
    }

    init(owner: Owner?) { self.owner = owner }

    /// Asks the session bus. Nothing is started.
    ///
    /// - Returns: nil without a session bus.
    static func current() -> SecretServiceStatus? {
        guard hasSessionBus else { return nil }
        do throws(SecretServiceClientError) {
            return SecretServiceStatus(try SecretServiceOwner.current(on: .session))
        } catch {
            var status = SecretServiceStatus(owner: nil)
            status.error = "\(error)"
            return status
        }
    }

    /// Lets the bus read its files again, and start the Secret Service if none runs.
    ///
    /// - Throws: errSecNotAvailable if the bus does not answer, or cannot start one.
    static func started() throws(KeychainError) -> SecretServiceStatus {
        do throws(SecretServiceClientError) {
            return SecretServiceStatus(try SecretServiceOwner.started(on: .session))
        } catch {
            throw KeychainError(.notAvailable, "the session bus has not started a Secret Service: \(error)")
        }
    }

    private init(_ found: SecretServiceOwner?) {
        self.init(
            owner: found.map {
                Owner(process: $0.program.process, program: $0.program.executable, isLatchkey: $0.isOwn)
            })
    }

    private static var hasSessionBus: Bool {
        if SecureEnvironment.value(of: "DBUS_SESSION_BUS_ADDRESS")?.isEmpty == false { return true }
        return SecureEnvironment.value(of: "XDG_RUNTIME_DIR").map { access("\($0)/bus", F_OK) == 0 } ?? false
    }
}

extension SecretServiceStatus.Owner: CustomStringConvertible {
    /// Whether it is gnome-keyring-daemon, as far as its path says.
    var isGNOME: Bool { program?.split(separator: "/").last == "gnome-keyring-daemon" }

    var description: String {
        "\(program ?? "a program of unknown name")\(process.map { " (process \($0))" } ?? "")"
    }
}

extension SecretServiceStatus {
    static let takeOver = "latchkey setup --apply secret-service"

    /// The answer as a sentence without an end.
    var text: String {
        if let error { return "not known: \(error)" }
        guard let owner else { return "no program is the Secret Service of the session bus yet" }
        return owner.isLatchkey
            ? "\(owner) gives this keychain to desktop programs"
            : "\(owner) is the Secret Service of the session bus, and desktop programs do not use this keychain"
    }

    /// The command to type if gnome-keyring has the name; nil otherwise.
    var hint: String? { owner?.isGNOME == true ? "\(Self.takeOver) imports its items, and takes its place" : nil }
}
