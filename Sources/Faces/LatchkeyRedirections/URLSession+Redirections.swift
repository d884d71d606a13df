// SPDX-License-Identifier: Apache-2.0

package import Foundation
package import FoundationNetworking
internal import LatchkeyURLSession

// As Data+Redirections.swift, for connections. Every session gets Latchkey's connections where it is made: also one with
// a configuration that another library has made, or that has classes of the program.

extension URLSessionConfiguration {
    /// `URLSessionConfiguration.default`.
    @_silgen_name("__wrap_$s20FoundationNetworking23URLSessionConfigurationC7defaultACvgZ")
    package class func redirectedDefault() -> URLSessionConfiguration {
        let configuration = plainDefault()
        configuration.adoptLatchkey()
        return configuration
    }

    @_silgen_name("__real_$s20FoundationNetworking23URLSessionConfigurationC7defaultACvgZ")
    private class func plainDefault() -> URLSessionConfiguration

    /// `URLSessionConfiguration.ephemeral`.
    @_silgen_name("__wrap_$s20FoundationNetworking23URLSessionConfigurationC9ephemeralACvgZ")
    package class func redirectedEphemeral() -> URLSessionConfiguration {
        let configuration = plainEphemeral()
        configuration.adoptLatchkey(keepsCredentials: true)
        return configuration
    }

    @_silgen_name("__real_$s20FoundationNetworking23URLSessionConfigurationC9ephemeralACvgZ")
    private class func plainEphemeral() -> URLSessionConfiguration
}

extension URLSession {
    /// `URLSession.shared`.
    @_silgen_name("__wrap_$s20FoundationNetworking10URLSessionC6sharedACvgZ")
    package class func redirectedShared() -> URLSession { adoptedShared }

    private static let adoptedShared = {
        let session = plainShared()
        session.configuration.adoptLatchkey()
        return session
    }()

    @_silgen_name("__real_$s20FoundationNetworking10URLSessionC6sharedACvgZ")
    private class func plainShared() -> URLSession

    // A debug build calls the allocating initializers, an optimized one the others.

    /// `URLSession.init(configuration:)`.
    @_silgen_name("__wrap_$s20FoundationNetworking10URLSessionC13configurationAcA0C13ConfigurationC_tcfC")
    package class func redirectedSession(_ configuration: __owned URLSessionConfiguration) -> URLSession {
        plainSession(configuration.adoptingLatchkey())
    }

    @_silgen_name("__real_$s20FoundationNetworking10URLSessionC13configurationAcA0C13ConfigurationC_tcfC")
    private class func plainSession(_ configuration: __owned URLSessionConfiguration) -> URLSession

    /// `URLSession.init(configuration:)`, for a session that the caller has allocated.
    @_silgen_name("__wrap_$s20FoundationNetworking10URLSessionC13configurationAcA0C13ConfigurationC_tcfc")
    package __consuming func redirectedInitialization(_ configuration: __owned URLSessionConfiguration) -> URLSession {
        plainInitialization(configuration.adoptingLatchkey())
    }

    @_silgen_name("__real_$s20FoundationNetworking10URLSessionC13configurationAcA0C13ConfigurationC_tcfc")
    private __consuming func plainInitialization(_ configuration: __owned URLSessionConfiguration) -> URLSession

    /// `URLSession.init(configuration:delegate:delegateQueue:)`.
    @_silgen_name(
        "__wrap_$s20FoundationNetworking10URLSessionC13configuration8delegate0E5QueueAcA0C13ConfigurationC_AA0C8Delegate_pSg0A009OperationF0CSgtcfC"
    )
    package class func redirectedSession(
        _ configuration: __owned URLSessionConfiguration, _ delegate: __owned (any URLSessionDelegate)?,
        _ queue: __owned OperationQueue?
    ) -> URLSession {
        plainSession(configuration.adoptingLatchkey(), delegate, queue)
    }

    @_silgen_name(
        "__real_$s20FoundationNetworking10URLSessionC13configuration8delegate0E5QueueAcA0C13ConfigurationC_AA0C8Delegate_pSg0A009OperationF0CSgtcfC"
    )
    private class func plainSession(
        _ configuration: __owned URLSessionConfiguration, _ delegate: __owned (any URLSessionDelegate)?,
        _ queue: __owned OperationQueue?
    ) -> URLSession

    /// `URLSession.init(configuration:delegate:delegateQueue:)`, for a session that the caller has allocated.
    @_silgen_name(
        "__wrap_$s20FoundationNetworking10URLSessionC13configuration8delegate0E5QueueAcA0C13ConfigurationC_AA0C8Delegate_pSg0A009OperationF0CSgtcfc"
    )
    package __consuming func redirectedInitialization(
        _ configuration: __owned URLSessionConfiguration, _ delegate: __owned (any URLSessionDelegate)?,
        _ queue: __owned OperationQueue?
    ) -> URLSession {
        plainInitialization(configuration.adoptingLatchkey(), delegate, queue)
    }

    @_silgen_name(
        "__real_$s20FoundationNetworking10URLSessionC13configuration8delegate0E5QueueAcA0C13ConfigurationC_AA0C8Delegate_pSg0A009OperationF0CSgtcfc"
    )
    private __consuming func plainInitialization(
        _ configuration: __owned URLSessionConfiguration, _ delegate: __owned (any URLSessionDelegate)?,
        _ queue: __owned OperationQueue?
    ) -> URLSession
}

extension URLCredentialStorage {
    /// `URLCredentialStorage.shared`.
    @_silgen_name("__wrap_$s20FoundationNetworking20URLCredentialStorageC6sharedACvgZ")
    package class func redirectedShared() -> URLCredentialStorage { .latchkey }
}
