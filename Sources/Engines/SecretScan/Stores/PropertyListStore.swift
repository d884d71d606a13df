// SPDX-License-Identifier: Apache-2.0

internal import LinuxSystem

/// The values of a binary property list; of an archive of NSKeyedArchiver, those of its objects.
struct PropertyListStore: RecordStore {
    private let bytes: [UInt8]

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    func forEach(limit: Int, _ body: (StoredValue) -> Void) throws(RecordError) {
        let list: PropertyListValue
        do throws(PropertyListError) {
            list = try PropertyListReader.readAnyForm(bytes, readsUIDs: true)
        } catch { throw RecordError(reason: error.description) }
        var walk = Walk(rest: limit)
        let isWhole = walk.visit(KeyedArchive(list)?.root ?? list, name: "", path: "")
        for value in walk.values { body(value) }
        guard isWhole else { throw RecordError(reason: "the values are longer than the limit") }
    }

    /// The depth is that of the list. The reader has limited it.
    private struct Walk {
        /// The bytes that may still be taken.
        var rest: Int
        var values: [StoredValue] = []

        /// - Returns: false if the limit ended it.
        mutating func visit(_ value: PropertyListValue, name: String, path: String) -> Bool {
            switch value {
            case .string(let text): return take(Array(text.utf8), name, path)
            case .data(let bytes): return take(bytes, name, path)
            case .array(let elements):
                for (index, element) in elements.enumerated() {
                    guard visit(element, name: name, path: "\(path)[\(index)]") else { return false }
                }
            case .dictionary(let members):
                for (key, member) in members.sorted(by: { $0.key < $1.key }) {
                    let path = path.isEmpty ? Self.shown(key) : "\(path).\(Self.shown(key))"
                    // A secret may be a key itself.
                    guard take(Array(key.utf8), "", path), visit(member, name: key, path: path) else { return false }
                }
            case .integer(let number):
                guard SecretName(name.utf8)?.isPassword == true else { return true }
                return take(Array(String(number).utf8), name, path)
            case .real, .boolean, .date: break
            }
            return true
        }

        /// A long key may be a secret: the path has its beginning alone.
        private static func shown(_ key: String) -> String { key.utf8.count <= 32 ? key : "\(key.prefix(4))…" }

        private mutating func take(_ value: [UInt8], _ name: String, _ path: String) -> Bool {
            guard value.count <= rest else { return false }
            rest -= value.count
            values.append(StoredValue(name: name, path: path, value: value))
            return true
        }
    }
}

/// An archive of NSKeyedArchiver: a list of objects that refer to each other by their numbers.
struct KeyedArchive {
    /// The objects below the top, each with its fields; collections as arrays and dictionaries.
    let root: PropertyListValue

    /// - Returns: nil if the list is no archive.
    init?(_ list: PropertyListValue) {
        guard list["$archiver"]?.string != nil, let objects = list["$objects"]?.array,
            let top = list["$top"]?.dictionary
        else {
            return nil
        }
        var resolver = Resolver(objects: objects)
        root = .dictionary(top.mapValues { resolver.resolve($0, depth: 0) })
    }

    /// Every object is resolved once, and the number of objects limits the work. An object in itself is left out.
    private struct Resolver {
        let objects: [PropertyListValue]
        var rest = PropertyListReader.maxCount
        var open: Set<Int64> = []

        mutating func resolve(_ value: PropertyListValue, depth: Int) -> PropertyListValue {
            rest -= 1
            guard rest > 0, depth < PropertyListReader.maxDepth else { return .array([]) }
            guard let number = value["CF$UID"]?.integer else { return plain(value, depth) }
            guard let index = Int(exactly: number), objects.indices.contains(index), open.insert(number).inserted else {
                return .array([])
            }
            defer { open.remove(number) }
            return object(objects[index], depth)
        }

        private mutating func object(_ object: PropertyListValue, _ depth: Int) -> PropertyListValue {
            guard let fields = object.dictionary else { return plain(object, depth) }
            if let text = fields["NS.string"] ?? fields["NS.data"] ?? fields["NS.bytes"] { return plain(text, depth) }
            guard let elements = fields["NS.objects"]?.array else {
                return plain(.dictionary(fields.filter { $0.key != "$class" }), depth)
            }
            guard let keys = fields["NS.keys"]?.array else { return plain(.array(elements), depth) }
            var members: [String: PropertyListValue] = [:]
            for (key, element) in zip(keys, elements) {
                let name = resolve(key, depth: depth + 1).string ?? "\(members.count)"
                members[name] = resolve(element, depth: depth + 1)
            }
            return .dictionary(members)
        }

        private mutating func plain(_ value: PropertyListValue, _ depth: Int) -> PropertyListValue {
            switch value {
            case .array(let elements):
                var resolved: [PropertyListValue] = []
                for element in elements { resolved.append(resolve(element, depth: depth + 1)) }
                return .array(resolved)
            case .dictionary(let members):
                var resolved: [String: PropertyListValue] = [:]
                for (key, member) in members { resolved[key] = resolve(member, depth: depth + 1) }
                return .dictionary(resolved)
            default: return value
            }
        }
    }
}
