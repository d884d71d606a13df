// SPDX-License-Identifier: Apache-2.0

// Apple's status constants of CDSA, the architecture below the older functions, with Apple's names
// and numbers (SecBase.h). The codes about certificates are also results of chain evaluation. Each
// comment is the message of the status in KeychainModel's `OSStatusCode`.

// MARK: - Databases, certificates, revocation, modules, keys, timestamps

/// Service not reachable.
public let errSecServiceNotAvailable: OSStatus = -67585
/// Wrong client id.
public let errSecInsufficientClientID: OSStatus = -67586
/// The device was reset.
public let errSecDeviceReset: OSStatus = -67587
/// The device failed.
public let errSecDeviceFailed: OSStatus = -67588
/// An application could not be put on the access list.
public let errSecAppleAddAppACLSubject: OSStatus = -67589
/// The public key lacks some of its parameters.
public let errSecApplePublicKeyIncomplete: OSStatus = -67590
/// The signature does not match the signed content.
public let errSecAppleSignatureMismatch: OSStatus = -67591
/// The key's period of use has an unusable start.
public let errSecAppleInvalidKeyStartDate: OSStatus = -67592
/// The key's period of use has an unusable end.
public let errSecAppleInvalidKeyEndDate: OSStatus = -67593
/// A value could not be converted to the requested form.
public let errSecConversionError: OSStatus = -67594
/// The connection was forced down to SSL 2.
public let errSecAppleSSLv2Rollback: OSStatus = -67595
/// Quota exceeded.
public let errSecQuotaExceeded: OSStatus = -67596
/// File too big.
public let errSecFileTooBig: OSStatus = -67597
/// Damaged database record.
public let errSecInvalidDatabaseBlob: OSStatus = -67598
/// Damaged key record.
public let errSecInvalidKeyBlob: OSStatus = -67599
/// Database record of a version this program cannot read.
public let errSecIncompatibleDatabaseBlob: OSStatus = -67600
/// Key record of a version this program cannot read.
public let errSecIncompatibleKeyBlob: OSStatus = -67601
/// Host name does not match.
public let errSecHostNameMismatch: OSStatus = -67602
/// Unknown critical extension.
public let errSecUnknownCriticalExtensionFlag: OSStatus = -67603
/// The certificate has no basic constraints.
public let errSecNoBasicConstraints: OSStatus = -67604
/// Issuer is not a CA.
public let errSecNoBasicConstraintsCA: OSStatus = -67605
/// Authority key id does not match.
public let errSecInvalidAuthorityKeyID: OSStatus = -67606
/// Subject key id does not match.
public let errSecInvalidSubjectKeyID: OSStatus = -67607
/// Key usage not allowed by the policy.
public let errSecInvalidKeyUsageForPolicy: OSStatus = -67608
/// Extended key usage not allowed.
public let errSecInvalidExtendedKeyUsage: OSStatus = -67609
/// The key ids of certificate and issuer do not match.
public let errSecInvalidIDLinkage: OSStatus = -67610
/// Chain longer than allowed.
public let errSecPathLengthConstraintExceeded: OSStatus = -67611
/// Root not acceptable.
public let errSecInvalidRoot: OSStatus = -67612
/// The revocation list is out of date.
public let errSecCRLExpired: OSStatus = -67613
/// The revocation list is dated in the future.
public let errSecCRLNotValidYet: OSStatus = -67614
/// No revocation list for this issuer.
public let errSecCRLNotFound: OSStatus = -67615
/// The server for revocation lists does not answer.
public let errSecCRLServerDown: OSStatus = -67616
/// The address of the revocation list cannot be used.
public let errSecCRLBadURI: OSStatus = -67617
/// Certificate extension not understood.
public let errSecUnknownCertExtension: OSStatus = -67618
/// Revocation list extension not understood.
public let errSecUnknownCRLExtension: OSStatus = -67619
/// The signer of the revocation list is not trusted.
public let errSecCRLNotTrusted: OSStatus = -67620
/// The signer of the revocation list fails the policy.
public let errSecCRLPolicyFailed: OSStatus = -67621
/// The revocation list does not cover this kind of certificate.
public let errSecIDPFailure: OSStatus = -67622
/// The certificate does not contain the email address.
public let errSecSMIMEEmailAddressesNotFound: OSStatus = -67623
/// Extended key usage does not allow email protection.
public let errSecSMIMEBadExtendedKeyUsage: OSStatus = -67624
/// Key usage does not allow email protection.
public let errSecSMIMEBadKeyUsage: OSStatus = -67625
/// Key usage of the email certificate is not marked critical.
public let errSecSMIMEKeyUsageNotCritical: OSStatus = -67626
/// The email certificate contains no email address.
public let errSecSMIMENoEmailAddress: OSStatus = -67627
/// Email certificate has neither a subject nor a critical alternative name.
public let errSecSMIMESubjAltNameNotCritical: OSStatus = -67628
/// Extended key usage does not allow TLS.
public let errSecSSLBadExtendedKeyUsage: OSStatus = -67629
/// The OCSP response cannot be read.
public let errSecOCSPBadResponse: OSStatus = -67630
/// The OCSP request cannot be read.
public let errSecOCSPBadRequest: OSStatus = -67631
/// No OCSP responder can be reached.
public let errSecOCSPUnavailable: OSStatus = -67632
/// The OCSP responder does not know this certificate.
public let errSecOCSPStatusUnrecognized: OSStatus = -67633
/// Nothing more to read.
public let errSecEndOfData: OSStatus = -67634
/// Revocation could not be checked for the whole chain.
public let errSecIncompleteCertRevocationCheck: OSStatus = -67635
/// The network request failed.
public let errSecNetworkFailure: OSStatus = -67636
/// The OCSP response does not chain to a trusted root.
public let errSecOCSPNotTrustedToAnchor: OSStatus = -67637
/// The record was changed by another process.
public let errSecRecordModified: OSStatus = -67638
/// The signature on the OCSP response does not verify.
public let errSecOCSPSignatureError: OSStatus = -67639
/// The signer of the OCSP response cannot be found.
public let errSecOCSPNoSigner: OSStatus = -67640
/// The OCSP responder could not parse the request.
public let errSecOCSPResponderMalformedReq: OSStatus = -67641
/// The OCSP responder had an internal error.
public let errSecOCSPResponderInternalError: OSStatus = -67642
/// The OCSP responder is busy, retry later.
public let errSecOCSPResponderTryLater: OSStatus = -67643
/// The OCSP responder requires signed requests.
public let errSecOCSPResponderSignatureRequired: OSStatus = -67644
/// The OCSP responder refuses this client.
public let errSecOCSPResponderUnauthorized: OSStatus = -67645
/// The nonce in the OCSP response does not match the request.
public let errSecOCSPResponseNonceMismatch: OSStatus = -67646
/// Wrong number of certificates for code signing.
public let errSecCodeSigningBadCertChainLength: OSStatus = -67647
/// Code signing chain lacks basic constraints.
public let errSecCodeSigningNoBasicConstraints: OSStatus = -67648
/// Code signing chain exceeds its path length constraint.
public let errSecCodeSigningBadPathLengthConstraint: OSStatus = -67649
/// Extended key usage for code signing is absent.
public let errSecCodeSigningNoExtendedKeyUsage: OSStatus = -67650
/// Certificate is for development signing only.
public let errSecCodeSigningDevelopment: OSStatus = -67651
/// Wrong number of certificates for resource signing.
public let errSecResourceSignBadCertChainLength: OSStatus = -67652
/// Extended key usage does not allow resource signing.
public let errSecResourceSignBadExtKeyUsage: OSStatus = -67653
/// Denied by a trust setting.
public let errSecTrustSettingDeny: OSStatus = -67654
/// Subject name empty or malformed.
public let errSecInvalidSubjectName: OSStatus = -67655
/// Statement of the qualified certificate not understood.
public let errSecUnknownQualifiedCertStatement: OSStatus = -67656
/// The account server will send its response later.
public let errSecMobileMeRequestQueued: OSStatus = -67657
/// The account server points to another server.
public let errSecMobileMeRequestRedirected: OSStatus = -67658
/// The account server returned an error.
public let errSecMobileMeServerError: OSStatus = -67659
/// The account server does not answer.
public let errSecMobileMeServerNotAvailable: OSStatus = -67660
/// The account server already has such a certificate.
public let errSecMobileMeServerAlreadyExists: OSStatus = -67661
/// The service behind the account server failed.
public let errSecMobileMeServerServiceErr: OSStatus = -67662
/// An earlier request to the account server is still pending.
public let errSecMobileMeRequestAlreadyPending: OSStatus = -67663
/// No request to the account server is pending.
public let errSecMobileMeNoRequestPending: OSStatus = -67664
/// The account server rejects the signing request.
public let errSecMobileMeCSRVerifyFailure: OSStatus = -67665
/// The data from the account server are inconsistent.
public let errSecMobileMeFailedConsistencyCheck: OSStatus = -67666
/// Used before initialisation.
public let errSecNotInitialized: OSStatus = -67667
/// The handle is of the wrong kind for this call.
public let errSecInvalidHandleUsage: OSStatus = -67668
/// Pointer check: the calling module is unknown.
public let errSecPVCReferentNotFound: OSStatus = -67669
/// Pointer check: the function's address is out of place.
public let errSecFunctionIntegrityFail: OSStatus = -67670
/// Internal error.
public let errSecInternalError: OSStatus = -67671
/// Memory could not be used.
public let errSecMemoryError: OSStatus = -67672
/// Invalid data.
public let errSecInvalidData: OSStatus = -67673
/// The module directory failed.
public let errSecMDSError: OSStatus = -67674
/// Invalid pointer.
public let errSecInvalidPointer: OSStatus = -67675
/// The module found itself altered.
public let errSecSelfCheckFailed: OSStatus = -67676
/// The function failed.
public let errSecFunctionFailed: OSStatus = -67677
/// The module's signed manifest does not verify.
public let errSecModuleManifestVerifyFailed: OSStatus = -67678
/// Malformed module identifier.
public let errSecInvalidGUID: OSStatus = -67679
/// No open object has this handle.
public let errSecInvalidHandle: OSStatus = -67680
/// The list of databases is malformed.
public let errSecInvalidDBList: OSStatus = -67681
/// No private operation has this number.
public let errSecInvalidPassthroughID: OSStatus = -67682
/// Malformed network address.
public let errSecInvalidNetworkAddress: OSStatus = -67683
/// A signed revocation list cannot be changed.
public let errSecCRLAlreadySigned: OSStatus = -67684
/// Wrong number of fields.
public let errSecInvalidNumberOfFields: OSStatus = -67685
/// A check did not succeed.
public let errSecVerificationFailure: OSStatus = -67686
/// Tag not understood.
public let errSecUnknownTag: OSStatus = -67687
/// Signature malformed or wrong.
public let errSecInvalidSignature: OSStatus = -67688
/// Malformed name.
public let errSecInvalidName: OSStatus = -67689
/// Not a valid certificate reference.
public let errSecInvalidCertificateRef: OSStatus = -67690
/// Malformed set of certificates.
public let errSecInvalidCertificateGroup: OSStatus = -67691
/// No entry carries this tag.
public let errSecTagNotFound: OSStatus = -67692
/// Invalid query.
public let errSecInvalidQuery: OSStatus = -67693
/// Invalid value.
public let errSecInvalidValue: OSStatus = -67694
/// The callback of the caller failed.
public let errSecCallbackFailed: OSStatus = -67695
/// The access entry could not be removed.
public let errSecACLDeleteFailed: OSStatus = -67696
/// The access entry could not be replaced.
public let errSecACLReplaceFailed: OSStatus = -67697
/// The access entry could not be added.
public let errSecACLAddFailed: OSStatus = -67698
/// The access list could not be edited.
public let errSecACLChangeFailed: OSStatus = -67699
/// Unusable access credentials.
public let errSecInvalidAccessCredentials: OSStatus = -67700
/// Malformed record.
public let errSecInvalidRecord: OSStatus = -67701
/// Invalid access list.
public let errSecInvalidACL: OSStatus = -67702
/// The credential sample does not satisfy the access list.
public let errSecInvalidSampleValue: OSStatus = -67703
/// Incompatible versions.
public let errSecIncompatibleVersion: OSStatus = -67704
/// The caller was not given that privilege.
public let errSecPrivilegeNotGranted: OSStatus = -67705
/// No such privilege scope.
public let errSecInvalidScope: OSStatus = -67706
/// Pointer checking was already configured.
public let errSecPVCAlreadyConfigured: OSStatus = -67707
/// No such mode of pointer checking.
public let errSecInvalidPVC: OSStatus = -67708
/// The extra module manager could not be loaded.
public let errSecEMMLoadFailed: OSStatus = -67709
/// The extra module manager could not be unloaded.
public let errSecEMMUnloadFailed: OSStatus = -67710
/// The plug-in could not be loaded.
public let errSecAddinLoadFailed: OSStatus = -67711
/// Not a valid key reference.
public let errSecInvalidKeyRef: OSStatus = -67712
/// No such level in the key hierarchy.
public let errSecInvalidKeyHierarchy: OSStatus = -67713
/// The plug-in could not be unloaded.
public let errSecAddinUnloadFailed: OSStatus = -67714
/// The library is not loaded.
public let errSecLibraryReferenceNotFound: OSStatus = -67715
/// The plug-in offers a malformed function table.
public let errSecInvalidAddinFunctionTable: OSStatus = -67716
/// No such combination of services.
public let errSecInvalidServiceMask: OSStatus = -67717
/// The module has to be loaded first.
public let errSecModuleNotLoaded: OSStatus = -67718
/// The module has no part with this number.
public let errSecInvalidSubServiceID: OSStatus = -67719
/// The operation context does not contain this attribute.
public let errSecAttributeNotInContext: OSStatus = -67720
/// The module manager did not start.
public let errSecModuleManagerInitializeFailed: OSStatus = -67721
/// No module manager for this service.
public let errSecModuleManagerNotFound: OSStatus = -67722
/// No function is registered for module events.
public let errSecEventNotificationCallbackNotFound: OSStatus = -67723
/// Wrong input length.
public let errSecInputLengthError: OSStatus = -67724
/// Wrong output length.
public let errSecOutputLengthError: OSStatus = -67725
/// That privilege does not exist here.
public let errSecPrivilegeNotSupported: OSStatus = -67726
/// The device reported a fault.
public let errSecDeviceError: OSStatus = -67727
/// The module connection is in use.
public let errSecAttachHandleBusy: OSStatus = -67728
/// A login to the device is needed first.
public let errSecNotLoggedIn: OSStatus = -67729
/// Algorithm does not match the key.
public let errSecAlgorithmMismatch: OSStatus = -67730
/// Key not usable for this.
public let errSecKeyUsageIncorrect: OSStatus = -67731
/// The key data are not of the stated kind.
public let errSecKeyBlobTypeIncorrect: OSStatus = -67732
/// The key's header contradicts its data.
public let errSecKeyHeaderInconsistent: OSStatus = -67733
/// Key format not supported.
public let errSecUnsupportedKeyFormat: OSStatus = -67734
/// Key size not supported.
public let errSecUnsupportedKeySize: OSStatus = -67735
/// Invalid usage mask.
public let errSecInvalidKeyUsageMask: OSStatus = -67736
/// This combination of key uses is not supported.
public let errSecUnsupportedKeyUsageMask: OSStatus = -67737
/// Invalid attribute mask.
public let errSecInvalidKeyAttributeMask: OSStatus = -67738
/// This combination of key attributes is not supported.
public let errSecUnsupportedKeyAttributeMask: OSStatus = -67739
/// Unusable key label.
public let errSecInvalidKeyLabel: OSStatus = -67740
/// Keys cannot carry this label.
public let errSecUnsupportedKeyLabel: OSStatus = -67741
/// Malformed key data.
public let errSecInvalidKeyFormat: OSStatus = -67742
/// Only a single buffer can be handled.
public let errSecUnsupportedVectorOfBuffers: OSStatus = -67743
/// The list of input buffers is malformed.
public let errSecInvalidInputVector: OSStatus = -67744
/// The list of output buffers is malformed.
public let errSecInvalidOutputVector: OSStatus = -67745
/// The operation context is unusable.
public let errSecInvalidContext: OSStatus = -67746
/// Invalid algorithm.
public let errSecInvalidAlgorithm: OSStatus = -67747
/// The key given to the operation is unusable.
public let errSecInvalidAttributeKey: OSStatus = -67748
/// Key attribute missing.
public let errSecMissingAttributeKey: OSStatus = -67749
/// Unusable initialisation vector.
public let errSecInvalidAttributeInitVector: OSStatus = -67750
/// The operation needs an initialisation vector.
public let errSecMissingAttributeInitVector: OSStatus = -67751
/// Unusable salt.
public let errSecInvalidAttributeSalt: OSStatus = -67752
/// The operation needs a salt.
public let errSecMissingAttributeSalt: OSStatus = -67753
/// Unusable padding scheme.
public let errSecInvalidAttributePadding: OSStatus = -67754
/// The operation needs a padding scheme.
public let errSecMissingAttributePadding: OSStatus = -67755
/// Unusable random data.
public let errSecInvalidAttributeRandom: OSStatus = -67756
/// The operation needs random data.
public let errSecMissingAttributeRandom: OSStatus = -67757
/// Unusable seed.
public let errSecInvalidAttributeSeed: OSStatus = -67758
/// The operation needs a seed.
public let errSecMissingAttributeSeed: OSStatus = -67759
/// Unusable passphrase.
public let errSecInvalidAttributePassphrase: OSStatus = -67760
/// The operation needs a passphrase.
public let errSecMissingAttributePassphrase: OSStatus = -67761
/// Invalid key length.
public let errSecInvalidAttributeKeyLength: OSStatus = -67762
/// The operation needs a key length.
public let errSecMissingAttributeKeyLength: OSStatus = -67763
/// Unusable block size.
public let errSecInvalidAttributeBlockSize: OSStatus = -67764
/// The operation needs a block size.
public let errSecMissingAttributeBlockSize: OSStatus = -67765
/// Unusable output size.
public let errSecInvalidAttributeOutputSize: OSStatus = -67766
/// The operation needs an output size.
public let errSecMissingAttributeOutputSize: OSStatus = -67767
/// Unusable number of rounds.
public let errSecInvalidAttributeRounds: OSStatus = -67768
/// The operation needs a number of rounds.
public let errSecMissingAttributeRounds: OSStatus = -67769
/// Invalid algorithm parameters.
public let errSecInvalidAlgorithmParms: OSStatus = -67770
/// The operation needs algorithm parameters.
public let errSecMissingAlgorithmParms: OSStatus = -67771
/// Unusable operation label.
public let errSecInvalidAttributeLabel: OSStatus = -67772
/// The operation needs a label.
public let errSecMissingAttributeLabel: OSStatus = -67773
/// Unusable key type.
public let errSecInvalidAttributeKeyType: OSStatus = -67774
/// The operation needs a key type.
public let errSecMissingAttributeKeyType: OSStatus = -67775
/// Unusable cipher mode.
public let errSecInvalidAttributeMode: OSStatus = -67776
/// The operation needs a cipher mode.
public let errSecMissingAttributeMode: OSStatus = -67777
/// Unusable effective key strength.
public let errSecInvalidAttributeEffectiveBits: OSStatus = -67778
/// The operation needs an effective key strength.
public let errSecMissingAttributeEffectiveBits: OSStatus = -67779
/// Unusable start of the key's lifetime.
public let errSecInvalidAttributeStartDate: OSStatus = -67780
/// The operation needs a start for the key's lifetime.
public let errSecMissingAttributeStartDate: OSStatus = -67781
/// Unusable end of the key's lifetime.
public let errSecInvalidAttributeEndDate: OSStatus = -67782
/// The operation needs an end for the key's lifetime.
public let errSecMissingAttributeEndDate: OSStatus = -67783
/// Unusable algorithm version.
public let errSecInvalidAttributeVersion: OSStatus = -67784
/// The operation needs an algorithm version.
public let errSecMissingAttributeVersion: OSStatus = -67785
/// Unusable prime of the group.
public let errSecInvalidAttributePrime: OSStatus = -67786
/// The operation needs the prime of the group.
public let errSecMissingAttributePrime: OSStatus = -67787
/// Unusable generator of the group.
public let errSecInvalidAttributeBase: OSStatus = -67788
/// The operation needs the generator of the group.
public let errSecMissingAttributeBase: OSStatus = -67789
/// Unusable order of the subgroup.
public let errSecInvalidAttributeSubprime: OSStatus = -67790
/// The operation needs the order of the subgroup.
public let errSecMissingAttributeSubprime: OSStatus = -67791
/// Unusable iteration count.
public let errSecInvalidAttributeIterationCount: OSStatus = -67792
/// The operation needs an iteration count.
public let errSecMissingAttributeIterationCount: OSStatus = -67793
/// Unusable database handle for the operation.
public let errSecInvalidAttributeDLDBHandle: OSStatus = -67794
/// The operation needs a database handle.
public let errSecMissingAttributeDLDBHandle: OSStatus = -67795
/// Credentials given to the operation are unusable.
public let errSecInvalidAttributeAccessCredentials: OSStatus = -67796
/// The operation needs access credentials.
public let errSecMissingAttributeAccessCredentials: OSStatus = -67797
/// Unusable format for public keys.
public let errSecInvalidAttributePublicKeyFormat: OSStatus = -67798
/// The operation needs a format for public keys.
public let errSecMissingAttributePublicKeyFormat: OSStatus = -67799
/// Unusable format for private keys.
public let errSecInvalidAttributePrivateKeyFormat: OSStatus = -67800
/// The operation needs a format for private keys.
public let errSecMissingAttributePrivateKeyFormat: OSStatus = -67801
/// Unusable format for symmetric keys.
public let errSecInvalidAttributeSymmetricKeyFormat: OSStatus = -67802
/// The operation needs a format for symmetric keys.
public let errSecMissingAttributeSymmetricKeyFormat: OSStatus = -67803
/// Unusable format for wrapped keys.
public let errSecInvalidAttributeWrappedKeyFormat: OSStatus = -67804
/// The operation needs a format for wrapped keys.
public let errSecMissingAttributeWrappedKeyFormat: OSStatus = -67805
/// Another multi-step operation has not finished.
public let errSecStagedOperationInProgress: OSStatus = -67806
/// The multi-step operation was never begun.
public let errSecStagedOperationNotStarted: OSStatus = -67807
/// Signature verification failed.
public let errSecVerifyFailed: OSStatus = -67808
/// The size of the output cannot be predicted.
public let errSecQuerySizeUnknown: OSStatus = -67809
/// Block size does not match.
public let errSecBlockSizeMismatch: OSStatus = -67810
/// Public key inconsistent.
public let errSecPublicKeyInconsistent: OSStatus = -67811
/// The device failed its own test.
public let errSecDeviceVerifyFailed: OSStatus = -67812
/// The device knows no such login.
public let errSecInvalidLoginName: OSStatus = -67813
/// A login to the device is already open.
public let errSecAlreadyLoggedIn: OSStatus = -67814
/// Invalid digest algorithm.
public let errSecInvalidDigestAlgorithm: OSStatus = -67815
/// Malformed set of revocation lists.
public let errSecInvalidCRLGroup: OSStatus = -67816
/// The certificate may not be used for this operation.
public let errSecCertificateCannotOperate: OSStatus = -67817
/// Certificate expired.
public let errSecCertificateExpired: OSStatus = -67818
/// Certificate not valid yet.
public let errSecCertificateNotValidYet: OSStatus = -67819
/// Certificate revoked.
public let errSecCertificateRevoked: OSStatus = -67820
/// Certificate on hold.
public let errSecCertificateSuspended: OSStatus = -67821
/// The credentials are not sufficient.
public let errSecInsufficientCredentials: OSStatus = -67822
/// Unusable trust action.
public let errSecInvalidAction: OSStatus = -67823
/// Unusable trust authority.
public let errSecInvalidAuthority: OSStatus = -67824
/// The trust action could not be carried out.
public let errSecVerifyActionFailed: OSStatus = -67825
/// Not a valid certificate authority.
public let errSecInvalidCertAuthority: OSStatus = -67826
/// Not a valid authority for revocation lists.
public let errSecInvalidCRLAuthority: OSStatus = -67827
/// The revocation list is not properly encoded.
public let errSecInvalidCRLEncoding: OSStatus = -67828
/// No such type of revocation list.
public let errSecInvalidCRLType: OSStatus = -67829
/// Malformed revocation list.
public let errSecInvalidCRL: OSStatus = -67830
/// No such type of form.
public let errSecInvalidFormType: OSStatus = -67831
/// Malformed id.
public let errSecInvalidID: OSStatus = -67832
/// Malformed identifier.
public let errSecInvalidIdentifier: OSStatus = -67833
/// Malformed or absent index.
public let errSecInvalidIndex: OSStatus = -67834
/// Malformed policy identifiers.
public let errSecInvalidPolicyIdentifiers: OSStatus = -67835
/// The time cannot be read.
public let errSecInvalidTimeString: OSStatus = -67836
/// No such revocation reason.
public let errSecInvalidReason: OSStatus = -67837
/// Unusable inputs to the request.
public let errSecInvalidRequestInputs: OSStatus = -67838
/// The list of responses is malformed.
public let errSecInvalidResponseVector: OSStatus = -67839
/// No such rule for ending the evaluation.
public let errSecInvalidStopOnPolicy: OSStatus = -67840
/// Malformed tuple.
public let errSecInvalidTuple: OSStatus = -67841
/// Several values are not supported.
public let errSecMultipleValuesUnsupported: OSStatus = -67842
/// Not trusted.
public let errSecNotTrusted: OSStatus = -67843
/// No default authority is set.
public let errSecNoDefaultAuthority: OSStatus = -67844
/// The form was rejected.
public let errSecRejectedForm: OSStatus = -67845
/// The request can no longer be found.
public let errSecRequestLost: OSStatus = -67846
/// The request was rejected.
public let errSecRequestRejected: OSStatus = -67847
/// This type of address is not supported.
public let errSecUnsupportedAddressType: OSStatus = -67848
/// The authority does not offer this service.
public let errSecUnsupportedService: OSStatus = -67849
/// Malformed set of tuples.
public let errSecInvalidTupleGroup: OSStatus = -67850
/// Unusable base access lists.
public let errSecInvalidBaseACLs: OSStatus = -67851
/// Credentials in a tuple are unusable.
public let errSecInvalidTupleCredentials: OSStatus = -67852
/// Invalid encoding.
public let errSecInvalidEncoding: OSStatus = -67853
/// Invalid validity period.
public let errSecInvalidValidityPeriod: OSStatus = -67854
/// Unknown requester.
public let errSecInvalidRequestor: OSStatus = -67855
/// Unusable description of the request.
public let errSecRequestDescriptor: OSStatus = -67856
/// Unusable bundle description.
public let errSecInvalidBundleInfo: OSStatus = -67857
/// No revocation entry at that index.
public let errSecInvalidCRLIndex: OSStatus = -67858
/// None of the fields has a value.
public let errSecNoFieldValues: OSStatus = -67859
/// This field format is not supported.
public let errSecUnsupportedFieldFormat: OSStatus = -67860
/// This kind of index is not supported.
public let errSecUnsupportedIndexInfo: OSStatus = -67861
/// This storage location is not supported.
public let errSecUnsupportedLocality: OSStatus = -67862
/// Too many or too few attributes.
public let errSecUnsupportedNumAttributes: OSStatus = -67863
/// Too many or too few indexes.
public let errSecUnsupportedNumIndexes: OSStatus = -67864
/// Too many or too few record types.
public let errSecUnsupportedNumRecordTypes: OSStatus = -67865
/// The same field was given twice.
public let errSecFieldSpecifiedMultiple: OSStatus = -67866
/// The field is stored in another format.
public let errSecIncompatibleFieldFormat: OSStatus = -67867
/// Unusable parser for the records.
public let errSecInvalidParsingModule: OSStatus = -67868
/// Database locked.
public let errSecDatabaseLocked: OSStatus = -67869
/// The database is still open.
public let errSecDatastoreIsOpen: OSStatus = -67870
/// Value missing.
public let errSecMissingValue: OSStatus = -67871
/// Query limits are not supported here.
public let errSecUnsupportedQueryLimits: OSStatus = -67872
/// Too many or too few search conditions.
public let errSecUnsupportedNumSelectionPreds: OSStatus = -67873
/// Search operator not supported.
public let errSecUnsupportedOperator: OSStatus = -67874
/// No database can be kept there.
public let errSecInvalidDBLocation: OSStatus = -67875
/// No such kind of database access.
public let errSecInvalidAccessRequest: OSStatus = -67876
/// Malformed index description.
public let errSecInvalidIndexInfo: OSStatus = -67877
/// That owner cannot be set.
public let errSecInvalidNewOwner: OSStatus = -67878
/// No such way of changing a record.
public let errSecInvalidModifyMode: OSStatus = -67879
/// Required certificate extension missing.
public let errSecMissingRequiredExtension: OSStatus = -67880
/// Extended key usage is not marked critical.
public let errSecExtendedKeyUsageNotCritical: OSStatus = -67881
/// The signature carries no timestamp.
public let errSecTimestampMissing: OSStatus = -67882
/// The timestamp fails its check.
public let errSecTimestampInvalid: OSStatus = -67883
/// The signer of the timestamp is not trusted.
public let errSecTimestampNotTrusted: OSStatus = -67884
/// No timestamp server can be reached.
public let errSecTimestampServiceNotAvailable: OSStatus = -67885
/// The timestamp server does not know the hash algorithm.
public let errSecTimestampBadAlg: OSStatus = -67886
/// The timestamp server does not support such requests.
public let errSecTimestampBadRequest: OSStatus = -67887
/// The timestamp server could not parse the request.
public let errSecTimestampBadDataFormat: OSStatus = -67888
/// The timestamp server has no time source.
public let errSecTimestampTimeNotAvailable: OSStatus = -67889
/// The timestamp server does not support the requested policy.
public let errSecTimestampUnacceptedPolicy: OSStatus = -67890
/// The timestamp server does not know the requested extension.
public let errSecTimestampUnacceptedExtension: OSStatus = -67891
/// The timestamp server cannot add the requested information.
public let errSecTimestampAddInfoNotAvailable: OSStatus = -67892
/// The timestamp server had an internal error.
public let errSecTimestampSystemFailure: OSStatus = -67893
/// The signature has no signing time.
public let errSecSigningTimeMissing: OSStatus = -67894
/// The timestamp server rejected the request.
public let errSecTimestampRejection: OSStatus = -67895
/// The timestamp server is still processing the request.
public let errSecTimestampWaiting: OSStatus = -67896
/// The timestamp server's certificate is about to be revoked.
public let errSecTimestampRevocationWarning: OSStatus = -67897
/// The timestamp server's certificate was revoked.
public let errSecTimestampRevocationNotification: OSStatus = -67898
/// Policy not allowed for the certificate.
public let errSecCertificatePolicyNotAllowed: OSStatus = -67899
/// Name not allowed for the certificate.
public let errSecCertificateNameNotAllowed: OSStatus = -67900
/// Validity period too long.
public let errSecCertificateValidityPeriodTooLong: OSStatus = -67901
/// Leaf is a CA certificate.
public let errSecCertificateIsCA: OSStatus = -67902
/// Extension occurs twice.
public let errSecCertificateDuplicateExtension: OSStatus = -67903
/// The certificate lacks the statement of a qualified certificate.
public let errSecMissingQualifiedCertStatement: OSStatus = -67904
