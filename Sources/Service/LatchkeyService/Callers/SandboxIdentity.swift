// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel

/// The sandbox of a process, according to names and files that other programs write. It only restricts the rights of
/// the process.
struct SandboxIdentity: Equatable, Sendable {
    enum Kind: String, Sendable { case flatpak, snap }

    let kind: Kind
    /// The application's well-formed identifier; nil if the sandbox does not identify its
    /// application.
    let application: String?

    /// - Parameter application: an identifier that is not well-formed counts as nil.
    init(_ kind: Kind, application: String?) {
        self.kind = kind
        self.application = application.flatMap { kind.isWellFormed($0) ? $0 : nil }
    }

    /// The scope that the authorizer applies.
    var scope: CallerIdentity.Sandbox {
        application.map { .application(group: "\(kind.rawValue).\($0)") } ?? .unidentified
    }

    /// Parses the file that Flatpak puts into the root of each sandbox (flatpak-metadata(5)).
    init(flatpakInfo: String) {
        var (isInside, names): (Bool, [Substring]) = (false, [])
        for line in flatpakInfo.split(whereSeparator: \.isNewline) {
            if line.hasPrefix("[") { isInside = line == "[Application]" || line == "[Runtime]" }
            if isInside, line.hasPrefix("name=") { names.append(line.dropFirst("name=".count)) }
        }
        self.init(.flatpak, application: names.count == 1 ? names.first.map(String.init) : nil)
    }

    /// Parses the label that snapd gives to processes of a snap: `snap.NAME.APP`; nil for any other
    /// label.
    init?(label: String) {
        guard label.hasPrefix("snap.") else { return nil }
        let name = label.dropFirst("snap.".count).prefix { $0 != "." && $0 != " " }
        self.init(.snap, application: String(name))
    }

    /// Returns the sandbox of a process from every source that names one; nil if none does.
    ///
    /// If two sources disagree, the application is unidentified: forging one of them gains nothing.
    ///
    /// - Parameter isHidden: whether the sandbox may have a file that this process cannot read.
    static func read(group: ControlGroup?, flatpakInfo: String?, label: String?, isHidden: Bool) -> SandboxIdentity? {
        let found = [
            group?.sandbox, flatpakInfo.map(SandboxIdentity.init(flatpakInfo:)),
            label.flatMap(SandboxIdentity.init(label:)),
        ]
        .compactMap { $0 }
        guard let first = found.first else { return isHidden ? SandboxIdentity(.flatpak, application: nil) : nil }
        return found.allSatisfy { $0 == first } ? first : SandboxIdentity(first.kind, application: nil)
    }
}

extension SandboxIdentity.Kind {
    /// Returns whether the text is an identifier of this kind of sandbox.
    fileprivate func isWellFormed(_ text: String) -> Bool {
        guard text.utf8.count <= 255 else { return false }
        switch self {
        case .flatpak:
            // Three or more parts of letters, digits and underscores; the last part may have
            // hyphens.
            let parts = text.split(separator: ".", omittingEmptySubsequences: false)
            return parts.count >= 3
                && parts.enumerated().allSatisfy { index, part in
                    !part.isEmpty
                        && part.utf8.allSatisfy {
                            $0.isWordByte || ($0 == UInt8(ascii: "-") && index == parts.count - 1)
                        }
                }
        case .snap:
            // A name, and optionally an underscore and an instance key.
            return !text.isEmpty && text.utf8.allSatisfy { $0.isWordByte || $0 == UInt8(ascii: "-") }
        }
    }
}

extension UInt8 {
    /// Whether this is an ASCII letter, digit or underscore.
    fileprivate var isWordByte: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        case UInt8(ascii: "_"): true
        default: false
        }
    }
}
