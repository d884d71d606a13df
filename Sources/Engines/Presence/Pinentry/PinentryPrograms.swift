// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import LinuxSystem

/// The installed programs that prompt for a secret.
///
/// They are searched in fixed directories, and only root may be able to replace them: neither the caller's PATH nor a
/// file of the user selects the program that gets the passcode.
struct PinentryPrograms {
    private let directories: [String]
    private let owner: UInt32

    /// The programs of this system.
    static let installed = PinentryPrograms(directories: ["/usr/local/bin", "/usr/bin", "/bin"], owner: 0)

    /// - Parameter owner: the user who alone may be able to replace the programs, beside root.
    init(directories: [String], owner: UInt32) { (self.directories, self.owner) = (directories, owner) }

    /// Returns the paths of the programs that can ask there, the best one first.
    ///
    /// - Throws: ``PresenceUnavailability`` if there is none.
    func candidates(at place: PromptPlace) throws(PresenceUnavailability) -> [PinentryProgram] {
        let kinds = [place.hasDisplay ? PinentryProgram.Kind.graphical : nil, place.hasTerminal ? .terminal : nil]
            .compactMap { $0 }
        guard !kinds.isEmpty else { throw .noPlace(ignored: place.ignored) }
        let names = kinds.map { ($0, Self.names(for: $0, at: place)) }
        let found = names.flatMap { kind, names in names.compactMap { find($0, kind) } }
        guard !found.isEmpty else { throw .noProgram(searched: names.flatMap(\.1)) }
        // The same file has several names, as Debian's alternatives have.
        var seen: Set<FileStatus.Identity> = []
        return found.filter { seen.insert($0.identity).inserted }
    }

    private static func names(for kind: PinentryProgram.Kind, at place: PromptPlace) -> [String] {
        switch kind {
        case .graphical:
            let forX = place[.display] == nil ? [] : ["pinentry-gtk-2", "pinentry-x11"]
            return ["pinentry-gnome3", "pinentry-qt", "pinentry-qt5"] + forX + ["pinentry"]
        case .terminal:
            // On a terminal of unknown type, pinentry-curses ends without an answer.
            let isSimple = place[.terminalType].map { $0 == "dumb" } ?? true
            let known = ["pinentry-curses", "pinentry-tty"]
            return (isSimple ? known.reversed() : known) + ["pinentry"]
        }
    }

    private func find(_ name: String, _ kind: PinentryProgram.Kind) -> PinentryProgram? {
        InstalledProgram.first(named: name, in: directories, owner: owner).map {
            PinentryProgram(path: $0.path, kind: kind, identity: $0.identity)
        }
    }
}

/// A program that prompts.
struct PinentryProgram: Hashable {
    enum Kind { case graphical, terminal }

    let path: String
    let kind: Kind
    let identity: FileStatus.Identity
}
