// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel

/// The sandbox that a process runs in, as names and files that others write tell it. It only narrows what the process may use.
struct SandboxIdentity: Equatable, Sendable {
    enum Kind: String, Sendable { case flatpak, snap }

    let kind: Kind
    /// The application's identifier, which is well-formed; nil where the sandbox does not say which application it holds.
    let application: String?

    /// - Parameter application: an identifier that is not well-formed identifies no application.
    init(_ kind: Kind, application: String?) {
        self.kind = kind
        self.application = application.flatMap { kind.isWellFormed($0) ? $0 : nil }
    }

    /// What the authoriser goes by.
    var scope: CallerIdentity.Sandbox {
        application.map { .application(group: "\(kind.rawValue).\($0)") } ?? .unidentified
    }

    /// Flatpak's file in the root of each of its sandboxes (flatpak-metadata(5)).
    init(flatpakInfo: String) {
        var (isInside, names): (Bool, [Substring]) = (false, [])
        for line in flatpakInfo.split(whereSeparator: \.isNewline) {
            if line.hasPrefix("[") { isInside = line == "[Application]" || line == "[Runtime]" }
            if isInside, line.hasPrefix("name=") { names.append(line.dropFirst("name=".count)) }
        }
        self.init(.flatpak, application: names.count == 1 ? names.first.map(String.init) : nil)
    }

    /// The label that snapd gives to processes of a snap: `snap.NAME.APP`; nil where it is another one.
    init?(label: String) {
        guard label.hasPrefix("snap.") else { return nil }
        let name = label.dropFirst("snap.".count).prefix { $0 != "." && $0 != " " }
        self.init(.snap, application: String(name))
    }

    /// The sandbox of a process by everything that speaks of one; nil where nothing does.
    ///
    /// Two that disagree identify no application: whichever of them was forged, nothing is won by it.
    ///
    /// - Parameter isHidden: whether there may be a sandbox's file that this process must not read.
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
    /// Whether the text is an identifier of this kind of sandbox.
    fileprivate func isWellFormed(_ text: String) -> Bool {
        guard text.utf8.count <= 255 else { return false }
        switch self {
        case .flatpak:
            // Three or more parts of letters, digits and _; the last may have hyphens.
            let parts = text.split(separator: ".", omittingEmptySubsequences: false)
            return parts.count >= 3
                && parts.enumerated().allSatisfy { index, part in
                    !part.isEmpty
                        && part.utf8.allSatisfy {
                            $0.isWordByte || ($0 == UInt8(ascii: "-") && index == parts.count - 1)
                        }
                }
        case .snap:
            // A name, and behind _ the key of an instance.
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
