// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel

/// A part of a message that a signature covers (RFC 9421, section 2): a field, or a derived
/// component such as the method.
public struct HTTPComponent: Sendable {
    let name: String
    let parameters: StructuredParameters

    private init(name: String, parameters: StructuredParameters) {
        (self.name, self.parameters) = (name, parameters)
    }

    private init(_ name: String, _ key: String? = nil, _ value: StructuredValue = .boolean(true)) {
        var parameters = StructuredParameters()
        if let key { parameters.set(key, value) }
        self.init(name: name, parameters: parameters)
    }

    /// The method of the request.
    public static let method = HTTPComponent("@method")
    /// The whole URL of the request.
    public static let targetURI = HTTPComponent("@target-uri")
    /// Host and port of the request; without the default port.
    public static let authority = HTTPComponent("@authority")
    /// `https` or `http`.
    public static let scheme = HTTPComponent("@scheme")
    /// Path and query as in the first line of a request over HTTP/1.1.
    public static let requestTarget = HTTPComponent("@request-target")
    /// The path of the request.
    public static let path = HTTPComponent("@path")
    /// The query of the request, with its question mark.
    public static let query = HTTPComponent("@query")
    /// The status of the response.
    public static let status = HTTPComponent("@status")

    /// One parameter of the query. It must occur once.
    public static func queryParameter(_ name: String) -> HTTPComponent {
        HTTPComponent("@query-param", "name", .string(PercentEncoding.encodeForm(name)))
    }

    /// All values of a field, as they are.
    public static func field(_ name: String) -> HTTPComponent { HTTPComponent(name.lowercased()) }

    /// One member of a field that is a dictionary.
    public static func field(_ name: String, key: String) -> HTTPComponent {
        HTTPComponent(name.lowercased(), "key", .string(key))
    }

    /// The same component of the request that the response answers (`req`).
    public var ofRequest: HTTPComponent { adding("req") }
    /// The same field in the trailers (`tr`).
    public var inTrailers: HTTPComponent { adding("tr") }
    /// The same field in its canonical text (`sf`).
    public var canonical: HTTPComponent { adding("sf") }
    /// The same field with each value as a byte sequence (`bs`).
    public var wrapped: HTTPComponent { adding("bs") }

    private func adding(_ key: String) -> HTTPComponent {
        var parameters = parameters
        parameters.set(key, .boolean(true))
        return HTTPComponent(name: name, parameters: parameters)
    }

    /// The identifier as in a signature: `"@query-param";name="Pet"`.
    var identifier: String { item.text }

    var item: StructuredItem { StructuredItem(value: .string(name), parameters: parameters) }

    func has(_ parameter: String) -> Bool { parameters[parameter] == .boolean(true) }

    func text(of parameter: String) -> String? {
        guard case .string(let text)? = parameters[parameter] else { return nil }
        return text
    }
}

// MARK: Validation

extension HTTPComponent {
    private static let derived: Set<String> = [
        "@method", "@target-uri", "@authority", "@scheme", "@request-target", "@path", "@query", "@query-param",
        "@status",
    ]

    /// A component of a received signature.
    init(_ item: StructuredItem) throws(KeychainError) {
        guard case .string(let name) = item.value else {
            throw .parameter("a covered component must be a string, found \(item.value.text)")
        }
        self.init(name: name, parameters: item.parameters)
        try validate()
    }

    /// Checks that this is a component with a defined value. An unknown one is refused, because its
    /// value would be a guess.
    func validate() throws(KeychainError) {
        let isDerived = name.hasPrefix("@")
        if isDerived {
            guard Self.derived.contains(name) else { throw refusal("is not a derived component of RFC 9421") }
        } else {
            guard !name.isEmpty, name == name.lowercased(), name.utf8.allSatisfy(\.isTokenCharacter) else {
                throw refusal("is not the name of a field in lowercase")
            }
        }
        for parameter in parameters.all {
            switch (parameter.key, parameter.value) {
            case ("req", .boolean(true)): continue
            case ("tr", .boolean(true)), ("sf", .boolean(true)), ("bs", .boolean(true)): if !isDerived { continue }
            case ("key", .string): if !isDerived { continue }
            case ("name", .string): if name == "@query-param" { continue }
            default: break
            }
            throw refusal("has the unknown or inapplicable parameter \(parameter.key)")
        }
        guard name != "@query-param" || text(of: "name") != nil else { throw refusal("needs the parameter name") }
        guard !has("bs") || !has("sf") && text(of: "key") == nil else {
            throw refusal("cannot be wrapped and parsed at the same time")
        }
        guard name != "@status" || !has("req") else { throw refusal("is not a part of a request") }
    }

    func refusal(_ problem: String) -> KeychainError { .parameter("the component \(identifier) \(problem)") }
}

// MARK: Hashable

extension HTTPComponent: Hashable {
    /// The order of the parameters has no meaning (RFC 9421, section 2).
    public static func == (left: HTTPComponent, right: HTTPComponent) -> Bool {
        left.name == right.name && Set(left.parameters.all) == Set(right.parameters.all)
    }

    /// Hashes the name and the parameters in any order.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(name)
        hasher.combine(Set(parameters.all))
    }
}
