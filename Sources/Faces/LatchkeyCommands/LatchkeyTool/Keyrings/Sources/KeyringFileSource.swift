// SPDX-License-Identifier: Apache-2.0

internal import GnomeKeyringFile
internal import KeychainModel
internal import LinuxSystem
internal import SecretMemory

/// A file of gnome-keyring.
struct KeyringFileSource: ImportSource {
    let name: String
    private let label: String
    private let items: [GnomeKeyringItem]

    /// - Parameter password: asks for the password, if the file is encrypted.
    init(
        _ place: FilePath, password: () throws(CommandFailure) -> SharedSecret
    ) throws(CommandFailure) {
        let path = place.description
        let bytes = try CommandFailure.mapErrors(nil) { () throws(KeychainError) in
            try SecretInput.read(place, maxCount: KeyringLimits.maxFileSize)
        }
        let file = try Self.mapErrors(path) { () throws(GnomeKeyringError) in try KeyringFile(bytes) }
        let secret: SharedSecret?
        if file.needsPassword { secret = try password() } else { secret = nil }
        let keyring = try Self.mapErrors(path) { () throws(GnomeKeyringError) in try file.open(with: secret) }
        name = path
        label = keyring.label.isEmpty ? path.split(separator: "/").last.map(String.init) ?? path : keyring.label
        items = keyring.items
    }

    func contents(_ progress: ProgressLine) throws(CommandFailure) -> SourceContents {
        var contents = SourceContents(collections: [SourceCollection(label: label)])
        for (number, item) in items.enumerated() {
            do throws(KeychainError) {
                contents.items.append(
                    try SourceItem(
                        number: number, collection: 0, label: item.label, attributes: Self.attributes(of: item),
                        created: item.created))
            } catch {
                contents.omitted.append(
                    (collection: 0, name: String(item.label.prefix(64)), omission: Omission(error)))
            }
        }
        return contents
    }

    func secrets(of items: [SourceItem]) throws(CommandFailure) -> [Result<SourceSecret, Omission>] {
        items.map { .success(SourceSecret(bytes: self.items[$0.number].secret, contentType: nil)) }
    }

    /// The attributes that gnome-keyring shows on the bus: those of the file, and the schema.
    private static func attributes(of item: GnomeKeyringItem) -> [(name: String, value: String)] {
        var attributes = item.attributes.map { (name: $0.key, value: $0.value.text) }
        if item.attributes[SourceItem.schemaName] == nil, let schema = item.schema {
            attributes.append((name: SourceItem.schemaName, value: schema))
        }
        return attributes
    }

    private static func mapErrors<Value>(
        _ path: String, _ body: () throws(GnomeKeyringError) -> Value
    ) throws(CommandFailure) -> Value {
        do throws(GnomeKeyringError) {
            return try body()
        } catch {
            throw .status(KeychainError(status(of: error), "\(path): \(error)"))
        }
    }

    private static func status(of error: GnomeKeyringError) -> OSStatusCode {
        switch error {
        case .wrongPassword: .authFailed
        case .passwordNeeded: .interactionNotAllowed
        case .tooLarge, .tooManyIterations: .dataTooLarge
        case .unrecognized, .unsupported, .damaged: .decode
        }
    }
}
