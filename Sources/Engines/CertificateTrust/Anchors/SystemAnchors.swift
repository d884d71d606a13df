// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
internal import Glibc
internal import LinuxSystem
internal import Synchronization

/// The anchors that the distribution, or the administrator by `SSL_CERT_FILE` and `SSL_CERT_DIR`, has all programs trust.
///
/// Read once, and again when a file of theirs changes. What cannot be read among them is passed over and told.
public final class SystemAnchors: Sendable {
    /// Where anchors are looked for.
    public struct Places: Hashable, Sendable {
        /// The first that is there.
        let files: [String]
        /// All files of them; nil where they are looked at only if no file is there.
        let directories: [String]
        let directoriesAreAdded: Bool

        /// Where distributions put them.
        public static let standard = Places(
            files: [
                // Debian, Ubuntu, Arch, Alpine, Gentoo.
                "/etc/ssl/certs/ca-certificates.crt",
                // Fedora, RHEL.
                "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem", "/etc/pki/tls/certs/ca-bundle.crt",
                // openSUSE; Alpine's libressl.
                "/etc/ssl/ca-bundle.pem", "/etc/ssl/cert.pem",
            ], directories: ["/etc/ssl/certs", "/etc/pki/tls/certs"], directoriesAreAdded: false)

        /// Exactly these files and directories.
        public init(files: [String], directories: [String]) {
            self.init(files: files, directories: directories, directoriesAreAdded: true)
        }

        private init(files: [String], directories: [String], directoriesAreAdded: Bool) {
            self.files = files
            self.directories = directories
            self.directoriesAreAdded = directoriesAreAdded
        }

        /// What the environment says, else the standard ones. OpenSSL's two variables: a file, and directories between colons.
        ///
        /// Programs with more rights than their caller pass them over.
        public static var ofProcess: Places {
            let (file, directories) = (SecureEnvironment.value(of: "SSL_CERT_FILE"), SecureEnvironment.value(of: "SSL_CERT_DIR"))
            guard file != nil || directories != nil else { return .standard }
            return Places(files: file.map { [$0] } ?? [], directories: directories?.split(separator: ":").map(String.init) ?? [])
        }
    }

    /// What was found.
    public struct Loaded: Sendable {
        public let pool: CertificatePool
        /// In the order of their files.
        public let certificates: [Certificate]
        /// A sentence for each file or certificate that was passed over.
        public let complaints: [String]
    }

    public static let shared = SystemAnchors { .ofProcess }

    private let places: @Sendable () -> Places
    private let state = Mutex<(stamps: [String: FileStatus.Stamp], loaded: Loaded)?>(nil)

    /// - Parameter places: asked every time, since a program may change its environment.
    public init(places: @escaping @Sendable () -> Places) { self.places = places }

    /// The anchors as their files now are.
    public func load() -> Loaded {
        let files = Self.files(places())
        let stamps = Dictionary(files.map { ($0, FileStatus.stamp(of: $0)) }) { first, _ in first }
        return state.withLock { state in
            if let state, state.stamps == stamps { return state.loaded }
            let loaded = Self.read(files)
            state = (stamps, loaded)
            return loaded
        }
    }

    private static func files(_ places: Places) -> [String] {
        let file = places.files.first { access($0, R_OK) == 0 } ?? (places.directoriesAreAdded ? places.files.first : nil)
        guard places.directoriesAreAdded || file == nil else { return file.map { [$0] } ?? [] }
        let found = places.directories.flatMap { directory in
            let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
            return names.sorted().map { "\(directory)/\($0)" }
        }
        return (file.map { [$0] } ?? []) + found
    }

    private static func read(_ files: [String]) -> Loaded {
        var (certificates, complaints): ([Certificate], [String]) = ([], [])
        var seen: Set<FileStatus.Identity> = []
        var known: Set<Certificate> = []
        for file in files {
            // Directories hold the same file under several names.
            let status = (try? FileStatus.of(file)) ?? nil
            if status?.kind == .directory { continue }
            if let status, !seen.insert(status.identity).inserted { continue }
            guard let status, status.kind == .file, status.size <= CertificateBundle.greatestLength,
                let data = FileManager.default.contents(atPath: file)
            else {
                complaints.append("\(file) cannot be read")
                continue
            }
            let bundle = CertificateBundle(Array(data), takesTrusted: false)
            // The same certificate is often there by itself and in a bundle.
            certificates += bundle.certificates.filter { known.insert($0).inserted }
            complaints += bundle.rejected.map { "certificate \($0.index + 1) of \(file): \($0.error)" }
        }
        return Loaded(pool: CertificatePool(certificates), certificates: certificates, complaints: complaints)
    }
}
