DROP INDEX resource_version, resource_version_descending, resource_without_key, resource_without_some_property,
    resource_some_property, resource_some_property_descending, resource_some_property_long;
ALTER TABLE resource ALTER COLUMN project_key SET STATISTICS -1, DROP COLUMN words, DROP COLUMN staged_words;
DROP TABLE word;
DROP FUNCTION words_of(text, text),  stemmed_languages(), word_stems(text), word_keys(text);
