DROP INDEX resource_version, resource_version_descending, resource_without_key, resource_without_some_property,
    resource_some_property, resource_some_property_descending, resource_some_property_long;
ALTER TABLE resource DROP COLUMN words, DROP COLUMN staged_words;
DROP TABLE word;
DROP FUNCTION words_of(text, text), words_of(text), stemmed_languages(), word_stems(text), word_keys(text);
