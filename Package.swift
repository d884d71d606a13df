// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

// Security and LocalAuthentication are Apple's names, which every target of a consumer's build sees:
// Documentation/ModuleNames.md. The last four are there with the traits Transport and HTTPClient.
let libraries = [
    "Latchkey", "LatchkeyPayloads", "LatchkeySecurity", "Security", "LatchkeyLocalAuthentication",
    "LocalAuthentication",
    "LatchkeyCommonCrypto", "LatchkeyFoundation", "LatchkeyNIOSSL", "LatchkeyURLSession", "LatchkeyRedirections",
    "LatchkeyHTTPClient",
]
let programs = [
    "latchkey": "LatchkeyTool", "latchkeyd": "LatchkeyDaemon", "latchkey-tls": "LatchkeyTLSTool",
    "latchkey-lint": "LatchkeyLintTool",
]

/// The modules that other packages have. What only the executables or connections need is there with a trait, so that a
/// consumer of the libraries neither fetches nor builds it.
let packages: [(path: String, from: Version, trait: String?, modules: Set<String>)] = [
    ("apple/swift-argument-parser", "1.8.2", "Tools", ["ArgumentParser"]),
    ("apple/swift-asn1", "1.7.4", nil, ["SwiftASN1"]),
    ("apple/swift-crypto", "4.5.2", nil, ["Crypto"]),
    ("apple/swift-log", "1.16.2", nil, ["Logging"]),
    ("apple/swift-nio", "2.101.2", "Transport", ["NIOCore", "NIOHTTP1", "NIOPosix", "NIOTLS"]),
    ("apple/swift-nio-http2", "1.40.0", "Transport", ["NIOHTTP2"]),
    ("apple/swift-nio-ssl", "2.37.6", "Transport", ["NIOSSL"]),
    ("apple/swift-protobuf", "1.39.0", nil, ["SwiftProtobuf"]),
    ("jpsim/Yams", "6.2.2", "Lint", ["Yams"]),
    ("swiftlang/swift-syntax", "603.0.1", "Lint", ["SwiftParser", "SwiftSyntax"]),
    ("swift-server/async-http-client", "1.37.0", "HTTPClient", ["AsyncHTTPClient"]),
]

