// SPDX-License-Identifier: Apache-2.0
//
// The functions that the modules SecurityKey, TrustedPlatformModule and SystemBus call. The linker names one that is
// missing here.

#define FIDO2_FUNCTIONS(F) \
    F(es256_pk_free) F(es256_pk_from_ptr) F(es256_pk_new) F(fido_assert_allow_cred) F(fido_assert_count) \
    F(fido_assert_flags) F(fido_assert_free) F(fido_assert_hmac_secret_len) F(fido_assert_hmac_secret_ptr) \
    F(fido_assert_new) F(fido_assert_set_clientdata_hash) F(fido_assert_set_extensions) F(fido_assert_set_hmac_salt) \
    F(fido_assert_set_rp) F(fido_assert_set_up) F(fido_assert_set_uv) F(fido_assert_verify) \
    F(fido_cbor_info_aaguid_len) F(fido_cbor_info_aaguid_ptr) F(fido_cbor_info_extensions_len) \
    F(fido_cbor_info_extensions_ptr) F(fido_cbor_info_free) F(fido_cbor_info_new) F(fido_cbor_info_options_len) \
    F(fido_cbor_info_options_name_ptr) F(fido_cbor_info_options_value_ptr) F(fido_cred_flags) F(fido_cred_fmt) \
    F(fido_cred_free) F(fido_cred_id_len) F(fido_cred_id_ptr) F(fido_cred_new) F(fido_cred_pubkey_len) \
    F(fido_cred_pubkey_ptr) F(fido_cred_set_clientdata_hash) F(fido_cred_set_extensions) F(fido_cred_set_rp) \
    F(fido_cred_set_type) F(fido_cred_set_user) F(fido_cred_set_uv) F(fido_cred_type) F(fido_cred_verify) \
    F(fido_cred_verify_self) F(fido_cred_x5c_len) F(fido_dev_cancel) F(fido_dev_close) F(fido_dev_free) \
    F(fido_dev_get_assert) F(fido_dev_get_cbor_info) F(fido_dev_get_retry_count) F(fido_dev_has_pin) \
    F(fido_dev_info_free) F(fido_dev_info_manifest) F(fido_dev_info_manufacturer_string) F(fido_dev_info_new) \
    F(fido_dev_info_path) F(fido_dev_info_product_string) F(fido_dev_info_ptr) F(fido_dev_is_fido2) \
    F(fido_dev_make_cred) F(fido_dev_new) F(fido_dev_open) F(fido_dev_set_io_functions)

#define ESYS_FUNCTIONS(F) \
    F(Esys_ActivateCredential) F(Esys_Certify) F(Esys_Create) F(Esys_CreatePrimary) F(Esys_ECDH_ZGen) \
    F(Esys_Finalize) F(Esys_FlushContext) F(Esys_Free) F(Esys_GetCapability) F(Esys_GetSysContext) \
    F(Esys_Initialize) F(Esys_Load) F(Esys_NV_DefineSpace) F(Esys_NV_Increment) F(Esys_NV_Read) \
    F(Esys_NV_ReadPublic) F(Esys_NV_UndefineSpace) F(Esys_NV_Write) F(Esys_PCR_Read) F(Esys_PolicyPCR) \
    F(Esys_PolicySecret) F(Esys_ReadPublic) F(Esys_Sign) F(Esys_StartAuthSession) F(Esys_Startup) \
    F(Esys_TRSess_SetAttributes) F(Esys_TR_Close) F(Esys_TR_FromTPMPublic) F(Esys_TR_GetName) F(Esys_TR_SetAuth) \
    F(Esys_Unseal)

#define MU_FUNCTIONS(F) \
    F(Tss2_MU_TPM2B_PRIVATE_Marshal) F(Tss2_MU_TPM2B_PRIVATE_Unmarshal) F(Tss2_MU_TPM2B_PUBLIC_Marshal) \
    F(Tss2_MU_TPM2B_PUBLIC_Unmarshal)

#define SYSTEMD_FUNCTIONS(F) \
    F(sd_bus_add_fallback) F(sd_bus_add_match_async) F(sd_bus_call_async) F(sd_bus_close_unref) F(sd_bus_error_free) \
    F(sd_bus_error_set) F(sd_bus_get_events) F(sd_bus_get_fd) F(sd_bus_get_n_queued_read) \
    F(sd_bus_get_n_queued_write) F(sd_bus_get_timeout) F(sd_bus_get_unique_name) F(sd_bus_interface_name_is_valid) \
    F(sd_bus_is_open) F(sd_bus_is_ready) F(sd_bus_member_name_is_valid) F(sd_bus_message_append_array) \
    F(sd_bus_message_append_basic) F(sd_bus_message_at_end) F(sd_bus_message_close_container) \
    F(sd_bus_message_enter_container) F(sd_bus_message_exit_container) F(sd_bus_message_get_cookie) \
    F(sd_bus_message_get_error) F(sd_bus_message_get_expect_reply) F(sd_bus_message_get_interface) \
    F(sd_bus_message_get_member) F(sd_bus_message_get_path) F(sd_bus_message_get_sender) \
    F(sd_bus_message_get_signature) F(sd_bus_message_new_method_call) F(sd_bus_message_new_method_error) \
    F(sd_bus_message_new_method_return) F(sd_bus_message_new_signal) F(sd_bus_message_open_container) \
    F(sd_bus_message_peek_type) F(sd_bus_message_read_array) F(sd_bus_message_read_basic) F(sd_bus_message_rewind) \
    F(sd_bus_message_seal) F(sd_bus_message_sensitive) F(sd_bus_message_set_destination) \
    F(sd_bus_message_set_expect_reply) F(sd_bus_message_set_sender) F(sd_bus_message_unref) F(sd_bus_new) \
    F(sd_bus_open_system_with_description) F(sd_bus_open_user_with_description) F(sd_bus_process) F(sd_bus_send) \
    F(sd_bus_set_address) F(sd_bus_set_bus_client) F(sd_bus_slot_unref) F(sd_bus_start)
