// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import KeychainModel

/// A dictionary for the caller, filled with objects. A Swift dictionary would have to be converted
/// when it is returned: every name becomes a new object, and every value is cast several times.
struct ResultDictionary {
    private var names: [NSObject] = []
    private var objects: [AnyObject] = []

    /// - Parameter capacity: the number of entries to reserve memory for.
    init(capacity: Int) {
        names.reserveCapacity(capacity)
        objects.reserveCapacity(capacity)
    }

    /// Adds an entry. Of several entries with the same name, the last one counts.
    mutating func append(_ name: NSString, _ object: AnyObject) {
        names.append(name)
        objects.append(object)
    }

    /// The immutable dictionary.
    var finished: NSDictionary {
        objects.withUnsafeBufferPointer { objects in
            names.withUnsafeBufferPointer { names in
                NSDictionary(objects: objects.baseAddress, forKeys: names.baseAddress, count: names.count)
            }
        }
    }
}

/// The names of attributes as objects, created once.
struct AttributeNames: @unchecked Sendable {  // because the strings are immutable and never replaced
    /// The attributes that the result for an item of the class may contain, in the schema's order.
    let columns: [(attribute: ItemAttribute, name: NSString)]

    static func of(_ itemClass: ItemClass) -> AttributeNames {
        switch itemClass {
        case .genericPassword: genericPassword
        case .internetPassword: internetPassword
        case .certificate: certificate
        case .key: key
        case .identity: identity
        }
    }

    private init(_ itemClass: ItemClass) {
        columns = ItemSchema.of(itemClass).columns.filter { !$0.isSecret }.map {
            ($0.attribute, NSString(string: $0.attribute.rawValue))
        }
    }

    private static let genericPassword = AttributeNames(.genericPassword)
    private static let internetPassword = AttributeNames(.internetPassword)
    private static let certificate = AttributeNames(.certificate)
    private static let key = AttributeNames(.key)
    private static let identity = AttributeNames(.identity)
}
