// SPDX-License-Identifier: Apache-2.0

internal import CertificateTrust
internal import KeychainModel
internal import LatchkeyClient
internal import LatchkeyService
internal import LinuxSystem

/// A keychain that a command line names: by a name, or by a path as macOS's scripts use them.
enum KeychainOperand: Equatable {
    case named(KeychainName)
    /// The certificates that the administrator trusts: `System.keychain`.
    case administrator
    /// The anchors of the system: `SystemRootCertificates.keychain`.
    case systemRoots

    /// macOS's name for the call that opens a keychain.
    static let function = "SecKeychainOpen"

    init(_ word: CommandWord, _ overview: KeychainOverview) throws(CommandFailure) {
        let text = try Self.text(of: word)
        switch text {
        case "default": self = .named(overview.list.defaultKeychain)
        case "System.keychain", administratorPath: self = .administrator
        case "SystemRootCertificates.keychain", systemRootsPath: self = .systemRoots
        default:
            self = .named(
                try CommandFailure.mapErrors("\(Self.function) \(text)") { () throws(KeychainError) in
                    try overview.name(of: text)
                })
        }
    }

    /// Returns the keychain that a command creates.
    ///
    /// - Throws: errSecDuplicateKeychain (exit 48) if it exists, or a file in its place.
    static func new(_ word: CommandWord, _ overview: KeychainOverview) throws(CommandFailure) -> KeychainFile {
        let text = try text(of: word)
        return try CommandFailure.mapErrors("SecKeychainCreate \(text)") { () throws(KeychainError) in
            let names = ["default", "System.keychain", "SystemRootCertificates.keychain"]
            guard !(names + [administratorPath, systemRootsPath]).contains(text) else {
                throw KeychainError(.duplicateKeychain)
            }
            let file = try KeychainFile(text)
            try file.requireNew(in: overview)
            return file
        }
    }

    private static func text(of word: CommandWord) throws(CommandFailure) -> String {
        guard word.isText else {
            throw .parameter("the name of the keychain '\(word.path)' is not UTF-8", hint: "security list-keychains")
        }
        return word.text
    }
}

private let administratorPath = "/Library/Keychains/System.keychain"
private let systemRootsPath = "/System/Library/Keychains/SystemRootCertificates.keychain"

// MARK: Opening

extension KeychainOperand {
    /// Returns the keychains that a command searches: those that it names, or those of the search list.
    ///
    /// - Throws: errSecNoSuchKeychain (exit 50) for a keychain that does not exist.
    static func searched(_ operands: [CommandWord], in session: CommandSession) throws(CommandFailure)
        -> [CommandKeychain]
    {
        let overview = try overview(in: session)
        guard operands.isEmpty else {
            return try operands.map { (word) throws(CommandFailure) in try open(word, overview, in: session) }
        }
        if let name = try selectedName() { return [try open(.named(name), overview, in: session)] }
        return try usable(overview, in: session)
    }

    /// Returns the keychains of the search list that can be opened, with a note of the others.
    ///
    /// - Throws: the first reason, if none can be opened.
    private static func usable(
        _ overview: KeychainOverview, in session: CommandSession
    ) throws(CommandFailure) -> [CommandKeychain] {
        var opened: [CommandKeychain] = []
        var notes: [CommandFailure] = []
        for place in overview.searched {
            do throws(CommandFailure) {
                opened.append(try open(.named(place.name), overview, in: session))
            } catch {
                guard let problem = error.reasonToPassOver else { throw error }
                notes.append(error)
                guard overview.searched.count > 1 else { throw error }
                session.warn("\(place.path) is passed over: \(problem.problem)", hint: problem.hint.map { "\($0)" })
            }
        }
        if opened.isEmpty, let first = notes.first { throw first }
        return opened
    }

    /// The paths of the keychains that are searched, also of those that do not exist.
    static func searchedPaths(in session: CommandSession) throws(CommandFailure) -> [String] {
        let overview = try overview(in: session)
        if let name = try selectedName() { return overview.place(name).map { [$0.path] } ?? [] }
        return overview.list.search.map { KeychainFile.shownPath(of: $0, overview.place($0)) }
    }

    /// Returns the one keychain that a command names; without a name, the default keychain.
    static func one(_ operand: CommandWord?, in session: CommandSession) throws(CommandFailure) -> CommandKeychain {
        let overview = try overview(in: session)
        guard let operand else {
            return try open(.named(try selectedName() ?? overview.list.defaultKeychain), overview, in: session)
        }
        return try open(operand, overview, in: session)
    }

    /// Returns the one keychain of a command's operands.
    static func one(
        of operands: [CommandWord], in session: CommandSession
    ) throws(CommandFailure) -> CommandKeychain {
        guard operands.count <= 1 else { throw .usage("at most one keychain is expected") }
        return try one(operands.first, in: session)
    }

    /// Returns the keychain that a command changes: as ``one(_:in:)``.
    ///
    /// - Throws: errSecReadOnly (exit 52) for the keychains of the system.
    static func changed(_ operand: CommandWord?, in session: CommandSession) throws(CommandFailure) -> CommandKeychain {
        let keychain = try one(operand, in: session)
        try keychain.requireChangeable()
        return keychain
    }

    private static func selectedName() throws(CommandFailure) -> KeychainName? {
        try CommandFailure.mapErrors(nil) { () throws(KeychainError) in try KeychainClient.selectedName() }
    }

    static func overview(in session: CommandSession) throws(CommandFailure) -> KeychainOverview {
        try CommandFailure.mapErrors(nil) { () throws(KeychainError) in try KeychainClient.keychains() }
    }

    private static func open(
        _ word: CommandWord, _ overview: KeychainOverview, in session: CommandSession
    ) throws(CommandFailure) -> CommandKeychain {
        do throws(CommandFailure) {
            return try open(try KeychainOperand(word, overview), overview, in: session)
        } catch {
            guard case .status(let error, nil) = error, error.status == .noSuchKeychain else { throw error }
            throw .status(error, of: "\(function) \(word.text)")
        }
    }

    private static func open(
        _ operand: KeychainOperand, _ overview: KeychainOverview, in session: CommandSession
    ) throws(CommandFailure) -> CommandKeychain {
        switch operand {
        case .named(let name):
            // Without keychains of its own, a program has the one of its service.
            guard name != .login || !overview.list.isInitial else {
                return CommandKeychain(name, path: nil, try session.keychain())
            }
            guard let place = overview.place(name) else { throw .status(UserKeychains.missing(name)) }
            let opened = try CommandFailure.mapErrors(nil) { () throws(KeychainError) in
                try KeychainClient.session(named: name)
            }
            return CommandKeychain(name, path: place.path, opened)
        case .administrator:
            let settings = try TrustSettingsDomain.loadAdministrator()
            return try CommandKeychain(
                system: administratorPath, isAdministrators: true, settings.entries.map(\.certificate))
        case .systemRoots:
            return try CommandKeychain(
                system: systemRootsPath, isAdministrators: false,
                SystemAnchors.shared.load().certificates)
        }
    }
}
