// SPDX-License-Identifier: Apache-2.0

internal import Glibc
public import Keybag
public import KeychainModel
internal import LatchkeyService
internal import LinuxSystem
public import SecretMemory

/// Encrypts device keys as credentials of systemd, with the secret of this machine and its TPM (systemd-creds(1)). Only
/// root can do that; a service receives the credential that root has encrypted.
public struct CredentialSealer: DeviceKeySealer {
    private let program: String
    private let environment: [String]

    /// In milliseconds. A TPM can take seconds.
    private static let timeout: Int32 = 60_000
    private static let maxLength = 4096

    /// - Parameters:
    ///   - program: the path of systemd-creds.
    ///   - environment: variables for it, as `NAME=value`.
    public init(program: String = "/usr/bin/systemd-creds", environment: [String] = []) {
        self.program = program
        self.environment = ["PATH=/usr/sbin:/usr/bin:/sbin:/bin"] + environment
    }

    public func seal(_ key: SharedSecret) throws(KeychainError) -> [UInt8] {
        // EXPOSE: to the program that encrypts it, by its standard input.
        let output = try key.withUnsafeBytes { (bytes) throws(KeychainError) in
            try run(["encrypt", "--name=\(ReceivedCredential.name)", "-", "-"], bytes)
        }
        // The result is no secret.
        return output.withUnsafeBytes { Array($0) }
    }

    public func unseal(_ sealed: [UInt8]) throws(KeychainError) -> SharedSecret {
        if let received = try ReceivedCredential().deviceKey() { return received }
        let input = SharedSecret(copying: sealed)
        do throws(KeychainError) {
            return try input.withUnsafeBytes { (bytes) throws(KeychainError) in
                try run(["decrypt", "--name=\(ReceivedCredential.name)", "-", "-"], bytes)
            }
        } catch {
            // Root has the machine's secret, so that the credential is of another machine; other users
            // may only lack it.
            guard geteuid() == 0, access(program, X_OK) == 0 else { throw error }
            throw KeychainError(
                .decode, error.problem,
                hint: """
                    the machine that encrypted it opens it, as does a service with LoadCredentialEncrypted=; if that \
                    machine is gone: latchkey recovery-key use
                    """)
        }
    }

    private func run(_ arguments: [String], _ input: UnsafeRawBufferPointer) throws(KeychainError) -> SharedSecret {
        guard access(program, X_OK) == 0 else {
            throw KeychainError(
                .notAvailable, "there is no \(program)", hint: "credentials of systemd need systemd 250 or later")
        }
        var (status, count): (Int32, Int) = (-1, 0)
        let buffer: SecretBytes
        do throws(SystemError) {
            buffer = try SecretBytes(count: Self.maxLength) { (buffer) throws(SystemError) in
                (status, count) = try ChildProcess.run(
                    program, arguments, environment: environment, input: input, readingInto: buffer,
                    timeout: Self.timeout)
            }
        } catch {
            throw KeychainError(
                .notAvailable, "systemd-creds did not run: \(error)", hint: "systemd-creds encrypt - - < /dev/null")
        }
        guard status == 0, count < Self.maxLength else {
            throw KeychainError(
                .notAvailable, "systemd-creds \(arguments[0]) failed with the exit value \(status)",
                hint:
                    "only root can use the machine's secret; a service receives its credential by LoadCredentialEncrypted=; another machine's is lost here"
            )
        }
        return SharedSecret(
            buffer.withUnsafeBytes { SecretBytes(copying: UnsafeRawBufferPointer(rebasing: $0[..<count])) })
    }
}
