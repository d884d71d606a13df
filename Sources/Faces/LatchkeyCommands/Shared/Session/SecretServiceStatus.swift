// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
internal import Glibc
internal import KeychainModel
internal import LinuxSystem

/// The program that is the Secret Service of the session bus, as `latchkey-import owner` prints it: `latchkey` itself
/// does not link the library of the bus.
package struct SecretServiceStatus: Codable, Equatable, Sendable {
    /// Absent if no program has the name `org.freedesktop.secrets`.
    package var owner: Owner?
    /// Why the bus was not asked; absent if it was.
    package var error: String?

    package struct Owner: Codable, Equatable, Sendable {
        /// Absent if the bus does not report it.
        package var process: Int32?
        /// The path of its file; absent if it is not known.
        package var program: String?
        /// Whether it is latchkey-secret-service.
        package var isLatchkey: Bool

        package init(process: Int32?, program: String?, isLatchkey: Bool) {
            (self.process, self.program, self.isLatchkey) = (process, program, isLatchkey)
        }

        enum CodingKeys: String, CodingKey {
            case process = "pid", program
            case isLatchkey = "latchkey"
        }
    }

    package init(owner: Owner?) { self.owner = owner }

    /// Asks the session bus. Nothing is started.
    ///
    /// - Returns: nil without a session bus.
    static func current() -> SecretServiceStatus? {
        guard hasSessionBus else { return nil }
        do throws(KeychainError) {
            return try asked(["owner"])
        } catch {
            var status = SecretServiceStatus(owner: nil)
            status.error = error.problem
            return status
        }
    }

    /// Lets the bus read its files again, and start the Secret Service if none runs.
    static func started() throws(KeychainError) -> SecretServiceStatus { try asked(["owner", "--start"]) }

    private static var hasSessionBus: Bool {
        if SecureEnvironment.value(of: "DBUS_SESSION_BUS_ADDRESS")?.isEmpty == false { return true }
        return SecureEnvironment.value(of: "XDG_RUNTIME_DIR").map { access("\($0)/bus", F_OK) == 0 } ?? false
    }

    private static func asked(_ words: [String]) throws(KeychainError) -> SecretServiceStatus {
        let program = try CompanionProgram.keyringImport.installedPath()
        let (status, output) = try CompanionProgram.output(of: [program] + words, timeout: 30_000)
        guard status == 0, let answer = try? JSONDecoder().decode(SecretServiceStatus.self, from: Data(output)) else {
            throw KeychainError(
                .notAvailable, "the session bus did not say which program is the Secret Service",
                hint: (["latchkey-import"] + words).joined(separator: " "))
        }
        return answer
    }
}

extension SecretServiceStatus.Owner: CustomStringConvertible {
    /// Whether it is gnome-keyring-daemon, as far as its path says.
    var isGNOME: Bool { program?.split(separator: "/").last == "gnome-keyring-daemon" }

    package var description: String {
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

    /// What to type if gnome-keyring has the name; nil otherwise.
    var hint: String? { owner?.isGNOME == true ? "\(Self.takeOver) imports its items, and takes its place" : nil }
}
