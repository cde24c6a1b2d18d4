//! The mended twins of all cases, one module for each. Written by `tests/ui.rs`.

#![allow(dead_code, reason = "each twin has a `main` and declares what nobody calls")]
#![allow(clippy::unwrap_used, reason = "nothing of it runs")]

mod capability {
    mod a_backoff_at_run_time_needs_a_backend_that_delays;
    mod a_backoff_needs_a_backend_that_delays;
    mod a_bus_needs_a_backend;
    mod a_generic_function_says_what_it_needs;
    mod a_generic_function_that_takes_any_backend_says_the_mode;
    mod a_nack_delay_at_run_time_needs_a_backend_that_delays;
    mod a_nack_delay_needs_a_backend_that_delays;
    mod a_pattern_at_least_once_at_run_time_needs_a_backend_that_matches_patterns;
    mod a_pattern_at_run_time_needs_a_backend_that_matches_patterns;
    mod a_request_needs_a_backend_that_answers_requests;
    mod a_request_with_a_value_needs_a_backend_that_answers_requests;
    mod a_responder_at_run_time_needs_a_backend_that_answers_requests;
    mod a_responder_needs_a_backend_that_answers_requests;
    mod a_responders_wildcard_needs_a_backend_that_matches_patterns;
    mod a_running_bus_asks_its_backend_too;
    mod a_service_that_asks_needs_a_backend_that_answers_requests;
    mod a_service_that_needs_healthy_groups_needs_a_backend_that_routes_around;
    mod a_slow_handler_at_run_time_needs_a_lease_that_can_be_extended;
    mod a_slow_handler_needs_a_lease_that_can_be_extended;
    mod a_volatile_backend_at_run_time_needs_allow_volatile;
    mod a_volatile_backend_needs_allow_volatile;
    mod a_wildcard_needs_a_backend_that_matches_patterns;
    mod all_available_needs_a_backend_that_replays;
    mod at_least_once_at_run_time_needs_a_backend_that_delivers_it;
    mod at_least_once_does_not_run_on_core_nats;
    mod at_least_once_in_memory_needs_allow_volatile;
    mod at_least_once_needs_a_backend_that_delivers_it;
    mod at_most_once_at_run_time_needs_a_backend_that_delivers_it;
    mod at_most_once_needs_a_backend_that_delivers_it;
    mod extend_lease_needs_a_lease_that_can_be_extended;
    mod fail_at_least_once_at_run_time_needs_a_backend_that_tells_the_publisher;
    mod fail_at_least_once_needs_a_backend_that_tells_the_publisher;
    mod fail_at_run_time_needs_a_backend_that_tells_the_publisher;
    mod fail_needs_a_backend_that_tells_the_publisher;
    mod ordered_at_least_once_at_run_time_needs_a_backend_that_orders;
    mod ordered_at_run_time_needs_a_backend_that_orders;
    mod ordered_needs_a_backend_that_orders;
    mod replay_at_run_time_needs_a_backend_that_replays;
    mod shed_newest_at_run_time_needs_a_backend_that_sheds_it;
    mod shed_newest_needs_a_backend_that_sheds_it;
    mod shed_oldest_at_run_time_needs_a_backend_that_sheds_it;
    mod shed_oldest_needs_a_backend_that_sheds_it;
    mod the_surviving_entry_of_the_suite_needs_a_fixture_that_restarts;
    mod the_volatile_entry_of_the_suite_needs_a_backend_that_keeps_nothing;
    mod two_missing_capabilities_are_two_errors;
    mod waiting_for_room_needs_a_backend_that_tells_the_publisher;
    mod what_hangs_on_a_missing_mode_is_one_error;
}

mod cascade {
    mod a_bad_subject_is_one_error;
    mod a_function_that_is_not_async_is_one_error;
    mod a_function_without_a_body_is_one_error;
    mod a_generic_function_is_one_error;
    mod a_missing_import_is_one_error;
    mod a_missing_setting_is_one_error;
    mod a_mistake_in_the_body_is_one_error;
    mod a_responder_with_a_mistake_is_one_error;
    mod a_responder_without_a_subject_is_one_error;
    mod a_text_without_a_name_is_one_error;
    mod a_type_error_in_the_return_value_is_one_error;
    mod a_typo_beside_other_subscriptions_is_one_error;
    mod a_typo_in_the_mode_is_one_error;
    mod a_variable_with_the_name_of_a_handler_is_one_error;
    mod an_attribute_that_does_not_parse_is_one_error;
    mod an_empty_attribute_is_one_error;
    mod an_unknown_type_is_one_error;
    mod each_of_two_broken_subscriptions_is_one_error;
    mod one_backend_without_a_capability_is_one_error_for_each_that_asks;
}