/// Every module, the lowest first: its name, and what it may see. Names without a colon see nothing further.
/// ArchitectureTests reads the same table.
let modules = """
    Sources/Foundations, headers. Headers of libraries, without code:
      CFido2 CSystemd CTSS2 CFuse3 CFileCalls CSQLiteCalls CZlib
    Sources/Foundations, library. The machine underneath. Nothing here knows what a keychain is:
      CLatchkey
      CFoundationCalls: CLatchkey
      CLoadedLibraries
      LinuxSystem: CLatchkey
      SecretMemory: CLatchkey LinuxSystem
      OpenSSLCrypto: COpenSSL LinuxSystem SecretMemory
      SystemBus: CLoadedLibraries CSystemd LinuxSystem SecretMemory
      SQLiteConnections: CSQLiteCalls
      Decompression: CZlib
      UserspaceFileSystem: CFuse3 LinuxSystem
      SecurityKey: CFido2 CLoadedLibraries LinuxSystem SecretMemory
      TrustedPlatformModule: CLoadedLibraries CTSS2 LinuxSystem OpenSSLCrypto SecretMemory
    Sources/Model, library. Plain values, no input or output:
      KeychainModel: LinuxSystem SecretMemory
    Sources/Engines, library. Synchronous, thread-safe, ignorant of sockets and dictionaries:
      Keybag: CLatchkey KeychainModel LinuxSystem OpenSSLCrypto SecretMemory Crypto
      KeychainStore: CLatchkey Keybag KeychainModel LinuxSystem OpenSSLCrypto SecretMemory SQLiteConnections Crypto
      FileProtection: CLatchkey KeychainModel LinuxSystem OpenSSLCrypto SecretMemory Crypto
      KeyServices: KeychainModel LinuxSystem OpenSSLCrypto SecretMemory
      CertificateTrust: KeychainModel LinuxSystem OpenSSLCrypto Crypto SwiftASN1
      KeyAttestation: CertificateTrust KeychainModel KeyServices LinuxSystem OpenSSLCrypto SecretMemory
      CryptographicMessages: CertificateTrust KeychainModel KeyServices LinuxSystem OpenSSLCrypto SecretMemory
      TransportPolicy: CertificateTrust LinuxSystem
      Presence: KeychainModel LinuxSystem SecretMemory
      EnrolledPrints: KeychainModel LinuxSystem OpenSSLCrypto
      SecretScan: Decompression LinuxSystem OpenSSLCrypto SecretMemory SQLiteConnections Crypto
      CodeRules: LinuxSystem SecretScan SwiftParser SwiftSyntax
      GnomeKeyringFile: LinuxSystem OpenSSLCrypto SecretMemory
      SecretTransfer: LinuxSystem OpenSSLCrypto SecretMemory SystemBus
      SecretServiceClient: LinuxSystem SecretMemory SecretTransfer SystemBus
      Fingerprint: EnrolledPrints KeychainModel LinuxSystem Presence SystemBus
    Sources/Service, library. Who may do what, and when:
      LatchkeyService: FileProtection Keybag KeychainModel KeychainStore KeyServices LinuxSystem Presence SecretMemory
          Logging
      LatchkeyProtocol: KeychainModel LinuxSystem SecretMemory SwiftProtobuf
      LatchkeyOperations: KeychainModel LatchkeyProtocol LatchkeyService LinuxSystem Presence SecretMemory
      KeychainSessions: KeychainModel LatchkeyOperations LatchkeyService LinuxSystem Presence SecretMemory
      LatchkeyServer: KeychainModel KeychainSessions LatchkeyOperations LatchkeyProtocol LatchkeyService LinuxSystem
          Presence SecretMemory Logging
      LoginSession: LatchkeyServer LinuxSystem SystemBus Logging
      SecurityKeyPresence: KeychainModel LatchkeyService LinuxSystem SecretMemory SecurityKey
      HardwareSecurity: KeyAttestation Keybag KeychainModel KeyServices LatchkeyService LinuxSystem SecretMemory
          TrustedPlatformModule
      LatchkeyClient: CertificateTrust FileProtection KeychainModel KeychainSessions KeyServices LatchkeyOperations
          LatchkeyProtocol LatchkeyService LinuxSystem Presence SecretMemory TransportPolicy
    Sources/Faces, library. Shapes for the caller, no rules:
      LatchkeySecurity: CFoundationCalls CertificateTrust CryptographicMessages KeychainModel KeychainSessions
          KeyServices LatchkeyClient LatchkeyOperations LatchkeyService LinuxSystem SecretMemory
      Security: LatchkeySecurity
      LatchkeyLocalAuthentication: KeychainModel KeychainSessions LatchkeyClient LatchkeyOperations LatchkeySecurity
          LatchkeyService LinuxSystem OpenSSLCrypto SecretMemory
      LocalAuthentication: LatchkeyLocalAuthentication
      Latchkey: CertificateTrust FileProtection KeyAttestation KeychainModel KeychainSessions KeyServices
          LatchkeyClient LatchkeyOperations LatchkeyService LinuxSystem OpenSSLCrypto SecretMemory Crypto
      LatchkeyPayloads: KeychainModel KeyServices Latchkey LinuxSystem OpenSSLCrypto SecretMemory Crypto
      LatchkeyFoundation: CFoundationCalls Latchkey
      LatchkeyNIOSSL: CertificateTrust KeychainModel KeychainSessions LatchkeyClient LatchkeyOperations LatchkeySecurity
          LatchkeyService LinuxSystem TransportPolicy NIOCore NIOSSL
      HTTPConnections: CertificateTrust LatchkeyClient LatchkeyNIOSSL LatchkeySecurity LinuxSystem SecretMemory
          TransportPolicy NIOCore NIOHTTP1 NIOHTTP2 NIOPosix NIOSSL NIOTLS
      LatchkeyURLSession: CFoundationCalls CertificateTrust FileProtection HTTPConnections KeychainModel
          KeychainSessions Latchkey LatchkeyClient LatchkeyNIOSSL LatchkeyOperations LatchkeySecurity LatchkeyService
          LinuxSystem OpenSSLCrypto SecretMemory TransportPolicy NIOCore
      LatchkeyRedirections: CFoundationCalls CLatchkey FileProtection KeychainModel Latchkey LatchkeyService LatchkeyURLSession LinuxSystem
      LatchkeyHTTPClient: CertificateTrust LatchkeyNIOSSL LinuxSystem TransportPolicy AsyncHTTPClient NIOCore NIOSSL
      ProtectedFolder: CFileCalls FileProtection KeychainModel LinuxSystem OpenSSLCrypto SecretMemory
          UserspaceFileSystem
      LatchkeyCommonCrypto: OpenSSLCrypto SecretMemory
      SecretService: KeychainModel KeychainSessions LatchkeyOperations LatchkeyService LinuxSystem OpenSSLCrypto
          Presence SecretMemory SecretTransfer SystemBus Logging
      LatchkeyCommands: CertificateTrust CLatchkey CryptographicMessages FileProtection GnomeKeyringFile KeyAttestation
          KeychainModel KeychainSessions KeyServices LatchkeyClient LatchkeyOperations LatchkeyServer LatchkeyService
          LinuxSystem ProtectedFolder SecretMemory SecretServiceClient SystemBus TransportPolicy ArgumentParser
      TransportCommands: CertificateTrust KeychainModel LatchkeyClient LatchkeyCommands LatchkeyNIOSSL LinuxSystem
          TransportPolicy ArgumentParser NIOCore NIOPosix NIOSSL NIOTLS
      LintCommands: CodeRules KeychainModel KeychainSessions LatchkeyCommands LatchkeyOperations LatchkeyService LinuxSystem
          SecretMemory SecretScan
          ArgumentParser Yams
    Sources/Executables, program. Wiring only:
      LatchkeyTool: HardwareSecurity KeychainModel LatchkeyClient LatchkeyCommands LatchkeyService LinuxSystem
          SecurityKeyPresence TrustedPlatformModule Logging
      LatchkeyTLSTool: LatchkeyClient LatchkeyCommands LinuxSystem TransportCommands Logging
      LatchkeyLintTool: LatchkeyCommands LinuxSystem LintCommands
      LatchkeyDaemon: EnrolledPrints Fingerprint HardwareSecurity KeychainModel KeychainSessions LatchkeyClient
          LatchkeyOperations LatchkeyServer LatchkeyService LinuxSystem LoginSession Presence SecretMemory
          SecretService SecurityKeyPresence SystemBus TrustedPlatformModule ArgumentParser Logging
    Tests, library. What tests share:
      CPlainCalls: CFoundationCalls
      KeychainTesting: CLatchkey CPlainCalls KeychainModel KeychainSessions LatchkeyClient LatchkeyOperations LatchkeyServer LatchkeyService
          LinuxSystem Presence SecretMemory
      SecurityKeyTesting: OpenSSLCrypto SecretMemory SecurityKey
      TPMTesting: KeychainTesting LinuxSystem TrustedPlatformModule
      FolderTesting: FileProtection KeychainModel LinuxSystem SecretMemory
      FoundationPromises: Latchkey
    Tests, program. What tests start, kill and fork. Not products:
      FolderTool: FileProtection FolderTesting KeychainModel LinuxSystem ProtectedFolder
      TransportWorker: LatchkeyURLSession
      PlainPromises: FoundationPromises
      RedirectedPromises: FoundationPromises LatchkeyRedirections
      ProofWorker: CLatchkey FileProtection KeychainModel Latchkey LatchkeyClient LatchkeySecurity LatchkeyService
          LinuxSystem SecretMemory
    Tests, test. Each sees its module and KeychainTesting as well, and what these see:
      SystemBusTests KeychainModelTests KeybagTests KeychainStoreTests FileProtectionTests
      CertificateTrustTests CryptographicMessagesTests TransportPolicyTests PresenceTests GnomeKeyringFileTests SecretScanTests CodeRulesTests
      LatchkeyProtocolTests LatchkeyOperationsTests LatchkeyServerTests SecurityTests HTTPConnectionsTests
      LatchkeyFoundationTests LatchkeyPayloadsTests FoundationPromisesTests
      ArchitectureTests: LatchkeyDaemon LatchkeyLintTool LatchkeyTLSTool LatchkeyTool
      FoundationsTests: OpenSSLCrypto SQLiteConnections Crypto
      SecurityKeyTests: OpenSSLCrypto SecurityKeyTesting
      SecurityKeyPresenceTests: SecurityKeyTesting
      TrustedPlatformModuleTests: TPMTesting Crypto
      HardwareSecurityTests: CertificateTrust Latchkey LatchkeyDaemon LatchkeyLocalAuthentication LatchkeySecurity
          LatchkeyTool TPMTesting Crypto
      ProtectedFolderTests: FolderTesting FolderTool Latchkey LatchkeyTool
      KeyServicesTests: Crypto
      EnrolledPrintsTests: LatchkeyDaemon
      FingerprintTests: LatchkeyDaemon LatchkeyTool
      SecretServiceTests: LatchkeyDaemon LatchkeyTool
      KeyringImportTests: LatchkeyCommands LatchkeyDaemon LatchkeyTool SecretTransfer
      LoginSessionTests: LatchkeyDaemon LatchkeyTool
      LatchkeyServiceTests: Latchkey TransportPolicy
      LatchkeyTests: LatchkeyCommonCrypto LatchkeyPayloads
      LatchkeyNIOSSLTests: NIOPosix NIOTLS
      LatchkeyURLSessionTests: LatchkeyTool TransportWorker NIOHTTP1 NIOHTTP2 NIOPosix NIOSSL
      LatchkeyHTTPClientTests: NIOHTTP1
      TransportCommandsTests: LatchkeyHTTPClient LatchkeyTLSTool LatchkeyTool LatchkeyURLSession AsyncHTTPClient
          NIOHTTP1
      LintCommandsTests: CLatchkey LatchkeyLintTool LatchkeyTool SecretScan
      LocalAuthenticationTests: KeyServices LatchkeySecurity
      LatchkeyCommonCryptoTests: Crypto
      LatchkeyCommandsTests: Latchkey LatchkeyTool SecurityKeyPresence SecurityKeyTesting
      EndToEndTests: HardwareSecurity Keybag KeychainStore Latchkey LatchkeyDaemon LatchkeySecurity
          LatchkeyTool ProofWorker SQLiteConnections TPMTesting TrustedPlatformModule
    """

