// SPDX-License-Identifier: Apache-2.0

import KeychainTesting
import Security
import Testing

/// The four calls with Swift dictionaries, and their results.
struct Answer {
    var status: OSStatus
    var value: CFTypeRef?

    var data: Data? { value as? Data }
    var text: String? { data.map { String(decoding: $0, as: UTF8.self) } }
    var attributes: [String: Any]? { value as? [String: Any] }
    var list: [Any]? { value as? [Any] }
    var dictionaries: [[String: Any]]? { value as? [[String: Any]] }
}

typealias Query = [String: Any]

@discardableResult func add(_ query: Query) -> OSStatus { SecItemAdd(query as CFDictionary, nil) }

func addReturning(_ query: Query) -> Answer {
    var result: CFTypeRef?
    let status = SecItemAdd(query as CFDictionary, &result)
    return Answer(status: status, value: result)
}

func copy(_ query: Query) -> Answer {
    var result: CFTypeRef?
    let status = SecItemCopyMatching(query as CFDictionary, &result)
    return Answer(status: status, value: result)
}

func update(_ query: Query, _ change: Query) -> OSStatus {
    SecItemUpdate(query as CFDictionary, change as CFDictionary)
}

func delete(_ query: Query) -> OSStatus { SecItemDelete(query as CFDictionary) }

// MARK: Dictionaries

let genp = kSecClassGenericPassword as String
let inet = kSecClassInternetPassword as String
let cert = kSecClassCertificate as String
let keys = kSecClassKey as String
let idnt = kSecClassIdentity as String

/// Returns a query for this class with these attributes, keyed by Apple's codes.
func item(_ itemClass: String, _ attributes: Query = [:]) -> Query {
    attributes.merging(["class": itemClass]) { $1 }
}

func data(_ text: String) -> Data { Data(text.utf8) }

extension Query {
    /// Returns the dictionary with these entries added.
    func with(_ more: Query) -> Query { merging(more) { $1 } }
    func without(_ names: String...) -> Query { filter { !names.contains($0.key) } }

    static var returnData: Query { ["r_Data": true] }
    static var returnAttributes: Query { ["r_Attributes": true] }
    static var returnReference: Query { ["r_PersistentRef": true] }
    static var all: Query { ["m_Limit": "m_LimitAll"] }
}

/// The internet password of Apple's tests.
var internetItem: Query {
    item(
        inet, ["srvr": "host1", "acct": "alice", "port": 80, "ptcl": "http", "atyp": "dflt", "v_Data": data("s3cret")])
}
var internetKey: Query { internetItem.without("v_Data") }
/// A generic password.
var genericItem: Query { item(genp, ["acct": "A", "svce": "S", "v_Data": data("s3cret")]) }
var genericKey: Query { genericItem.without("v_Data") }