mod feature {
    mod a_backend_is_behind_its_feature;
    mod a_codec_is_behind_its_feature;
}

mod handler {
    mod a_batch_is_of_events_with_their_subjects;
    mod a_borrowed_payload_can_be_decoded;
    mod a_closure_at_least_once_says_what_became_of_the_message;
    mod a_closure_is_handled_not_subscribed;
    mod a_closure_takes_the_delivery;
    mod a_closures_future_is_send;
    mod a_closures_nack_after_needs_a_backoff;
    mod a_closures_state_is_what_the_bus_holds;
    mod a_delivery_is_delayed_where_the_subscription_is;
    mod a_delivery_is_of_the_subscriptions_own_mode;
    mod a_delivery_is_settled_once;
    mod a_future_is_send;
    mod a_handler_has_no_self;
    mod a_handler_is_async;
    mod a_handler_is_not_generic;
    mod a_handler_names_no_lifetime;
    mod a_handlers_error_is_displayed;
    mod a_number_does_not_say_what_became_of_the_message;
    mod a_payload_can_be_decoded;
    mod a_payload_read_as_cbor_owns_what_it_holds;
    mod a_payload_read_as_protobuf_is_a_message;
    mod a_published_value_can_be_encoded;
    mod a_reply_can_be_encoded;
    mod a_reply_in_a_result_can_be_encoded;
    mod a_replys_value_can_be_decoded;
    mod a_replys_value_owns_what_it_holds;
    mod a_requests_value_can_be_encoded;
    mod a_responder_counts_no_attempts;
    mod a_responder_is_async;
    mod a_responder_replies_with_something;
    mod a_responder_returns_its_reply;
    mod a_responder_takes_no_delivery;
    mod a_responder_takes_no_delivery_of_another_mode;
    mod a_responders_error_is_displayed;
    mod a_value_needs_the_type_of_its_event_to_be_a_reply;
    mod a_value_published_as_protobuf_is_a_message;
    mod an_argument_has_one_type;
    mod an_argument_is_an_extractor;
    mod nack_after_needs_a_backoff;
    mod nothing_does_not_say_what_became_of_the_message;
    mod ok_of_nothing_does_not_say_what_became_of_the_message;
    mod only_a_subscription_is_subscribed;
    mod state_can_be_cloned;
    mod state_is_what_the_bus_holds;
    mod the_attribute_goes_on_a_function;
}

mod lifecycle {
    mod a_backoff_is_at_least_once_only;
    mod a_bound_at_run_time_is_not_zero;
    mod a_bus_has_a_source;
    mod a_bus_in_the_making_does_not_publish;
    mod a_bus_is_started_before_it_publishes;
    mod a_dormant_bus_is_not_stopped;
    mod a_group_is_at_most_once_only;
    mod a_request_has_a_deadline;
    mod a_running_bus_is_not_started_again;
    mod a_stopped_bus_does_not_publish;
    mod a_subscription_at_run_time_is_handled_before_the_next;
    mod a_subscription_at_run_time_selects_before_it_handles;
    mod at_least_once_at_run_time_needs_a_durable_name;
    mod the_bus_that_a_stop_gives_back_does_not_publish;
}

mod names {
    mod a_durable_name_has_no_dot;
    mod a_durable_name_literal_has_no_white_space;
    mod a_group_has_no_white_space;
    mod a_group_literal_has_no_dot;
    mod a_key_is_named_as_an_extension_is;
    mod a_key_is_no_attribute_of_the_event_itself;
    mod a_key_is_not_the_attribute_of_failure_replies;
    mod a_name_is_not_empty;
    mod a_name_literal_is_not_empty;
    mod a_pattern_ends_at_its_last_wildcard;
    mod a_pattern_is_not_a_subject;
    mod a_pattern_literal_is_a_pattern;
    mod a_source_is_a_uri_reference;
    mod a_subject_does_not_begin_with_a_dollar;
    mod a_subject_from_elsewhere_is_parsed;
    mod a_subject_has_no_empty_token;
    mod a_subject_has_no_wildcard;
    mod a_subject_is_not_text;
    mod a_subject_literal_has_no_wildcard;
    mod a_wildcard_is_a_token_of_its_own;
}