let package = Package(
    name: "latchkey",
    products: libraries.map { .library(name: $0, targets: [$0]) }
        + programs.sorted { $0.key < $1.key }.map { .executable(name: $0.key, targets: [$0.value]) },
    traits: [
        .trait(name: "Tools", description: "The executables latchkey and latchkeyd, and the packages only they need."),
        .trait(name: "Lint", description: "The executable latchkey-lint, and the packages only it needs."),
        .trait(name: "Transport", description: "The products for connections with TLS, and the packages of SwiftNIO."),
        .trait(
            name: "HTTPClient", description: "The product for async-http-client, and its packages.",
            enabledTraits: ["Transport"]),
    ],
    dependencies: packages.map {
        // A default trait of swift-protobuf needs the whole of Foundation.
        let traits: Set<Package.Dependency.Trait> = $0.modules == ["SwiftProtobuf"] ? [] : [.defaults]
        return .package(url: "https://github.com/\($0.path)", from: $0.from, traits: traits)
    },
    targets: targets(of: modules),
    swiftLanguageModes: [.v6]
)

// Alone with pkgConfig: for the others, a consumer's build would print a warning about what only executables need.
package.targets.append(
    .systemLibrary(
        name: "COpenSSL", path: "Sources/Foundations/COpenSSL", pkgConfig: "libcrypto",
        providers: [.apt(["libssl-dev"])]))

