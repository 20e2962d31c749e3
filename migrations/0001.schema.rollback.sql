DROP TABLE sandbox_request, sandbox_request_count, sandbox_rule_count, sandbox_ids, sandbox_project, resource_copy;
DROP TABLE removed_client, revoked_token, signing_key, api_client;
DROP TABLE resource, word, unindexed_text, resource_count;
DROP FUNCTION count_resources(), forget_resource_counts();
DROP FUNCTION words_of(text, text), words_of_text(text), stemmed_languages(), word_stems(text), word_keys(text);