mod sealed {
    mod a_delivered_event_cannot_be_edited;
    mod a_delivered_event_cannot_be_taken_mutably;
    mod a_delivery_cannot_be_copied;
    mod a_dormant_bus_cannot_be_called_running;
    mod a_mode_cannot_be_added;
    mod a_policy_cannot_be_declared_harmless;
    mod a_storage_cannot_be_added;
    mod a_subject_is_made_by_parsing;
    mod a_table_of_capabilities_cannot_be_made_by_hand;
    mod an_overflow_policy_cannot_be_added;
    mod what_was_said_cannot_be_said_again;
}

mod settings {
    mod a_backoff_does_not_shrink;
    mod a_backoff_ends_above_its_beginning;
    mod a_backoff_names_its_parts;
    mod a_backoff_of_zero_is_none;
    mod a_bound_of_zero_is_no_bound;
    mod a_concurrency_of_zero_handles_nothing;
    mod a_duration_has_a_unit;
    mod a_duration_is_text;
    mod a_flag_has_no_value;
    mod a_key_that_is_an_attribute_is_quoted;
    mod a_number_is_not_text;
    mod a_reply_is_no_setting_of_a_subscription;
    mod a_responder_has_no_mode;
    mod a_responder_has_one_attempt;
    mod a_responder_is_a_member_of_a_group;
    mod a_responder_keeps_nothing_under_a_name;
    mod a_subscription_selects_something;
    mod a_typo_in_a_flag_is_recognised;
    mod a_typo_in_a_part_of_restart_is_recognised;
    mod a_typo_in_a_part_of_the_backoff_is_recognised;
    mod a_typo_in_a_setting_is_recognised;
    mod a_typo_in_prefer_is_recognised;
    mod a_typo_in_slow_handler_is_recognised;
    mod a_typo_in_start_at_is_recognised;
    mod a_typo_in_the_mode_is_recognised;
    mod a_typo_in_the_policy_is_recognised;
    mod a_word_is_given_once;
    mod ack_wait_is_at_least_once_only;
    mod allow_volatile_is_at_least_once_only;
    mod an_unknown_setting_lists_the_known_ones;
    mod at_least_once_at_run_time_sheds_nothing_new;
    mod at_least_once_at_run_time_sheds_nothing_old;
    mod at_least_once_needs_a_durable_name;
    mod at_least_once_needs_an_end_to_its_attempts;
    mod at_least_once_sheds_nothing_new;
    mod at_least_once_sheds_nothing_old;
    mod at_run_time_max_processing_time_excludes_redeliver;
    mod backoff_is_at_least_once_only;
    mod concurrency_is_within_the_bound;
    mod confirmed_at_most_once_is_reserved;
    mod durable_is_at_least_once_only;
    mod keyed_at_most_once_is_for_more_than_one_hand;
    mod keyed_names_its_key;
    mod max_deliver_is_at_least_once_only;
    mod max_nack_delay_is_at_least_once_only;
    mod max_nack_delay_is_not_below_the_backoff;
    mod max_processing_time_bounds_an_extended_lease;
    mod max_processing_time_is_at_least_once_only;
    mod ordered_excludes_a_backoff;
    mod ordered_excludes_concurrency;
    mod several_at_least_once_settings_without_the_mode_are_one_error;
    mod slow_handler_is_at_least_once_only;
    mod start_at_is_at_least_once_only;
    mod subject_and_pattern_exclude_each_other;
    mod text_is_not_a_number;
    mod unbounded_is_not_a_policy;
    mod under_at_least_once_the_durable_name_is_the_group;
    mod zero_attempts_deliver_nothing;
}

mod topic {
    mod a_bad_subject_in_use_is_one_error;
    mod a_broken_topic_is_one_error;
    mod a_pattern_can_select_the_payloads_topic;
    mod a_place_is_a_whole_token;
    mod a_place_names_a_field;
    mod a_responders_pattern_can_select_the_payloads_topic;
    mod a_schema_is_a_uri;
    mod a_subject_can_be_the_payloads_topic;
    mod a_topic_can_be_encoded;
    mod a_topic_has_an_event_type;
    mod a_topic_says_what_it_is;
    mod a_topics_subject_has_no_empty_token;
    mod a_topics_subject_has_no_wildcard;
    mod a_typo_in_a_part_of_a_topic_is_recognised;
    mod a_union_is_no_topic;
    mod an_alias_hides_no_topic;
    mod an_enums_subject_has_no_places;
    mod an_event_type_is_not_empty;
    mod the_attribute_goes_on_the_type;
    mod what_a_handler_publishes_as_a_topic_is_one;
    mod what_fills_a_place_can_be_displayed;
    mod what_is_published_as_a_topic_is_one;
}
