// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import KeychainTesting
import SecretMemory
import SecretTransfer
import SystemBus

/// gnome-keyring-daemon itself, on a private bus, with an unlocked login keyring.
final class GnomeKeyringDaemon: Sendable {
    static let program = "/usr/bin/gnome-keyring-daemon"
    static var isInstalled: Bool { access(program, X_OK) == 0 }
    /// Of the login keyring.
    static let password = "login-pw"

    let bus: PrivateBus
    private let directory: TemporaryDirectory
    private let process: SpawnedProcess
    private let connection: BusConnection
    private let session: ObjectPath
    private let cipher: SessionCipher

    var processIdentifier: Int32 { process.processIdentifier }
    var isRunning: Bool { process.isRunning }

    init(on bus: PrivateBus? = nil) throws {
        let (bus, directory) = (try bus ?? PrivateBus(), try TemporaryDirectory())
        let path = directory.path
        try Data(Self.password.utf8).write(to: URL(filePath: "\(path)/password"))
        mkdir("\(path)/run", 0o700)
        let script = "exec '\(Self.program)' --foreground --unlock --components=secrets"
        let process = try SpawnedProcess(
            ["/bin/sh", "-c", "\(script) --control-directory='\(path)/run' < '\(path)/password'"],
            environment: [
                "PATH": "/usr/bin:/bin", "HOME": path, "XDG_DATA_HOME": "\(path)/data",
                "XDG_RUNTIME_DIR": "\(path)/run", "DBUS_SESSION_BUS_ADDRESS": bus.address,
            ], output: "\(path)/log")
        let connection = try BusConnection(to: .custom(bus.address))
        let hasStarted = eventually { (try? connection.owner(of: Self.name)) != nil || !process.isRunning }
        guard hasStarted, process.isRunning else {
            throw NotRunning(log: try String(contentsOfFile: "\(path)/log", encoding: .utf8))
        }
        let offer = try SessionOffer()
        var answer = try connection.call(
            BusMethod(Self.name, Self.root, "org.freedesktop.Secret.Service", "OpenSession"),
            [.string(SessionCipher.diffieHellmanName), .variant(offer.input)], returning: [.variant, .objectPath])
        cipher = try offer.cipher(answeredBy: try answer.next(BusVariant.self).content)
        session = try answer.next(ObjectPath.self)
        (self.bus, self.directory, self.process, self.connection) = (bus, directory, process, connection)
    }

    struct NotRunning: Error { let log: String }

    /// The file of a keyring.
    func file(_ name: String) -> String { "\(directory.path)/data/keyrings/\(name).keyring" }

    deinit { process.stop(signal: SIGKILL) }

    static let login: ObjectPath = "/org/freedesktop/secrets/collection/login"
    private static let name: BusName = "org.freedesktop.secrets"
    private static let root: ObjectPath = "/org/freedesktop/secrets"
    private static let master = "org.gnome.keyring.InternalUnsupportedGuiltRiddenInterface"

    // MARK: Storing

    func store(
        _ secret: [UInt8], label: String, _ attributes: [String: String], in collection: ObjectPath = login
    ) throws {
        let prefix = "org.freedesktop.Secret.Item."
        let properties = ["\(prefix)Label": BusVariant(label), "\(prefix)Attributes": BusVariant(attributes)]
        try connection.call(
            BusMethod(Self.name, collection, "org.freedesktop.Secret.Collection", "CreateItem"),
            [properties.busValue, try transferred(secret), .boolean(false)], returning: [.objectPath, .objectPath])
    }

    /// Creates a collection with a password of its own, without a prompt.
    func createCollection(_ label: String, password: String) throws -> ObjectPath {
        let properties = ["org.freedesktop.Secret.Collection.Label": BusVariant(label)]
        var answer = try connection.call(
            BusMethod(Self.name, Self.root, Self.master, "CreateWithMasterPassword"),
            [properties.busValue, try transferred(Array(password.utf8))], returning: [.objectPath])
        return try answer.next()
    }

    func lock(_ collection: ObjectPath) throws {
        try connection.call(
            BusMethod(Self.name, Self.root, "org.freedesktop.Secret.Service", "Lock"), [[collection].busValue],
            returning: [.array(.objectPath), .objectPath])
    }

    func unlock(_ collection: ObjectPath, password: String) throws {
        try connection.call(
            BusMethod(Self.name, Self.root, Self.master, "UnlockWithMasterPassword"),
            [.objectPath(collection), try transferred(Array(password.utf8))])
    }

    private func transferred(_ secret: [UInt8]) throws -> BusValue {
        let (parameters, value) = try cipher.encrypt(SharedSecret(copying: secret))
        return TransferredSecret(
            session: session, parameters: parameters, value: value, contentType: "text/plain"
        ).busValue
    }
}
