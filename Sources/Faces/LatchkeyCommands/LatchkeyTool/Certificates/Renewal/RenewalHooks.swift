// SPDX-License-Identifier: Apache-2.0

internal import CertificateTrust
internal import Glibc
internal import KeychainModel
internal import LinuxSystem

/// The variables that hooks get in their environment. They have no secrets.
struct RenewalFacts {
    let variables: [String: String]

    init(_ renewed: Certificate, _ identity: RenewedIdentity) {
        variables = [
            "LATCHKEY_RENEWED_LABEL": Self.text(identity.record[.label]?.text),
            "LATCHKEY_RENEWED_SUBJECT": Self.text(renewed.subject.description),
            "LATCHKEY_RENEWED_SHA256": Hexadecimal.text(renewed.sha256),
            "LATCHKEY_RENEWED_NOT_AFTER": renewed.validity.notAfter.description,
            "LATCHKEY_RENEWED_PIN": "sha256/\(Base64.text(renewed.publicKey.sha256))",
            "LATCHKEY_RENEWED_PREVIOUS_SHA256": Hexadecimal.text(identity.certificate.sha256),
        ]
    }

    /// A name of a certificate may have any characters; a variable has no NUL.
    private static func text(_ name: String?) -> String { String((name ?? "").filter { $0 != "\0" }) }
}

/// The programs that run after a renewal.
struct RenewalHooks {
    let paths: [FilePath]

    /// - Parameters:
    ///   - programs: paths that the command line names.
    ///   - usesFolder: whether the executables of the folder run too.
    /// - Throws: errSecParam if the folder or one of its files could have been written by another
    ///   user: then nothing is renewed.
    init(programs: [FilePath], usesFolder: Bool) throws(CommandFailure) {
        paths = programs + (usesFolder ? try Self.ofFolder() : [])
    }

    /// Runs the hooks, one after the other. Each failure is reported, and the others still run.
    ///
    /// - Returns: whether all of them have exited with 0.
    func run(_ facts: RenewalFacts, in session: CommandSession) -> Bool {
        var isSuccess = true
        for path in paths {
            let problem: String
            do throws(SystemError) {
                let status = try ChildProcess.run(
                    [path.bytes], inheriting: ProcessIO.descriptor(of: .error), variables: facts.variables)
                if status == 0 { continue }
                problem = "exited with \(status)"
            } catch {
                problem = error.description
            }
            session.io.say("latchkey: the hook \(path) has failed: \(problem)\n")
            isSuccess = false
        }
        return isSuccess
    }

    // MARK: The folder

    private static func ofFolder() throws(CommandFailure) -> [FilePath] {
        try configurationDirectory.map { (directory) throws(CommandFailure) in try paths(below: directory) } ?? []
    }

    /// Returns the executables of the folder in a directory of configurations.
    static func paths(below directory: FilePath) throws(CommandFailure) -> [FilePath] {
        let folder: FilePath = "\(directory)/latchkey/renew-hooks.d"
        do throws(SystemError) {
            guard let status = try FileStatus.of(folder) else { return [] }
            guard status.kind == .directory, isOwn(status) else {
                throw SystemError("trust", path: folder, code: EPERM)
            }
            var paths: [FilePath] = []
            for name in try OpenDirectory(followingLinks: folder).entries().map(\.name)
            where !name.hasPrefix(".") && name.bytes.last != UInt8(ascii: "~") {
                let path = folder.appending(name)
                guard let file = try FileStatus.of(path), file.kind == .file else { continue }
                guard file.permissions & 0o111 != 0 else { continue }
                guard isOwn(file) else { throw SystemError("trust", path: path, code: EPERM) }
                paths.append(path)
            }
            return paths
        } catch {
            throw .parameter(
                "\(error.path ?? folder.description) must belong to you or root, and must not be writable by others",
                hint: "chmod go-w; --no-hook-folder renews without these hooks")
        }
    }

    private static func isOwn(_ status: FileStatus) -> Bool {
        (status.owner == geteuid() || status.owner == 0) && status.permissions & 0o022 == 0
    }

    private static var configurationDirectory: FilePath? {
        SecureEnvironment.path(of: "XDG_CONFIG_HOME").flatMap { $0.isAbsolute ? $0 : nil }
            ?? SecureEnvironment.path(of: "HOME").flatMap { $0.isAbsolute ? "\($0)/.config" : nil }
    }
}
