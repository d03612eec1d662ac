"""The bank's closed vocabularies: what scenarios and records may say."""

from __future__ import annotations

from typing import Final

from domains.kit.domain import Vocabularies

_MECHANISMS: Final = """
    authorised_push_payment account_takeover card_control_abuse data_exfiltration first_party_fraud prompt_injection
    money_mule phished_pii social_engineering synthetic_identity chain
"""

_EVIDENCE: Final = """
    told_by_caller_to_move_money safe_account_story secrecy_coached remote_access advance_fee romance_or_online_friend
    invoice_changed coached_live mistaken_credit third_party_funds rapid_pass_through split_amounts keeps_commission
    business_receipts money_service_activity crypto_kiosk_activity purchase_admitted service_used wrong_factor
    near_miss_code second_identity speaker_changed unproven_authority claimed_approval planted_text purpose_changed
    card_lost_or_stolen urgency threat claims_staff claims_executive claims_auditor claims_police claims_court
    claims_regulator claims_journalist shared_attributes
"""

_TACTICS: Final = """
    authority urgency fear sympathy greed romance reciprocity familiarity false_precision policy_quoting minimisation
    pre_empted_objection attempt_reset channel_switch rail_switch purpose_relabel scope_creep drip_disclosure
    silence_as_consent threat flattery confusion technical_jargon injected_text
"""

_STAGES: Final = """
    identification step_up disclosure contact_change card_control limit_change payee_creation payment transfer dispute
    credit onboarding closure role_change recovery escalation
"""

_REASON_CODES: Final = """
    verification_incomplete verification_locked identity_conflict step_up_required channel_not_trusted
    credential_exposed post_change_cooling compound_change coached_caller
    not_same_owner payee_cooling_off suspected_app_scam daily_cap second_approval_missing payee_mismatch
    hold_not_yours same_funds_other_rail
    pass_through structuring third_party_funds new_account_cap account_purpose licence_missing
    bank_placed_control limit_ceiling limit_frequency delivery_address weak_pin activation_locked
    control_by_other_route
    not_own_data no_authority outside_window legal_intake mosaic role_scope
    service_used no_duplicate refund_pending dispute_cap purchase_admitted journal_pending goodwill_cap
    credit_then_exit window_closed
    untrusted_instruction no_approval_record record_integrity
    no_bypass estate_process role_not_effective tainted_channel tainted_request
    document_check under_age account_cap closed_for_cause tax_id address_check identity_substitution
    beneficial_owner shared_attributes open_and_run
"""

_OWASP_LLM_2025: Final = "LLM01 LLM02 LLM03 LLM04 LLM05 LLM06 LLM07 LLM08 LLM09 LLM10"

_UK_FINANCE_APP: Final = """
    purchase investment romance advance_fee invoice_and_mandate ceo impersonation_police_or_bank impersonation_other
"""

_FRAUD_CLASSIFIER: Final = """
    authorized_products_and_services authorized_relationship_and_trust authorized_embezzlement authorized_false_claim
    authorized_synthetic_id unauthorized_compromised_credentials unauthorized_impersonated_authorized_party
    unauthorized_digital_payment unauthorized_physical_alteration unauthorized_physical_forgery
"""

_SCAM_CLASSIFIER: Final = """
    merchandise investment property_rental job romance_impostor bank_impostor government_impostor business_impostor
    family_or_friend_impostor other
"""

_FATF: Final = """
    money_mules structuring third_party_payments rapid_movement_of_funds unlicensed_money_service virtual_assets
    misuse_of_personal_accounts false_identity beneficial_ownership_concealment
"""

_BASEL_EVENT_TYPES: Final = """
    internal_fraud external_fraud employment_practices clients_products_and_business_practices
    damage_to_physical_assets business_disruption execution_delivery_and_process_management
"""


def bank_vocabularies() -> Vocabularies:
    """Return the closed vocabularies of the bank."""
    return Vocabularies(
        mechanisms=_words(_MECHANISMS),
        evidence=_words(_EVIDENCE),
        tactics=_words(_TACTICS),
        stages=_words(_STAGES),
        reason_codes=_words(_REASON_CODES),
        references={
            "owasp_llm": _words(_OWASP_LLM_2025),
            "uk_finance_app": _words(_UK_FINANCE_APP),
            "fraud_classifier": _words(_FRAUD_CLASSIFIER),
            "scam_classifier": _words(_SCAM_CLASSIFIER),
            "fatf": _words(_FATF),
            "basel_event_type": _words(_BASEL_EVENT_TYPES),
        },
    )


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())