// What is beside the code of a target.
for (name, files) in [
    "EndToEndTests": ["Recipes", "Vectors"], "FileProtectionTests": ["Vectors"],
    "FoundationPromisesTests": ["protection.txt"],
    "GnomeKeyringFileTests": ["Vectors"],
    "KeychainStoreTests": ["Vectors"], "LatchkeyProtocol": ["latchkey.proto"], "TransportPolicyTests": ["Tables"],
] {
    package.targets.first { $0.name == name }?.exclude = files
}
for target in package.targets
where ["LatchkeyCommandsTests", "PresenceTests", "TransportCommandsTests"].contains(target.name) {
    target.resources = [.copy("Golden")]
}

// Written in C, or for the assembler.
let written = ["CFoundationCalls", "CLatchkey", "CLoadedLibraries", "CPlainCalls"]
for target in package.targets where target.type != .system && !written.contains(target.name) {
    target.swiftSettings = [
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
    ]
}

// The tests of a module that has Apple's shape name it as an app does.
for (name, aliases) in [
    "SecurityTests": ["Security=LatchkeySecurity"], "LatchkeyCommonCryptoTests": ["CommonCrypto=LatchkeyCommonCrypto"],
    "LocalAuthenticationTests": ["LocalAuthentication=LatchkeyLocalAuthentication", "Security=LatchkeySecurity"],
] {
    let flags = aliases.flatMap { ["-module-alias", $0] }
    package.targets.first { $0.name == name }?.swiftSettings?.append(.unsafeFlags(flags))
}

