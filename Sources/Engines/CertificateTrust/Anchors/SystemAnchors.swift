// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
internal import Glibc
internal import LinuxSystem

/// The anchors that all programs trust: the distribution's, or those that the administrator sets
/// with `SSL_CERT_FILE` and `SSL_CERT_DIR`.
///
/// They are read once, and again when a file changes. A file or certificate that cannot be read is
/// skipped and reported.
public final class SystemAnchors: Sendable {
    /// The files and directories that hold anchors.
    public struct Locations: Hashable, Sendable {
        /// Bundles; the first readable one is used.
        let files: [String]
        /// Directories; every file in them is used.
        let directories: [String]
        /// Whether the directories are used in addition to a bundle, or only if no bundle is
        /// readable.
        let combinesDirectories: Bool

        /// The paths that distributions use.
        public static let standard = Locations(
            files: [
                // Debian, Ubuntu, Arch, Alpine, Gentoo.
                "/etc/ssl/certs/ca-certificates.crt",
                // Fedora, RHEL.
                "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem", "/etc/pki/tls/certs/ca-bundle.crt",
                // openSUSE; Alpine's libressl.
                "/etc/ssl/ca-bundle.pem", "/etc/ssl/cert.pem",
            ], directories: ["/etc/ssl/certs", "/etc/pki/tls/certs"], combinesDirectories: false)

        /// Exactly these files and directories.
        public init(files: [String], directories: [String]) {
            self.init(files: files, directories: directories, combinesDirectories: true)
        }

        private init(files: [String], directories: [String], combinesDirectories: Bool) {
            self.files = files
            self.directories = directories
            self.combinesDirectories = combinesDirectories
        }

        /// The locations in OpenSSL's environment variables, or the standard ones: `SSL_CERT_FILE`
        /// is a file, `SSL_CERT_DIR` directories separated by colons.
        ///
        /// A program with more privileges than its caller (setuid) ignores the variables.
        public static var ofProcess: Locations {
            let (file, directories) = (
                SecureEnvironment.value(of: "SSL_CERT_FILE"), SecureEnvironment.value(of: "SSL_CERT_DIR")
            )
            guard file != nil || directories != nil else { return .standard }
            return Locations(
                files: file.map { [$0] } ?? [], directories: directories?.split(separator: ":").map(String.init) ?? [])
        }
    }

    /// The anchors that were read, and the errors.
    public struct LoadedAnchors: Sendable {
        public let pool: CertificatePool
        /// In the order of the files.
        public let certificates: [Certificate]
        /// One sentence for each file or certificate that was skipped.
        public let errors: [String]
    }

    public static let shared = SystemAnchors { .ofProcess }

    let locations: @Sendable () -> Locations
    private let reading = FileReading<LoadedAnchors>()
    let listReading = FileReading<RevocationInformation>()

    /// - Parameter locations: called for every read, because a program can change its environment.
    public init(locations: @escaping @Sendable () -> Locations) { self.locations = locations }

    /// The anchors in the current state of the files.
    public func load() -> LoadedAnchors { reading.value(of: Self.files(locations()), Self.read) }

    private static func files(_ locations: Locations) -> [String] {
        let file =
            locations.files.first { access($0, R_OK) == 0 }
            ?? (locations.combinesDirectories ? locations.files.first : nil)
        guard locations.combinesDirectories || file == nil else { return file.map { [$0] } ?? [] }
        return (file.map { [$0] } ?? []) + locations.directories.flatMap(files(in:))
    }

    static func files(in directory: String) -> [String] {
        let names = (try? FileManager().contentsOfDirectory(atPath: directory)) ?? []
        return names.sorted().map { "\(directory)/\($0)" }
    }

    static func contents(of file: String, atMost limit: Int) throws(CertificateError) -> [UInt8] {
        guard let bytes = (try? BoundedFile.read(file, limit: limit)) ?? nil else {
            throw CertificateError("cannot be read as a file of at most \(limit >> 20) MiB")
        }
        return bytes
    }

    private static func read(_ files: [String]) -> LoadedAnchors {
        var (certificates, errors): ([Certificate], [String]) = ([], [])
        var seen: Set<FileStatus.Identity> = []
        var known: Set<Certificate> = []
        for file in files {
            // A directory can hold the same file under several names.
            let status = (try? FileStatus.of(file)) ?? nil
            if status?.kind == .directory { continue }
            if let status, !seen.insert(status.identity).inserted { continue }
            do throws(CertificateError) {
                let bundle = CertificateBundle(
                    try contents(of: file, atMost: CertificateBundle.maxLength), acceptsTrustedCertificates: false)
                // The same certificate is often both in a file of its own and in a bundle.
                certificates += bundle.certificates.filter { known.insert($0).inserted }
                errors +=
                    bundle.rejected.map { "\(file), \($0.place): \($0.error)" } + bundle.notes.map { "\(file), \($0)" }
            } catch {
                errors.append("\(file): \(error)")
            }
        }
        return LoadedAnchors(pool: CertificatePool(certificates), certificates: certificates, errors: errors)
    }
}
