// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import KeyServices
internal import KeychainModel

/// The algorithm of a key's operation.
struct AlgorithmOption: ParsableArguments {
    @Option(
        name: [.customShort("a"), .customLong("algorithm")],
        help: ArgumentHelp("The algorithm.", valueName: "algorithm"))
    var name: String?

    /// The one that was named, or what such a key usually does.
    func algorithm(for kind: KeyKind, _ operation: KeyOperation) throws(CommandFailure) -> KeyAlgorithm {
        guard let name else { return AlgorithmName.defaultAlgorithm(for: kind, operation) }
        return try AlgorithmName.algorithm(name)
    }
}