// `make sdk`: the interfaces of these modules are the same for each compiler and each later version, and programs that
// import them link libLatchkeySecurity, which has all of them.
if Context.environment["LATCHKEY_SDK"] == "1" {
    let modules = ["LatchkeySecurity", "LatchkeyLocalAuthentication", "LatchkeyCommonCrypto"]
    for target in package.targets where modules.contains(target.name) {
        target.swiftSettings?.append(
            .unsafeFlags([
                "-enable-library-evolution", "-emit-module-interface", "-no-verify-emitted-module-interface",
                "-module-link-name", "LatchkeySecurity", "-suppress-warnings",
            ]))
    }
    package.products.append(
        .library(name: "LatchkeySDK", type: .static, targets: modules + ["LatchkeyRedirections"]))
}

// The project's own builds (make, CI) stop at warnings; a newer compiler's warnings stop no other build.
if Context.environment["LATCHKEY_STRICT"] == "1" {
    for target in package.targets where target.swiftSettings != nil {
        target.swiftSettings?.insert(.treatAllWarnings(as: .error), at: 0)
    }
}

/// Reads the table: a line per directory with the kind of its modules, and below it the modules. Lines that are indented
/// further continue the one before.
func targets(of table: String) -> [Target] {
    var targets: [Target] = []
    var seenBy: [String: [String]] = [:]
    var (directory, kind) = ("", "")
    for line in table.replacing("\n     ", with: " ").split(separator: "\n") {
        guard line.hasPrefix("  ") else {
            let words = line.split { " ,.".contains($0) }
            (directory, kind) = (String(words[0]), String(words[1]))
            continue
        }
        let parts = line.split(separator: ":")
        for name in parts[0].split(separator: " ").map(String.init) {
            let path = "\(directory)/\(name)"
            var names = Set(parts.dropFirst().joined().split(separator: " ").map(String.init))
            if kind == "test" {
                for module in [String(name.dropLast("Tests".count)), "KeychainTesting"] {
                    if let ofModule = seenBy[module] { names.formUnion(ofModule + [module]) }
                }
            }
            seenBy[name] = names.sorted()
            let seen = names.sorted().map(dependency)
            switch kind {
            case "headers": targets.append(.systemLibrary(name: name, path: path))
            case "library": targets.append(.target(name: name, dependencies: seen, path: path))
            case "program": targets.append(.executableTarget(name: name, dependencies: seen, path: path))
            default: targets.append(.testTarget(name: name, dependencies: seen, path: path))
            }
        }
    }
    return targets
}

/// A module of this package, or of another one.
func dependency(_ name: String) -> Target.Dependency {
    guard let package = packages.first(where: { $0.modules.contains(name) }) else { return .byName(name: name) }
    return .product(
        name: name, package: String(package.path.split(separator: "/")[1]),
        condition: package.trait.flatMap { .when(traits: [$0]) })
}
