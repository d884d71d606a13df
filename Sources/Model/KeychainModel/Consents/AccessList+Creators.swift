// SPDX-License-Identifier: Apache-2.0

/// The programs that have made an item by the Secret Service, recorded as its trusted programs, as macOS records the
/// program that has made an item.
extension AccessList {
    /// The partition of lists that the Secret Service has made. Lists of others, as those of
    /// `security -T`, name no creators.
    package static let secretService = "secret-service:"

    /// A list of one creator.
    package init(creator: ProgramPath) throws(KeychainError) {
        try self.init(name: "", programs: .listed([creator.text]), partitions: [Self.secretService])
    }

    /// The programs that have made the item; none for a list that the Secret Service has not made.
    package var creators: [ProgramPath] {
        guard case .listed(let paths) = programs, partitions.contains(Self.secretService) else { return [] }
        return paths.compactMap { ProgramPath($0) }
    }

    /// Returns the list of an item after another program has stored an item in its place: both have
    /// made it. A list of others stays as it is.
    package func adding(_ new: [ProgramPath]) -> AccessList {
        let known = creators
        let missing = new.filter { !known.contains($0) }
        guard !known.isEmpty, !missing.isEmpty else { return self }
        // The first creators leave an item that many programs store.
        let all = (known + missing).suffix(Self.maxCreators).map(\.text)
        return (try? AccessList(name: name, programs: .listed(all), partitions: partitions)) ?? self
    }

    private static let maxCreators = 16
}

extension ItemRecord {
    /// The programs that have made the item by the Secret Service; none if they are not known.
    package var creators: [ProgramPath] { (try? accessList())?.creators ?? [] }
}
